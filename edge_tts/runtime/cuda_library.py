"""CUDA through the driver's own library, by `ctypes`: the binding that needs no package.

Names, types and numbers are those of NVIDIA's `cuda.h` (driver API, CUDA 11.4 and later; suffixes
such as `_v2` are the versions that header maps the plain names to).
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, Dict

from edge_tts.errors import EngineError
from edge_tts.runtime.cuda import (
    Cuda,
    RecordingError,
    device_lost,
    device_missing,
    out_of_memory,
)

if TYPE_CHECKING:
    import numpy as np

LIBRARY = "libcuda.so.1"
_OUT_OF_MEMORY = 2
_COMPUTE_CAPABILITY_MAJOR, _COMPUTE_CAPABILITY_MINOR = 75, 76
_STREAM_NON_BLOCKING = 1
_CAPTURE_THREAD_LOCAL = 1


def load_library() -> Any:
    """The driver's library. Raises OSError when it is not installed."""
    return ctypes.CDLL(LIBRARY)


class Driver:
    """Calls functions of the library and turns their status codes into errors."""

    def __init__(self) -> None:
        """Raises EngineError `engine.device_missing`."""
        try:
            self._library = load_library()
        except OSError as error:
            raise device_missing(str(error)) from error

    def call(self, name: str, *arguments: Any) -> None:
        """Call `name`. Raises EngineError unless it returns success."""
        status = self.status(name, *arguments)
        if status == _OUT_OF_MEMORY:
            raise out_of_memory(name)
        if status:
            raise device_lost(f"{name}: {self._name_of(status)}")

    def status(self, name: str, *arguments: Any) -> int:
        """Call `name` and return its status code."""
        return int(getattr(self._library, name)(*arguments))

    def _name_of(self, status: int) -> str:
        text = c_char_p()
        self._library.cuGetErrorName(c_int(status), byref(text))
        return text.value.decode() if text.value else f"status {status}"


class Graphs:
    """Recording a stream into CUDA graphs and replaying them."""

    def __init__(self) -> None:
        """Raises EngineError `engine.device_missing`."""
        self._driver = Driver()

    def begin(self, stream: int) -> None:
        """Record what is queued on `stream`."""
        mode = c_int(_CAPTURE_THREAD_LOCAL)
        self._driver.call("cuStreamBeginCapture_v2", c_void_p(stream), mode)

    def end(self, stream: int) -> int:
        """Stop recording and make the graph launchable. Raises RecordingError."""
        graph, launchable = c_void_p(), c_void_p()
        try:
            self._driver.call("cuStreamEndCapture", c_void_p(stream), byref(graph))
            self._driver.call("cuGraphInstantiateWithFlags", byref(launchable), graph, c_uint64(0))
        except EngineError as error:
            raise RecordingError(str(error)) from error
        finally:
            if graph.value:
                self._driver.status("cuGraphDestroy", graph)
        return int(launchable.value or 0)

    def launch(self, graph: int, stream: int) -> None:
        """Queue a graph on `stream`."""
        self._driver.call("cuGraphLaunch", c_void_p(graph), c_void_p(stream))

    def drop(self, graph: int) -> None:
        """Destroy a graph."""
        self._driver.status("cuGraphExecDestroy", c_void_p(graph))


