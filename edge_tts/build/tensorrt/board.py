"""What machine this is: the board's name, its power mode, its compute capability."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

_MODEL = Path("/proc/device-tree/model")
_TIMEOUT_S = 10.0
_UNKNOWN = "unknown"


def board_name(model: Path = _MODEL) -> str:
    """The device tree's name of the board; `unknown` on machines without one."""
    try:
        return model.read_bytes().rstrip(b"\0").decode("utf-8", "replace").strip() or _UNKNOWN
    except OSError:
        return _UNKNOWN


def power_mode() -> str:
    """Name of nvpmodel's mode, which sets the clocks engines are timed with; else `unknown`."""
    try:
        said = subprocess.run(
            ["nvpmodel", "-q"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return _UNKNOWN
    match = re.search(r"NV Power Mode:\s*(\S+)", said)
    return match.group(1) if match else _UNKNOWN


def compute_capability() -> str:
    """That of the first CUDA device, such as `7.2`. Raises EngineError.

    Opens a CUDA context: only for processes that end soon.
    """
    from edge_tts.runtime.cuda import open_cuda

    cuda = open_cuda()
    try:
        major, minor = cuda.compute_capability
    finally:
        cuda.close()
    return f"{major}.{minor}"
