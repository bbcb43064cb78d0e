"""The few calls whose names differ between TensorRT 8.5, 10 and 11, and its log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Dict, Tuple

from edge_tts.errors import EngineError
from edge_tts.runtime.cuda import OUT_OF_MEMORY

if TYPE_CHECKING:
    from edge_tts.runtime.tensorrt_plan import Tensor

INSTALL_HINT = (
    "install JetPack's TensorRT (apt-get install python3-libnvinfer) and give this environment "
    "access to the system's packages"
)
_EXTERNAL_TACTICS = ("CUBLAS", "CUBLAS_LT", "CUDNN")
# Not `trt.nptype`: in 8.5 it needs a numpy before 1.24.
_DTYPES = {
    "FLOAT": "float32",
    "HALF": "float16",
    "INT8": "int8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
    "UINT8": "uint8",
}
_MEMORY_SIGNS = ("out of memory", "nvmap", "allocat")

log = logging.getLogger(__name__)


class Runtime:
    """`trt.Runtime` and the last error it logged."""

    def __init__(self) -> None:
        """Raises EngineError `engine.tensorrt_missing`."""
        trt = load()
        self.version = str(trt.__version__)
        self._log = _new_log(trt)
        self._runtime: Any = trt.Runtime(self._log)

    def deserialise(self, plan: Any) -> Any:
        """An engine from any object with the buffer protocol; None when TensorRT refuses it."""
        self._log.last_error = ""
        return self._runtime.deserialize_cuda_engine(plan)

    def failure(self, action: str, code: str) -> EngineError:
        """The error for something that returned failure; memory is told from its message."""
        said, self._log.last_error = self._log.last_error, ""
        if any(sign in said.lower() for sign in _MEMORY_SIGNS):
            code = OUT_OF_MEMORY
        return EngineError(f"TensorRT {self.version}: {action}: {said or 'no reason'}", code=code)


def load() -> Any:
    """The module `tensorrt`, 8.5 or later. Raises EngineError `engine.tensorrt_missing`."""
    try:
        import tensorrt as trt
    except (ImportError, OSError) as error:
        raise EngineError(
            f"TensorRT cannot be imported ({error}); {INSTALL_HINT}", code="engine.tensorrt_missing"
        ) from error
    if not hasattr(trt, "TensorIOMode"):
        raise EngineError(
            f"TensorRT {trt.__version__} has no named tensors, 8.5 or later is needed; update "
            "JetPack to 5.1",
            code="engine.tensorrt_missing",
        )
    return trt


def describe(engine: Any, name: str) -> "Dict[str, Tensor]":
    """The engine's tensors in its own order. Raises EngineError for a type unknown here."""
    import numpy as np

    from edge_tts.runtime.tensorrt_plan import Tensor

    trt = load()
    dtypes = {
        getattr(trt.DataType, kind): np.dtype(dtype)
        for kind, dtype in _DTYPES.items()
        if hasattr(trt.DataType, kind)
    }
    tensors = {}
    for index in range(int(engine.num_io_tensors)):
        tensor = engine.get_tensor_name(index)
        kind = engine.get_tensor_dtype(tensor)
        if kind not in dtypes:
            raise EngineError(f"{name}: {tensor} is of type {kind}", code="engine.load_failed")
        is_input = engine.get_tensor_mode(tensor) == trt.TensorIOMode.INPUT
        shape = tuple(int(size) for size in engine.get_tensor_shape(tensor))
        tensors[tensor] = Tensor(tensor, is_input, dtypes[kind], shape)
    return tensors


def bounds(engine: Any, tensor: str, profile: int) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
    """Least and greatest shape of an input in a profile."""
    least, _, greatest = engine.get_tensor_profile_shape(tensor, profile)
    return tuple(map(int, least)), tuple(map(int, greatest))


def scratch_bytes(engine: Any) -> int:
    """Scratch memory a context needs at the greatest shapes of any profile."""
    name = "device_memory_size_v2" if hasattr(engine, "device_memory_size_v2") else None
    return int(getattr(engine, name or "device_memory_size"))


def new_context(engine: Any) -> Any:
    """An execution context without scratch; None when TensorRT cannot make one."""
    strategy = getattr(load(), "ExecutionContextAllocationStrategy", None)
    if strategy is None:
        return engine.create_execution_context_without_device_memory()
    return engine.create_execution_context(strategy.USER_MANAGED)


def lend_scratch(context: Any, address: int, n_bytes: int) -> None:
    """Give a context its scratch memory."""
    if hasattr(context, "set_device_memory"):
        context.set_device_memory(address, n_bytes)
    else:
        context.device_memory = address


def check_tactics(engine: Any, name: str) -> None:
    """Refuse a plan that calls cuBLAS or cuDNN: together they cost more than the whole budget.

    Raises EngineError `engine.plan_foreign`.
    """
    sources = getattr(load(), "TacticSource", None)
    used = getattr(engine, "tactic_sources", 0)
    kinds = [getattr(sources, kind, None) for kind in _EXTERNAL_TACTICS]
    if any(kind is not None and int(used) & (1 << int(kind)) for kind in kinds):
        raise EngineError(
            f"{name} was built to call cuBLAS or cuDNN; build it again with edge-tts build",
            code="engine.plan_foreign",
        )


def _new_log(trt: Any) -> Any:
    """An `ILogger` that passes messages on; a class of its own, as the base is TensorRT's."""
    levels = {
        trt.ILogger.Severity.INTERNAL_ERROR: logging.ERROR,
        trt.ILogger.Severity.ERROR: logging.ERROR,
        trt.ILogger.Severity.WARNING: logging.WARNING,
        trt.ILogger.Severity.INFO: logging.DEBUG,
        trt.ILogger.Severity.VERBOSE: logging.DEBUG,
    }

    class Log(trt.ILogger):  # type: ignore[misc]
        last_error = ""

        def __init__(self) -> None:
            trt.ILogger.__init__(self)

        def log(self, severity: Any, message: str) -> None:
            level = levels.get(severity, logging.DEBUG)
            if level == logging.ERROR:
                self.last_error = message
            log.log(level, "TensorRT: %s", message)

    return Log()
