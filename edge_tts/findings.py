"""What an examination finds."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Status(enum.Enum):
    """How bad a finding is; only a failure makes `edge-tts doctor` exit with 1."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True)
class Finding:
    """One line of the report. `remedy` says what to do where `detail` does not say it already."""

    subject: str
    status: Status
    detail: str
    remedy: str = ""
