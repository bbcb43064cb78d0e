"""The part of `pycuda.driver` (2022.1 and later) that the product uses, on the simulated GPU."""

from __future__ import annotations

import contextlib

import numpy as np
import simulated_gpu
from simulated_gpu import LostError, OutOfMemoryError, gpu


class Error(Exception):
    pass


class MemoryError(Error, MemoryError):
    pass


class LogicError(Error):
    pass


class LaunchError(Error):
    pass


@contextlib.contextmanager
def _as_pycuda():
    try:
        yield
    except OutOfMemoryError as error:
        raise MemoryError(f"cuMemAlloc failed: {error}") from error
    except LostError as error:
        raise LaunchError(f"cuStreamSynchronize failed: {error}") from error


def init(flags=0):
    pass


class Device:
    def __init__(self, number):
        if number != 0:
            raise LogicError("cuDeviceGet failed: invalid device ordinal")

    def compute_capability(self):
        return (7, 2)

    def retain_primary_context(self):
        return Context()


class Context:
    def push(self):
        if gpu.is_lost:
            raise LogicError("cuCtxPushCurrent failed: unspecified launch failure")
        simulated_gpu.push()

    @staticmethod
    def pop():
        simulated_gpu.pop()

    def detach(self):
        pass


class Stream:
    def __init__(self, flags=0):
        self.handle = 77

    def synchronize(self):
        with _as_pycuda():
            gpu.synchronize()


class DeviceAllocation:
    def __init__(self, address):
        self._address = address

    def __int__(self):
        return self._address

    def free(self):
        gpu.free(self._address)


class HostAllocation:
    def __init__(self, address):
        self._address = address

    def free(self):
        gpu.unpin(self._address)


def mem_alloc(n_bytes):
    with _as_pycuda():
        return DeviceAllocation(gpu.allocate(n_bytes))


class _Pinned(np.ndarray):
    """pycuda's array has its allocation as `base`."""

    @property
    def base(self):
        return HostAllocation(self.ctypes.data)


def pagelocked_empty(shape, dtype):
    assert np.dtype(dtype) == np.uint8
    with _as_pycuda():
        return gpu.pin(shape).view(_Pinned)


def memcpy_htod_async(dest, src, stream=None):
    assert stream is not None and src.flags.c_contiguous
    with _as_pycuda():
        gpu.copy_in(dest, src)


def memcpy_dtoh_async(dest, src, stream=None):
    assert stream is not None and dest.flags.c_contiguous
    with _as_pycuda():
        gpu.copy_out(dest, src)


def memcpy_dtod_async(dest, src, size, stream=None):
    assert stream is not None
    with _as_pycuda():
        gpu.copy_within(dest, src, size)


def memset_d8_async(dest, data, size, stream=None):
    assert stream is not None
    with _as_pycuda():
        gpu.fill(dest, data, size)
