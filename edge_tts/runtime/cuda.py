"""CUDA as the engines need it: one device, one stream, memory by address.

Two bindings are known. `pycuda` is the one provisioning installs; without it the driver library
itself is called through `ctypes`, which needs no package at all. Neither is imported before a
TensorRT engine is opened.
"""

from __future__ import annotations

import abc
import contextlib
import logging
from typing import TYPE_CHECKING, Iterator, Tuple

from edge_tts.errors import EngineError

if TYPE_CHECKING:
    import numpy as np

INSTALL_HINT = (
    "install CUDA's driver with JetPack (nvidia-jetpack) and: python -m pip install pycuda"
)

log = logging.getLogger(__name__)


class RecordingError(EngineError):
    """A stretch of work cannot become a graph; done directly it may succeed all the same."""

    default_code = "engine.run_failed"


class Cuda(abc.ABC):
    """A device with one context and one stream.

    Copies, launches and engine runs are queued on `stream` and take place in that order. A host
    array that takes part must be pinned, and be left alone until `synchronize` returns. Failures
    are EngineErrors: `engine.out_of_memory`, or `engine.device_lost` for anything after which
    nothing on the device can be relied on.
    """

    binding: str
    compute_capability: Tuple[int, int]
    stream: int
    """The stream's handle, as TensorRT takes it."""

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Make the context current for the calling thread."""
        self.push()
        try:
            yield
        finally:
            self.pop()

    @abc.abstractmethod
    def push(self) -> None:
        """Make the context the thread's; `pop` restores the one before."""

    @abc.abstractmethod
    def pop(self) -> None:
        """Undo `push`. Raises nothing: it also runs after a failure."""

    @abc.abstractmethod
    def allocate(self, n_bytes: int) -> int:
        """Address of new device memory, aligned to 256 bytes at least."""

    @abc.abstractmethod
    def free(self, address: int) -> None:
        """Give device memory back. Raises nothing: on a lost device there is nothing to free."""

    @abc.abstractmethod
    def allocate_pinned(self, n_bytes: int) -> "np.ndarray":
        """Host memory uint8 [n_bytes] that the device can copy from and to by itself."""

    @abc.abstractmethod
    def free_pinned(self, block: "np.ndarray") -> None:
        """Give pinned memory back. Raises nothing."""

    @abc.abstractmethod
    def copy_in(self, address: int, source: "np.ndarray") -> None:
        """Queue a copy of a contiguous pinned array to the device."""

    @abc.abstractmethod
    def copy_out(self, target: "np.ndarray", address: int) -> None:
        """Queue a copy from the device into a contiguous pinned array."""

    @abc.abstractmethod
    def copy_within(self, target: int, source: int, n_bytes: int) -> None:
        """Queue a copy from device memory to device memory."""

    @abc.abstractmethod
    def clear(self, address: int, n_bytes: int) -> None:
        """Queue setting device memory to zero."""

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait until everything queued is done; failures of queued work appear here."""

    @abc.abstractmethod
    def begin_capture(self) -> None:
        """From now on record what is queued, instead of doing it."""

    @abc.abstractmethod
    def end_capture(self) -> int:
        """Stop recording; returns a graph to `launch`. Raises RecordingError."""

    @abc.abstractmethod
    def launch(self, graph: int) -> None:
        """Queue a recorded graph."""

    @abc.abstractmethod
    def drop(self, graph: int) -> None:
        """Give a graph back. Raises nothing."""

    @abc.abstractmethod
    def close(self) -> None:
        """Give stream and context back. Raises nothing."""


def open_cuda() -> Cuda:
    """Open the first device. Raises EngineError `engine.device_missing`."""
    try:
        from edge_tts.runtime.cuda_pycuda import PyCuda
    except ImportError as error:
        log.info("pycuda cannot be imported (%s); calling the CUDA driver directly", error)
        from edge_tts.runtime.cuda_library import LibraryCuda

        return LibraryCuda()
    return PyCuda()


def device_missing(cause: str) -> EngineError:
    """The error for a machine without a usable device."""
    return EngineError(f"there is no CUDA device: {cause}; {INSTALL_HINT}", code=DEVICE_MISSING)


def out_of_memory(action: str) -> EngineError:
    """The error for device memory that could not be had."""
    return EngineError(
        f"the GPU's memory is exhausted or fragmented ({action}); stop other programs, "
        "or choose a smaller voice",
        code=OUT_OF_MEMORY,
    )


def device_lost(cause: str) -> EngineError:
    """The error after which nothing on the device can be relied on."""
    return EngineError(f"the CUDA context is lost: {cause}", code=DEVICE_LOST)


DEVICE_MISSING = "engine.device_missing"
OUT_OF_MEMORY = "engine.out_of_memory"
DEVICE_LOST = "engine.device_lost"
