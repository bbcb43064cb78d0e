"""How much memory the service's process tree uses.

PSS counts a page shared by n processes as 1/n for each, so the sum over the tree is what the tree
costs. Swap is added, and on Jetson the memory that the GPU driver holds for the tree, which no
process's PSS contains.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, List, Optional

_PROC = Path("/proc")
_NVMAP_CLIENTS = Path("/sys/kernel/debug/nvmap/iovmm/clients")
_KIB = 1024
_FIELD = re.compile(r"^(Pss|SwapPss):\s+(\d+) kB", re.MULTILINE)
_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3, "": 1}


@dataclass(frozen=True)
class MemoryUse:
    """Bytes used by the tree now."""

    front_bytes: int
    worker_bytes: int
    gpu_bytes: int
    http_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        """All of it."""
        return self.front_bytes + self.worker_bytes + self.gpu_bytes + self.http_bytes

    @property
    def total_mib(self) -> float:
        """All of it, in MiB."""
        return self.total_bytes / 1024**2


def measure(device_bytes: int = 0, http_pid: Optional[int] = None) -> MemoryUse:
    """Measure this process and all its descendants, of which `http_pid` is the one for HTTP.

    `device_bytes`: what the worker says its engines hold on the GPU. It counts where the driver's
    own figure, which knows of the context too, may not be read.
    """
    import psutil

    me = psutil.Process()
    children = [child.pid for child in me.children(recursive=True)]
    front = _process_bytes(me.pid)
    worker = sum(_process_bytes(pid) for pid in children if pid != http_pid)
    gpu = max(device_bytes, _gpu_bytes([me.pid, *children]))
    http = 0 if http_pid is None else _process_bytes(http_pid)
    return MemoryUse(front, worker, gpu, http)


def _process_bytes(pid: int) -> int:
    try:
        text = (_PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        # The process ended, or belongs to another user: then it is not one of ours to count.
        return 0
    return sum(int(kib) * _KIB for _, kib in _FIELD.findall(text))


def _gpu_bytes(pids: Iterable[int]) -> int:
    """What nvmap holds for these processes; 0 where there is no nvmap or it may not be read."""
    try:
        text = _NVMAP_CLIENTS.read_text()
    except OSError:
        return 0
    return parse_nvmap_clients(text, list(pids))


def parse_nvmap_clients(text: str, pids: List[int]) -> int:
    """Sum the sizes of these processes in `nvmap/iovmm/clients` (CLIENT PROCESS PID SIZE)."""
    total = 0
    for line in text.splitlines():
        match = re.match(r"^\s*\S+\s+.*?\s(\d+)\s+(\d+)([KMG]?)\s*$", line)
        if match and int(match.group(1)) in pids:
            total += int(match.group(2)) * _UNITS[match.group(3)]
    return total
