"""Single quotation marks that come in pairs, told from apostrophes."""

from __future__ import annotations

import re
from typing import Optional

# `'90s`, `'Twas` and `dogs'` have no partner; apostrophes inside the quotation are passed over.
_QUOTED = re.compile(
    r"'[A-Za-z\d](?:[^'\n]|(?<=[A-Za-z])'(?=[A-Za-z])|(?<=s)'(?= [a-z])){2,200}"
    r"(?:(?<!s)'|'(?! [a-z]))(?![A-Za-z\d])"
)
_REACH = 204


def quotation_mark(text: str, at: int) -> Optional[str]:
    """`“` or `”` for the single quote at `at`, or None when it has no partner."""
    if text[at] != "'":
        return None
    if _opens(text, at):
        return "“"
    for opening in range(at - 1, max(-1, at - _REACH), -1):
        if text[opening] == "'" and _opens(text, opening):
            match = _QUOTED.match(text, opening)
            return "”" if match and match.end() == at + 1 else None
    return None


def _opens(text: str, at: int) -> bool:
    preceding = text[at - 1 : at] if at else ""
    return preceding in ("", " ", "(", "“", '"', "\n") and _QUOTED.match(text, at) is not None
