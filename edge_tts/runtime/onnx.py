"""Engines on ONNX Runtime's CPU provider.

The session options are the ones measured best for pre-optimised int8 speech models: no graph
optimisation at load (done once at install), no memory patterns (they only pay with fixed shapes),
one arena for all sessions (without any, memory grows fourfold) that shrinks after every run,
threads that sleep instead of spinning.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Type

from edge_tts.errors import EngineError
from edge_tts.runtime.engine import Engine, Observer
from edge_tts.runtime.memory import share_arena
from edge_tts.runtime.threads import default_threads

if TYPE_CHECKING:
    import numpy as np

PROVIDER = "CPUExecutionProvider"
_LOG_ERRORS_ONLY = 3


class OnnxEngine(Engine):
    """A part saved as `.onnx`, with its weights in the file or mapped from one beside it.

    `observer`, once set, is told of every run that succeeds.
    """

    def __init__(self, path: Path, *, n_threads: Optional[int] = None) -> None:
        """Open `path`. Raises `EngineError` when ONNX Runtime refuses it."""
        self._path = path
        self.observer: Optional[Observer] = None
        self._session: Any = _open(path, session_options(n_threads or default_threads()))
        self._run_options = _shrinking()
        self._inputs = tuple(item.name for item in self._session.get_inputs())
        self._outputs = tuple(item.name for item in self._session.get_outputs())
        self._memory_bytes = sum(
            file.stat().st_size for file in (path, weights_path(path)) if file.exists()
        )

    @property
    def inputs(self) -> Tuple[str, ...]:
        """Names of the graph's inputs."""
        return self._inputs

    @property
    def outputs(self) -> Tuple[str, ...]:
        """Names of the graph's outputs."""
        return self._outputs

    @property
    def memory_bytes(self) -> int:
        """Size of the files behind the engine; 0 once closed."""
        return self._memory_bytes

    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run the graph once on the calling thread."""
        if self._session is None:
            raise EngineError(f"{self._path.name} has been closed", code="engine.closed")
        try:
            results = self._session.run(None, dict(inputs), self._run_options)
        except _ort_errors() as error:
            raise EngineError(
                f"{self._path.name} could not run: {_first_line(error)}", code="engine.run_failed"
            ) from error
        outputs = dict(zip(self._outputs, results))
        if self.observer is not None:
            self.observer(inputs, outputs)
        return outputs

    def close(self) -> None:
        """Drop the session and with it its arena and mapped weights."""
        self._session = None
        self._memory_bytes = 0


def weights_path(model: Path) -> Path:
    """Where the weights of `model` lie when they are outside it."""
    return model.with_name(model.name + ".data")


def session_options(n_threads: int) -> Any:
    """Session options for a graph that is optimised already."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = n_threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = True
    options.log_severity_level = _LOG_ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.use_env_allocators", str(int(share_arena())))
    return options


def optimise(source: Path, target: Path) -> None:
    """Let ONNX Runtime fuse `source` once and save it with its weights outside, ready to map.

    The extended level fuses operators but leaves memory layouts alone, so that the result does
    not depend on the processor it was made on. Raises `EngineError`.
    """
    import onnxruntime as ort

    options = session_options(n_threads=1)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    entries = {
        "session.optimized_model_external_initializers_file_name": weights_path(target).name,
        "session.optimized_model_external_initializers_min_size_in_bytes": "1024",
    }
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    _open(source, options)
    weights = weights_path(target)
    # ONNX Runtime 1.19 makes the file even when no weight is large enough for it.
    if weights.exists() and not weights.stat().st_size:
        weights.unlink()


def _shrinking() -> Any:
    import onnxruntime as ort

    options = ort.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


def runtime_version() -> str:
    """Version of the ONNX Runtime in this environment."""
    import onnxruntime as ort

    return str(ort.__version__)


def _open(path: Path, options: Any) -> Any:
    import onnxruntime as ort

    try:
        return ort.InferenceSession(str(path), options, providers=[PROVIDER])
    except _ort_errors() as error:
        raise EngineError(
            f"ONNX Runtime {ort.__version__} cannot open {path}: {_first_line(error)}",
            code="engine.load_failed",
        ) from error


def _ort_errors() -> "Tuple[Type[Exception], ...]":
    """What ONNX Runtime raises: its own status errors, and ValueError for wrong input names."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = [name for name in dir(state) if isinstance(getattr(state, name), type)]
    status = [getattr(state, name) for name in names]
    own = [kind for kind in status if issubclass(kind, Exception)]
    return (*own, ValueError, RuntimeError)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
