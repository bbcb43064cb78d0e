"""TensorRT's builder, of whichever release is there: what it offers decides what is done.

8.5 and 8.6 take a float graph, an FP16 flag and a precision per layer; later releases take the
precision from the graph's types. Nothing here compares version numbers. `tensorrt_rtx_bindings`,
which has the later interface and builds without a GPU, stands in for `tensorrt` where asked for.
"""

from __future__ import annotations

import importlib
import re
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from edge_tts.errors import EngineError
from edge_tts.runtime.engine_manifest import Bounds

BOARD, AHEAD_OF_TIME = "tensorrt", "tensorrt_rtx_bindings"
_NUMBERED = re.compile(r"_\d+$")
_MIB = 1 << 20
_PROGRESS_INTERVAL_S = 10.0
_MEMORY_SIGNS = ("out of memory", "outofmemory", "nvmap")


def load(module: str = BOARD) -> Any:
    """Import TensorRT. Raises EngineError (`engine.tensorrt_missing`)."""
    try:
        return importlib.import_module(module)
    except (ImportError, OSError) as error:
        cure = (
            "on a Jetson run: sudo apt-get install python3-libnvinfer, and use a virtual "
            "environment with --system-site-packages"
            if module == BOARD
            else "run: pip install 'edge-tts-device[bench]' with Python 3.9 or later on x86-64"
        )
        raise EngineError(
            f"{module} cannot be imported ({error}); {cure}", code="engine.tensorrt_missing"
        ) from error


def is_strongly_typed(trt: Any) -> bool:
    """Whether precision comes from the graph's types. Raises EngineError without either way."""
    if hasattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED"):
        return True
    flags = ("FP16", "OBEY_PRECISION_CONSTRAINTS")
    if all(hasattr(trt.BuilderFlag, flag) for flag in flags):
        return False
    raise EngineError(
        f"TensorRT {trt.__version__} has neither precision constraints nor typed networks; "
        "8.5 or later is needed",
        code="engine.tensorrt_missing",
    )


def new_logger(trt: Any) -> Any:
    """A logger that prints warnings to stderr and remembers errors as `errors`."""

    class _Log(trt.ILogger):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.ILogger.__init__(self)
            self.errors: List[str] = []

        def log(self, severity: Any, message: str) -> None:
            if severity <= trt.ILogger.Severity.ERROR:
                self.errors.append(message)
            if severity <= trt.ILogger.Severity.WARNING:
                sys.stderr.write(f"tensorrt: {message}\n")

    return _Log()


class Network:
    """A parsed graph and its builder."""

    def __init__(self, trt: Any, graph: str) -> None:
        """Parse the ONNX file `graph`. Raises EngineError naming the node that is refused."""
        self._trt = trt
        self._log = new_logger(trt)
        self._builder = trt.Builder(self._log)
        creation, flags = trt.NetworkDefinitionCreationFlag, 0
        for name in ("EXPLICIT_BATCH", "STRONGLY_TYPED"):
            if hasattr(creation, name):
                flags |= 1 << int(getattr(creation, name))
        self.network = self._builder.create_network(flags)
        parser = trt.OnnxParser(self.network, self._log)
        if not parser.parse_from_file(graph):
            errors = [parser.get_error(i) for i in range(parser.num_errors)]
            said = "; ".join(f"{_node_of(error)}{error.desc()}" for error in errors[:3])
            raise EngineError(
                f"TensorRT {trt.__version__} cannot read {graph}: {said or self._last_error()}",
                code="engine.graph_unsupported",
            )

    def configure(
        self,
        profiles: Sequence[Mapping[str, Bounds]],
        workspace_mib: int,
        tactic_sources: Sequence[str],
        compute_capabilities: Sequence[str] = (),
    ) -> "Tuple[Any, List[str]]":
        """(builder configuration, the flags set in it, for the record)."""
        trt, config, flags = self._trt, self._builder.create_builder_config(), []
        if hasattr(trt, "MemoryPoolType"):
            config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, workspace_mib * _MIB)
        if set_tactic_sources(trt, config, tactic_sources):
            flags.append(f"tactic_sources={','.join(tactic_sources) or 'none'}")
        flags += _set_previews(trt, config)
        if compute_capabilities:
            config.num_compute_capabilities = len(compute_capabilities)
            for index, sm in enumerate(compute_capabilities):
                kind = getattr(trt.ComputeCapability, f"SM{sm.replace('.', '')}")
                config.set_compute_capability(kind, index)
        for shapes in profiles:
            profile = self._builder.create_optimization_profile()
            for name, bounds in shapes.items():
                profile.set_shape(name, bounds.least, bounds.typical, bounds.greatest)
            if config.add_optimization_profile(profile) < 0:
                raise EngineError(
                    f"TensorRT refuses a profile: {self._last_error()}", code="engine.build_failed"
                )
        if hasattr(trt, "IProgressMonitor"):
            config.progress_monitor = new_monitor(trt)
        return config, flags

    def constrain(self, config: Any, half: Set[str], half_io: Sequence[str]) -> List[str]:
        """The precision route of 8.5 and 8.6: FP16 with the other nodes' layers held at FP32."""
        trt = self._trt
        if not half:
            return []
        if not self._builder.platform_has_fast_fp16:
            sys.stderr.write("tensorrt: this GPU has no fast half precision\n")
        config.set_flag(trt.BuilderFlag.FP16)
        config.set_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
        inputs = (self.network.get_input(i) for i in range(self.network.num_inputs))
        outputs = (self.network.get_output(i) for i in range(self.network.num_outputs))
        for tensor in (*inputs, *outputs):
            if tensor.name in half_io:
                tensor.dtype = trt.DataType.HALF
        count = 0
        for index in range(self.network.num_layers):
            layer = self.network.get_layer(index)
            if node_of_layer(layer.name, half) is None:
                count += hold_at_fp32(trt, layer)
        return ["FP16", "OBEY_PRECISION_CONSTRAINTS", f"fp32_layers={count}"]

    def build(self, config: Any, timing_cache: Optional[bytes]) -> "Tuple[Any, bytes]":
        """(the serialised plan, the timing cache to keep). Raises EngineError."""
        if timing_cache is not None:
            cache = config.create_timing_cache(timing_cache)
            config.set_timing_cache(cache, ignore_mismatch=False)
        plan = self._builder.build_serialized_network(self.network, config)
        if plan is None:
            said = self._last_error()
            is_memory = any(sign in said.lower() for sign in _MEMORY_SIGNS)
            raise EngineError(
                f"TensorRT {self._trt.__version__} could not build the engine: {said}"
                + ("; close the desktop and other programs" if is_memory else ""),
                code="engine.out_of_memory" if is_memory else "engine.build_failed",
            )
        kept = b"" if timing_cache is None else bytes(config.get_timing_cache().serialize())
        return plan, kept

    def _last_error(self) -> str:
        return str((self._log.errors or ["no reason given"])[-1]).strip()


