"""The files this process has begun and not completed, for a process that must leave at once."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Set

_paths: Set[Path] = set()


def begin(path: Path) -> None:
    """A file is about to be made under this temporary name."""
    _paths.add(path)


def end(path: Path) -> None:
    """The file has been completed or removed."""
    _paths.discard(path)


def remove_all() -> None:
    """Remove what is unfinished; nothing may be written after that."""
    while _paths:
        with contextlib.suppress(FileNotFoundError):
            _paths.pop().unlink()
