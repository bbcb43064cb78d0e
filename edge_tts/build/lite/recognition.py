"""Is a folder a lite checkpoint? Asked without torch, before anything is read."""

from __future__ import annotations

import json
from pathlib import Path

CONFIG = "config.json"


def is_lite_checkpoint(path: Path) -> bool:
    """Whether the folder's `config.json` has the section `codec`, right or wrong in all else."""
    try:
        fields = json.loads((path / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "codec" in fields
