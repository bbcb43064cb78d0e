"""`libcuda.so.1` on the simulated GPU: C signatures of `cuda.h`, taking ctypes arguments."""

from __future__ import annotations

import ctypes

import numpy as np
import simulated_gpu
from simulated_gpu import CaptureError, LostError, OutOfMemoryError, gpu

SUCCESS, OUT_OF_MEMORY, LAUNCH_FAILED, CAPTURE_INVALIDATED = 0, 2, 719, 901
STREAM, CONTEXT, DEVICE = 77, 88, 0


def _status(function, *arguments):
    try:
        function(*arguments)
    except OutOfMemoryError:
        return OUT_OF_MEMORY
    except LostError:
        return LAUNCH_FAILED
    return SUCCESS


def _set(reference, value):
    reference._obj.value = value


def _host(pointer, n_bytes):
    memory = (ctypes.c_uint8 * n_bytes.value).from_address(pointer.value)
    return np.frombuffer(memory, np.uint8)


class Library:
    """Attribute access as on a `ctypes.CDLL`: an unknown function is an AttributeError."""

    def __init__(self):
        self._captured = []

    def cuGetErrorName(self, status, reference):  # noqa: N802
        _set(reference, b"CUDA_ERROR_LAUNCH_FAILED" if status.value == LAUNCH_FAILED else b"?")
        return SUCCESS

    def cuInit(self, flags):  # noqa: N802
        return SUCCESS

    def cuDeviceGet(self, reference, number):  # noqa: N802
        _set(reference, DEVICE)
        return SUCCESS

    def cuDeviceGetAttribute(self, reference, number, device):  # noqa: N802
        _set(reference, {75: 7, 76: 2}[number.value])
        return SUCCESS

    def cuDevicePrimaryCtxRetain(self, reference, device):  # noqa: N802
        _set(reference, CONTEXT)
        return SUCCESS

    def cuDevicePrimaryCtxRelease_v2(self, device):  # noqa: N802
        return SUCCESS

    def cuCtxPushCurrent_v2(self, context):  # noqa: N802
        assert context.value == CONTEXT
        if gpu.is_lost:
            return LAUNCH_FAILED
        simulated_gpu.push()
        return SUCCESS

    def cuCtxPopCurrent_v2(self, reference):  # noqa: N802
        simulated_gpu.pop()
        return SUCCESS

    def cuStreamCreate(self, reference, flags):  # noqa: N802
        _set(reference, STREAM)
        return SUCCESS

    def cuStreamDestroy_v2(self, stream):  # noqa: N802
        assert stream.value == STREAM
        return SUCCESS

    def cuStreamSynchronize(self, stream):  # noqa: N802
        assert stream.value == STREAM
        return _status(gpu.synchronize)

    def cuMemAlloc_v2(self, reference, n_bytes):  # noqa: N802
        return _status(lambda: _set(reference, gpu.allocate(n_bytes.value)))

    def cuMemFree_v2(self, address):  # noqa: N802
        return _status(gpu.free, address.value)

    def cuMemHostAlloc(self, reference, n_bytes, flags):  # noqa: N802
        return _status(lambda: _set(reference, gpu.pin(n_bytes.value).ctypes.data))

    def cuMemFreeHost(self, pointer):  # noqa: N802
        return _status(gpu.unpin, pointer.value)

    def cuMemcpyHtoDAsync_v2(self, target, source, n_bytes, stream):  # noqa: N802
        assert stream.value == STREAM
        return _status(gpu.copy_in, target.value, _host(source, n_bytes))

    def cuMemcpyDtoHAsync_v2(self, target, source, n_bytes, stream):  # noqa: N802
        assert stream.value == STREAM
        return _status(gpu.copy_out, _host(target, n_bytes), source.value)

    def cuMemcpyDtoDAsync_v2(self, target, source, n_bytes, stream):  # noqa: N802
        assert stream.value == STREAM
        return _status(gpu.copy_within, target.value, source.value, n_bytes.value)

    def cuMemsetD8Async(self, target, value, n_bytes, stream):  # noqa: N802
        assert stream.value == STREAM
        return _status(gpu.fill, target.value, value.value, n_bytes.value)

    def cuStreamBeginCapture_v2(self, stream, mode):  # noqa: N802
        assert stream.value == STREAM
        return _status(gpu.begin_capture)

    def cuStreamEndCapture(self, stream, reference):  # noqa: N802
        try:
            self._captured.append(gpu.end_capture())
        except CaptureError:
            return CAPTURE_INVALIDATED
        _set(reference, len(self._captured))
        return SUCCESS

    def cuGraphInstantiateWithFlags(self, reference, graph, flags):  # noqa: N802
        work = self._captured[graph.value - 1]
        return _status(lambda: _set(reference, gpu.instantiate(work)))

    def cuGraphDestroy(self, graph):  # noqa: N802
        self._captured[graph.value - 1] = None
        return SUCCESS

    def cuGraphLaunch(self, graph, stream):  # noqa: N802
        assert stream.value == STREAM
        return _status(gpu.launch_graph, graph.value)

    def cuGraphExecDestroy(self, graph):  # noqa: N802
        return _status(gpu.drop_graph, graph.value)
