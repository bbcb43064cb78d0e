"""How many threads an engine may use."""

from __future__ import annotations

import os

MAX_THREADS = 4  # one sentence is too small a job for more; the machine has other work


def usable_cpus() -> int:
    """Number of CPUs this process may run on: its affinity mask, not the machine's size."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_threads() -> int:
    """Threads for one engine when nothing else is configured."""
    return max(1, min(usable_cpus(), MAX_THREADS))