def set_tactic_sources(trt: Any, config: Any, wanted: Sequence[str]) -> bool:
    """Allow exactly the external libraries in `wanted`; False where there is no choice."""
    known = getattr(trt, "TacticSource", None)
    external = ("CUBLAS", "CUBLAS_LT", "CUDNN")
    if known is None or not any(hasattr(known, name) for name in external):
        return False
    bits = int(config.get_tactic_sources())
    for name in external:
        if hasattr(known, name):
            bit = 1 << int(getattr(known, name))
            bits = bits | bit if name in wanted else bits & ~bit
    return bool(config.set_tactic_sources(bits))


def _set_previews(trt: Any, config: Any) -> List[str]:
    """What 8.5 and 8.6 offer and later releases always do."""
    found = []
    for name in ("FASTER_DYNAMIC_SHAPES_0805", "DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805"):
        feature = getattr(getattr(trt, "PreviewFeature", None), name, None)
        if feature is not None:
            config.set_preview_feature(feature, True)
            found.append(name)
    return found


def node_of_layer(layer: str, nodes: Set[str]) -> Optional[str]:
    """The node of `nodes` that the parser made `layer` for: it numbers further layers of a node."""
    if layer in nodes:
        return layer
    shorter = _NUMBERED.sub("", layer)
    return shorter if shorter in nodes else None


def hold_at_fp32(trt: Any, layer: Any) -> bool:
    """Constrain a layer and its outputs to single precision, if it computes in floats at all.

    Layers of shapes and indices must be left alone, and so must constants, which have no precision.
    """
    floats = [
        i for i in range(layer.num_outputs) if layer.get_output(i).dtype == trt.DataType.FLOAT
    ]
    if not floats or layer.type in (trt.LayerType.CONSTANT, trt.LayerType.SHAPE):
        return False
    layer.precision = trt.DataType.FLOAT
    for index in floats:
        layer.set_output_type(index, trt.DataType.FLOAT)
    return True


def new_monitor(trt: Any, clock: Callable[[], float] = time.monotonic) -> Any:
    """A progress monitor that prints the outermost phase, at most every ten seconds."""

    class _Monitor(trt.IProgressMonitor):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IProgressMonitor.__init__(self)
            self._steps: Dict[str, int] = {}
            self._last_s = clock()

        def phase_start(self, phase_name: str, parent_phase: str, num_steps: int) -> None:
            self._steps[phase_name] = num_steps

        def phase_finish(self, phase_name: str) -> None:
            self._steps.pop(phase_name, None)

        def step_complete(self, phase_name: str, step: int) -> bool:
            now_s = clock()
            if now_s - self._last_s >= _PROGRESS_INTERVAL_S:
                self._last_s = now_s
                total = self._steps.get(phase_name, 0)
                sys.stderr.write(f"tensorrt: {phase_name}, step {step + 1} of {total}\n")
            return True

    return _Monitor()


def device_memory_bytes(trt: Any, plan: Any) -> int:
    """Scratch that one context of `plan` needs; the GPU it was built for must be here."""
    engine = trt.Runtime(new_logger(trt)).deserialize_cuda_engine(plan)
    if engine is None:
        raise EngineError("TensorRT cannot load the engine it built", code="engine.build_failed")
    known = [
        name for name in ("device_memory_size_v2", "device_memory_size") if hasattr(engine, name)
    ]
    return int(getattr(engine, known[0]))


def _node_of(error: Any) -> str:
    name = error.node_name() if hasattr(error, "node_name") else ""
    kind = error.node_operator() if hasattr(error, "node_operator") else ""
    return f"node {name!r} ({kind}): " if name else ""
