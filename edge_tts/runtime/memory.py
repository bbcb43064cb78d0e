"""Keep the memory of engines from growing with the longest input they have seen.

ONNX Runtime's arenas never shrink by themselves and double in size; the C library keeps freed
blocks in its heap. Measured over texts of 40 to 130 phonemes: 403 MB without the settings here and
in `OnnxEngine.run`, 307 MB with them, and the same after the hundredth text as after the first.
"""

from __future__ import annotations

import ctypes
import platform
import threading
from functools import lru_cache

_M_MMAP_THRESHOLD = -3  # from glibc's malloc.h
_MMAP_THRESHOLD_BYTES = 1 << 20
_GROW_AS_REQUESTED = 1
_X86_64 = ("x86_64", "AMD64")

_registering = threading.Lock()


def can_share_arena(version: str, machine: str) -> bool:
    """Whether ONNX Runtime `version` makes an arena for all sessions on this kind of processor.

    Before 1.20 it does so on x86-64 only and registers an allocator elsewhere that is no arena,
    which no run can shrink: github.com/microsoft/onnxruntime/issues/21191.
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    return machine in _X86_64 or (major, minor) >= (1, 20)


def share_arena() -> bool:
    """Register the arena of all sessions of this process; False where each must have its own.

    Call before opening any; any thread may.
    """
    with _registering:
        return _register_arena()


@lru_cache(maxsize=1)
def _register_arena() -> bool:
    import onnxruntime as ort

    _return_large_blocks()
    if not can_share_arena(ort.__version__, platform.machine()):
        return False
    info = ort.OrtMemoryInfo(
        "Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT
    )
    growth = ort.OrtArenaCfg({"max_mem": 0, "arena_extend_strategy": _GROW_AS_REQUESTED})
    ort.create_and_register_allocator(info, growth)
    return True


def _return_large_blocks() -> None:
    """Have blocks of a megabyte and more go back to the system when freed.

    glibc raises this threshold by itself with every large block freed, up to 32 MB; setting it
    stops that. Other C libraries have no such function and need none.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)
