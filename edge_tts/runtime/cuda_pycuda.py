"""CUDA through `pycuda.driver`; graphs, which it does not offer, through the driver library."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional

from pycuda import driver

from edge_tts.runtime.cuda import Cuda, device_lost, device_missing, out_of_memory
from edge_tts.runtime.cuda_library import Graphs

if TYPE_CHECKING:
    import numpy as np


class PyCuda(Cuda):
    """The device's primary context, which TensorRT's own CUDA calls share."""

    binding = "pycuda"

    def __init__(self) -> None:
        """Raises EngineError `engine.device_missing`."""
        self._buffers: Dict[int, Any] = {}
        self._graphs: Optional[Graphs] = None
        try:
            driver.init()
            device = driver.Device(0)
            self.compute_capability = tuple(device.compute_capability())
            self._context = device.retain_primary_context()
            self._context.push()
        except driver.Error as error:
            raise device_missing(str(error)) from error
        try:
            self._stream = driver.Stream()
        except driver.Error as error:
            raise device_missing(str(error)) from error
        finally:
            self.pop()
        self.stream = int(self._stream.handle)

    def push(self) -> None:
        """Make the primary context current."""
        with _translated("switching to the device"):
            self._context.push()

    def pop(self) -> None:
        """Leave it."""
        with contextlib.suppress(driver.Error):
            driver.Context.pop()

    def allocate(self, n_bytes: int) -> int:
        """`mem_alloc`."""
        with _translated(f"allocating {n_bytes} bytes"):
            buffer = driver.mem_alloc(n_bytes)
        self._buffers[int(buffer)] = buffer
        return int(buffer)

    def free(self, address: int) -> None:
        """Free a buffer of `allocate`."""
        with contextlib.suppress(driver.Error):
            self._buffers.pop(address).free()

    def allocate_pinned(self, n_bytes: int) -> "np.ndarray":
        """`pagelocked_empty`."""
        with _translated(f"pinning {n_bytes} bytes"):
            block: np.ndarray = driver.pagelocked_empty(n_bytes, "uint8")
            return block

    def free_pinned(self, block: "np.ndarray") -> None:
        """Free an array of `allocate_pinned`."""
        with contextlib.suppress(driver.Error):
            block.base.free()

    def copy_in(self, address: int, source: "np.ndarray") -> None:
        """`memcpy_htod_async`."""
        with _translated("copying to the device"):
            driver.memcpy_htod_async(address, source, self._stream)

    def copy_out(self, target: "np.ndarray", address: int) -> None:
        """`memcpy_dtoh_async`."""
        with _translated("copying from the device"):
            driver.memcpy_dtoh_async(target, address, self._stream)

    def copy_within(self, target: int, source: int, n_bytes: int) -> None:
        """`memcpy_dtod_async`."""
        with _translated("copying on the device"):
            driver.memcpy_dtod_async(target, source, n_bytes, self._stream)

    def clear(self, address: int, n_bytes: int) -> None:
        """`memset_d8_async`."""
        with _translated("clearing device memory"):
            driver.memset_d8_async(address, 0, n_bytes, self._stream)

    def synchronize(self) -> None:
        """`Stream.synchronize`."""
        with _translated("waiting for the device"):
            self._stream.synchronize()

    def begin_capture(self) -> None:
        """Start to record the stream."""
        if self._graphs is None:
            self._graphs = Graphs()
        self._graphs.begin(self.stream)

    def end_capture(self) -> int:
        """Instantiate what was recorded."""
        return self._known_graphs.end(self.stream)

    def launch(self, graph: int) -> None:
        """Queue a graph."""
        self._known_graphs.launch(graph, self.stream)

    def drop(self, graph: int) -> None:
        """Destroy a graph."""
        self._known_graphs.drop(graph)

    def close(self) -> None:
        """Drop every buffer, the stream and this process's hold on the primary context."""
        for address in list(self._buffers):
            self.free(address)
        self._stream = None
        with contextlib.suppress(driver.Error):
            self._context.detach()

    @property
    def _known_graphs(self) -> Graphs:
        if self._graphs is None:
            raise device_lost("a graph was used that was never recorded")
        return self._graphs


@contextlib.contextmanager
def _translated(action: str) -> Iterator[None]:
    try:
        yield
    except driver.MemoryError as error:
        raise out_of_memory(action) from error
    except driver.Error as error:
        raise device_lost(f"{action}: {error}") from error
