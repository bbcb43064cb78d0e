"""A GPU made of host memory that punishes what a real one would silently get wrong.

Work on the stream is done only when somebody waits for it, so whoever looks too early sees old
bytes. New memory is full of NaN; freed memory, unpinned copies and overruns are `MisuseError`.
`allocations` and `launches` count, so that the n-th of either can be made to fail; what fails in a
launch takes the context with it.
"""

from __future__ import annotations

import os
import threading
from typing import Callable, Dict, List, Optional, Set, Tuple

import numpy as np

_FIRST_ADDRESS = 0x7000_0000_0000
_GAP_BYTES = 4096


class MisuseError(AssertionError):
    """The program did what on a real device would be undefined."""


class OutOfMemoryError(Exception):
    """As the driver reports it."""


class LostError(Exception):
    """The context is gone; every later call fails the same way."""


class CaptureError(Exception):
    """Something was recorded that cannot be part of a graph."""


class Gpu:
    """Memory, one stream, graphs, and the faults that a test wants."""

    def __init__(self) -> None:
        self.memory: Dict[int, np.ndarray] = {}
        self.pinned: Dict[int, np.ndarray] = {}
        self.queue: List[Callable[[], None]] = []
        self.capture: Optional[List[Callable[[], None]]] = None
        self.graphs: Dict[int, List[Callable[[], None]]] = {}
        self.current: Set[int] = set()
        self.n_allocations = self.n_launches = self.n_graph_launches = self.n_captures = 0
        self.failing_allocation = self.failing_launch = 0
        self.is_lost = self.is_capture_spoilt = False
        self.peak_bytes = 0
        self.downloads: List[Tuple[int, int]] = []
        """Address and size of everything that was copied to the host."""
        self._next = _FIRST_ADDRESS
        kind, _, number = os.environ.get("STAND_IN_FAULT", "").partition(":")
        if kind:
            setattr(self, f"failing_{kind}", int(number))

    def check(self) -> None:
        """What every call begins with."""
        if self.is_lost:
            raise LostError("unspecified launch failure")
        self._check_current()

    def _check_current(self) -> None:
        if not self.is_lost and threading.get_ident() not in self.current:
            raise MisuseError("no context is current in this thread")

    def count_allocation(self) -> None:
        """Called for every allocation of any kind, TensorRT's own included."""
        self.check()
        self.n_allocations += 1
        if self.n_allocations == self.failing_allocation:
            raise OutOfMemoryError("out of memory")

    def allocate(self, n_bytes: int) -> int:
        self._refuse_in_capture("allocation")
        self.count_allocation()
        address = self._next
        self._next += -(-n_bytes // _GAP_BYTES) * _GAP_BYTES + _GAP_BYTES
        self.memory[address] = np.full(n_bytes, 0xFF, np.uint8)
        self.peak_bytes = max(self.peak_bytes, self.held_bytes)
        return address

    def free(self, address: int) -> None:
        self._check_current()
        if address not in self.memory:
            raise MisuseError(f"free of {address:#x}, which is not allocated")
        del self.memory[address]

    @property
    def held_bytes(self) -> int:
        return sum(block.nbytes for block in self.memory.values())

    def pin(self, n_bytes: int) -> np.ndarray:
        self._refuse_in_capture("pinning")
        self.count_allocation()
        block = np.full(n_bytes, 0xFF, np.uint8)
        self.pinned[block.ctypes.data] = block
        return block

    def unpin(self, address: int) -> None:
        self._check_current()
        if self.pinned.pop(address, None) is None:
            raise MisuseError("memory was unpinned that is not pinned")

    def view(self, address: int, n_bytes: int) -> np.ndarray:
        """The bytes at an address; they must be allocated, all of them."""
        for start, block in self.memory.items():
            if start <= address < start + max(1, block.nbytes):
                if address + n_bytes > start + block.nbytes:
                    raise MisuseError(f"{n_bytes} bytes at {address:#x} reach beyond their block")
                return block[address - start : address - start + n_bytes]
        raise MisuseError(f"{address:#x} is not allocated (any more)")

    def check_pinned(self, host: np.ndarray) -> None:
        for start, block in self.pinned.items():
            if start <= host.ctypes.data and host.ctypes.data + host.nbytes <= start + block.nbytes:
                return
        raise MisuseError("an asynchronous copy from or to memory that is not pinned")

    def enqueue(self, work: Callable[[], None]) -> None:
        self.check()
        (self.queue if self.capture is None else self.capture).append(work)

    def copy_in(self, address: int, host: np.ndarray) -> None:
        self.check_pinned(host)
        flat = host.reshape(-1).view(np.uint8)

        def work() -> None:
            self.check_pinned(host)
            self.view(address, flat.nbytes)[:] = flat

        self.enqueue(work)

    def copy_out(self, host: np.ndarray, address: int) -> None:
        self.check_pinned(host)
        flat = host.reshape(-1).view(np.uint8)
        if not np.shares_memory(flat, host):
            raise MisuseError("a copy into an array that is not contiguous")
        self.downloads.append((address, host.nbytes))

        def work() -> None:
            self.check_pinned(host)
            flat[:] = self.view(address, flat.nbytes)

        self.enqueue(work)

    def copy_within(self, target: int, source: int, n_bytes: int) -> None:
        def work() -> None:
            self.view(target, n_bytes)[:] = self.view(source, n_bytes)

        self.enqueue(work)

    def fill(self, address: int, value: int, n_bytes: int) -> None:
        def work() -> None:
            self.view(address, n_bytes)[:] = value

        self.enqueue(work)

    def launch(self, work: Callable[[], None]) -> None:
        """Queue a run of an engine; when it is the one to fail, the context is lost with it."""

        def counted() -> None:
            self.n_launches += 1
            if self.n_launches == self.failing_launch:
                self.is_lost = True
                raise LostError("unspecified launch failure")
            work()

        self.enqueue(counted)

    def synchronize(self) -> None:
        self._refuse_in_capture("waiting")
        self.check()
        queue, self.queue = self.queue, []
        for work in queue:
            work()

    def begin_capture(self) -> None:
        self._refuse_in_capture("a second capture")
        self.check()
        self.capture = []

    def end_capture(self) -> List[Callable[[], None]]:
        work, self.capture = self.capture, None
        if self.is_capture_spoilt:
            self.is_capture_spoilt = False
            raise CaptureError("operation failed due to a previous error during capture")
        if not work:
            raise MisuseError("an empty capture")
        self.n_captures += 1
        return work

    def instantiate(self, work: List[Callable[[], None]]) -> int:
        self.count_allocation()
        number = 1000 + self.n_captures
        self.graphs[number] = work
        return number

    def drop_graph(self, number: int) -> None:
        self._check_current()
        del self.graphs[number]

    def launch_graph(self, number: int) -> None:
        if number not in self.graphs:
            raise MisuseError("a graph was launched that does not exist (any more)")
        self.n_graph_launches += 1
        for work in self.graphs[number]:
            self.enqueue(work)

    def _refuse_in_capture(self, action: str) -> None:
        if self.capture is not None:
            raise MisuseError(f"{action} while the stream is recorded")


gpu = Gpu()


def reset() -> Gpu:
    """A new device in place of the old one."""
    gpu.__init__()  # type: ignore[misc]
    return gpu


def push() -> None:
    gpu.current.add(threading.get_ident())


def pop() -> None:
    gpu.current.discard(threading.get_ident())