class LibraryCuda(Cuda):
    """The device's primary context, which TensorRT's own CUDA calls share."""

    binding = "libcuda"

    def __init__(self) -> None:
        """Raises EngineError `engine.device_missing`."""
        self._driver = Driver()
        self._graphs = Graphs()
        self._context = c_void_p()
        self._pinned: Dict[int, c_void_p] = {}
        try:
            self._open()
        except EngineError as error:
            raise device_missing(str(error)) from error

    def _open(self) -> None:
        self._driver.call("cuInit", c_uint(0))
        self._device = c_int()
        self._driver.call("cuDeviceGet", byref(self._device), c_int(0))
        self.compute_capability = (
            self._attribute(_COMPUTE_CAPABILITY_MAJOR),
            self._attribute(_COMPUTE_CAPABILITY_MINOR),
        )
        self._driver.call("cuDevicePrimaryCtxRetain", byref(self._context), self._device)
        stream = c_void_p()
        with self.current():
            self._driver.call("cuStreamCreate", byref(stream), c_uint(_STREAM_NON_BLOCKING))
        self.stream = int(stream.value or 0)

    def _attribute(self, number: int) -> int:
        value = c_int()
        self._driver.call("cuDeviceGetAttribute", byref(value), c_int(number), self._device)
        return value.value

    def push(self) -> None:
        """Make the primary context current."""
        self._driver.call("cuCtxPushCurrent_v2", self._context)

    def pop(self) -> None:
        """Leave it."""
        self._driver.status("cuCtxPopCurrent_v2", byref(c_void_p()))

    def allocate(self, n_bytes: int) -> int:
        """`cuMemAlloc`."""
        address = c_uint64()
        self._driver.call("cuMemAlloc_v2", byref(address), c_size_t(n_bytes))
        return int(address.value)

    def free(self, address: int) -> None:
        """`cuMemFree`."""
        self._driver.status("cuMemFree_v2", c_uint64(address))

    def allocate_pinned(self, n_bytes: int) -> "np.ndarray":
        """`cuMemHostAlloc`, as an array."""
        import numpy as np

        pointer = c_void_p()
        self._driver.call("cuMemHostAlloc", byref(pointer), c_size_t(n_bytes), c_uint(0))
        memory = (ctypes.c_uint8 * n_bytes).from_address(int(pointer.value or 0))
        block: np.ndarray = np.frombuffer(memory, np.uint8)
        self._pinned[block.ctypes.data] = pointer
        return block

    def free_pinned(self, block: "np.ndarray") -> None:
        """`cuMemFreeHost`."""
        self._driver.status("cuMemFreeHost", self._pinned.pop(block.ctypes.data))

    def copy_in(self, address: int, source: "np.ndarray") -> None:
        """`cuMemcpyHtoDAsync`."""
        host = c_void_p(source.ctypes.data)
        size = c_size_t(source.nbytes)
        self._driver.call("cuMemcpyHtoDAsync_v2", c_uint64(address), host, size, self._queue)

    def copy_out(self, target: "np.ndarray", address: int) -> None:
        """`cuMemcpyDtoHAsync`."""
        host = c_void_p(target.ctypes.data)
        size = c_size_t(target.nbytes)
        self._driver.call("cuMemcpyDtoHAsync_v2", host, c_uint64(address), size, self._queue)

    def copy_within(self, target: int, source: int, n_bytes: int) -> None:
        """`cuMemcpyDtoDAsync`."""
        pair = (c_uint64(target), c_uint64(source))
        self._driver.call("cuMemcpyDtoDAsync_v2", *pair, c_size_t(n_bytes), self._queue)

    def clear(self, address: int, n_bytes: int) -> None:
        """`cuMemsetD8Async`."""
        zero, size = c_ubyte(0), c_size_t(n_bytes)
        self._driver.call("cuMemsetD8Async", c_uint64(address), zero, size, self._queue)

    def synchronize(self) -> None:
        """`cuStreamSynchronize`."""
        self._driver.call("cuStreamSynchronize", self._queue)

    def begin_capture(self) -> None:
        """Start to record the stream."""
        self._graphs.begin(self.stream)

    def end_capture(self) -> int:
        """Instantiate what was recorded."""
        return self._graphs.end(self.stream)

    def launch(self, graph: int) -> None:
        """Queue a graph."""
        self._graphs.launch(graph, self.stream)

    def drop(self, graph: int) -> None:
        """Destroy a graph."""
        self._graphs.drop(graph)

    def close(self) -> None:
        """Destroy the stream and release this process's hold on the primary context."""
        self._driver.status("cuStreamDestroy_v2", self._queue)
        self._driver.status("cuDevicePrimaryCtxRelease_v2", self._device)

    @property
    def _queue(self) -> c_void_p:
        return c_void_p(self.stream)
