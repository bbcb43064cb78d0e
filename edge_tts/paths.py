"""Where things live: the system's directories, the user's (XDG) and the variables that move them.

Nothing here creates a directory or touches a disk.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Tuple

VOICES_DIR_VARIABLE = "EDGE_TTS_VOICES_DIR"

_APPLICATION = "edge-tts"
_SYSTEM_CONFIG_FILE = Path("/etc/edge-tts/config.yaml")
_SYSTEM_VOICES_DIR = Path("/var/lib/edge-tts/voices")


def config_files() -> Tuple[Path, ...]:
    """Configuration files in the order they are read: a later one overrides an earlier one."""
    return (_SYSTEM_CONFIG_FILE, _xdg("XDG_CONFIG_HOME", ".config") / "config.yaml")


def voices_dirs() -> Tuple[Path, ...]:
    """Directories searched for voices, first match wins.

    `EDGE_TTS_VOICES_DIR` replaces the list: a device image can hold exactly one voice store.
    """
    only = os.environ.get(VOICES_DIR_VARIABLE)
    if only:
        return (Path(only),)
    return (voices_install_dir(), _SYSTEM_VOICES_DIR)


def voices_install_dir() -> Path:
    """Where `edge-tts voices install` puts a voice unless told otherwise."""
    only = os.environ.get(VOICES_DIR_VARIABLE)
    return Path(only) if only else _xdg("XDG_DATA_HOME", ".local/share") / "voices"


def _xdg(variable: str, fallback: str) -> Path:
    # The XDG specification says that a relative path is to be ignored.
    base = os.environ.get(variable, "")
    root = Path(base) if base.startswith("/") else Path.home() / fallback
    return root / _APPLICATION
