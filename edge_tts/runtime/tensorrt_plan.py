"""TensorRT plans: opened from disk, described, and run at one shape.

Written against the Python API of TensorRT 8.5 (JetPack 5); what later releases have renamed is
found by looking for the newer name, never by comparing versions. Only named tensors and
`execute_async_v3` are used, which every release since 8.5 has.
"""

from __future__ import annotations

import logging
import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from edge_tts.errors import EngineError
from edge_tts.runtime import tensorrt_api as api
from edge_tts.runtime.cuda import RecordingError

if TYPE_CHECKING:
    import numpy as np

    from edge_tts.runtime.device import Device

Shape = Tuple[int, ...]

log = logging.getLogger(__name__)


class Tensor(NamedTuple):
    """An input or output of a plan. `shape` has -1 where it varies."""

    name: str
    is_input: bool
    dtype: "np.dtype[Any]"
    shape: Shape

    def n_bytes(self, shape: Shape) -> int:
        """Size at a concrete shape."""
        n_items = 1
        for size in shape:
            n_items *= size
        return n_items * int(self.dtype.itemsize)


class Bounds(NamedTuple):
    """Shapes an input may take in one optimisation profile."""

    least: Shape
    greatest: Shape

    def admit(self, shape: Shape) -> bool:
        """Whether `shape` lies within."""
        return len(shape) == len(self.least) and all(
            low <= size <= high for low, size, high in zip(self.least, shape, self.greatest)
        )


class Plan:
    """A deserialised plan. Its weights are on the device from now on."""

    def __init__(self, path: Path, runtime: "api.Runtime") -> None:
        """Map `path` and hand it to TensorRT. Raises EngineError."""
        self.name = path.name
        self.size_bytes = path.stat().st_size
        self._runtime = runtime
        self._engine: Any = _deserialise(path, runtime)
        try:
            api.check_tactics(self._engine, self.name)
            self.tensors = api.describe(self._engine, self.name)
        except EngineError:
            self._engine = None
            raise
        names = [tensor.name for tensor in self.tensors.values() if tensor.is_input]
        self.profiles: List[Dict[str, Bounds]] = [
            {name: Bounds(*api.bounds(self._engine, name, profile)) for name in names}
            for profile in range(int(self._engine.num_optimization_profiles))
        ]
        self.scratch_bytes = api.scratch_bytes(self._engine)

    @property
    def inputs(self) -> Tuple[str, ...]:
        """Names of the inputs."""
        return tuple(tensor.name for tensor in self.tensors.values() if tensor.is_input)

    @property
    def outputs(self) -> Tuple[str, ...]:
        """Names of the outputs."""
        return tuple(tensor.name for tensor in self.tensors.values() if not tensor.is_input)

    def profile_for(self, shapes: Mapping[str, Shape]) -> int:
        """The first profile that admits `shapes`. Raises EngineError `engine.shape_unsupported`."""
        for number, bounds in enumerate(self.profiles):
            if all(bounds[name].admit(shape) for name, shape in shapes.items()):
                return number
        raise EngineError(
            f"{self.name} was not built for the shapes "
            + ", ".join(f"{name} {list(shape)}" for name, shape in sorted(shapes.items())),
            code="engine.shape_unsupported",
        )

    def contexts(self, stream: int) -> "List[PlanContext]":
        """One execution context per profile, still without scratch. Raises EngineError."""
        return [PlanContext(self, number, stream) for number in range(len(self.profiles))]

    def new_context(self) -> Any:
        """An execution context that brings no scratch of its own."""
        context = api.new_context(self._engine)
        if context is None:
            raise self.failure("no execution context can be made")
        return context

    def failure(self, action: str, code: str = "engine.load_failed") -> EngineError:
        """The error for something TensorRT refused, with its own words."""
        return self._runtime.failure(f"{self.name}: {action}", code)

    def close(self) -> None:
        """Give the weights back. Contexts must be gone. Idempotent."""
        self._engine = None


class PlanContext:
    """A plan ready to run in one profile; remembers shapes, addresses and a recorded graph."""

    def __init__(self, plan: Plan, profile: int, stream: int) -> None:
        self.plan = plan
        self._context: Any = plan.new_context()
        self._shapes: Dict[str, Shape] = {}
        self._addresses: Dict[str, int] = {}
        self._graph: Optional[int] = None
        self._is_recordable = True
        self._n_runs = 0
        """Runs since shapes or addresses changed."""
        if profile and not self._context.set_optimization_profile_async(profile, stream):
            raise plan.failure(f"profile {profile} cannot be chosen")

    def use_scratch(self, address: int, n_bytes: int) -> None:
        """Lend the context the memory that all contexts share."""
        api.lend_scratch(self._context, address, n_bytes)

    def set_shapes(self, shapes: Mapping[str, Shape]) -> None:
        """Set the shapes of the inputs that change. Raises EngineError."""
        for name, shape in shapes.items():
            if self._shapes.get(name) == shape:
                continue
            if not self._context.set_input_shape(name, shape):
                raise self.plan.failure(f"{name} cannot be {list(shape)}", "engine.run_failed")
            self._shapes[name] = shape
            self._n_runs = 0

    def shape(self, name: str) -> Shape:
        """Shape of an output once all inputs are set. Raises EngineError when it is unknown."""
        shape = tuple(int(size) for size in self._context.get_tensor_shape(name))
        if min(shape, default=0) < 0:
            raise self.plan.failure(f"the size of {name} depends on data")
        return shape

    def bind(self, addresses: Mapping[str, int]) -> None:
        """Say where every tensor lies. Raises EngineError."""
        for name, address in addresses.items():
            if self._addresses.get(name) == address:
                continue
            if not self._context.set_tensor_address(name, address):
                raise self.plan.failure(f"{name} cannot be bound", "engine.run_failed")
            self._addresses[name] = address
            self._n_runs = 0

    def enqueue(self, device: "Device") -> None:
        """Queue a run. The second run with nothing changed is recorded, later ones replay it.

        The first run after a change is never recorded: TensorRT postpones work to it that must
        not be part of a graph (NvInferRuntime.h, `enqueueV3`).
        """
        if self._n_runs == 0:
            self.drop_graph(device)
        elif self._graph is None and self._is_recordable:
            self._graph = self._record(device)
        if self._graph is None:
            self._execute(device.cuda.stream)
        else:
            device.cuda.launch(self._graph)
        self._n_runs += 1

    def _record(self, device: "Device") -> Optional[int]:
        """A graph of one run; None, for good, when the plan cannot be recorded (some loops)."""
        device.cuda.begin_capture()
        refusal: Optional[EngineError] = None
        try:
            self._execute(device.cuda.stream)
        except EngineError as error:
            refusal = error
        try:
            graph = device.cuda.end_capture()
        except RecordingError as error:
            log.info("%s runs without a graph: %s", self.plan.name, refusal or error)
            self._is_recordable = False
            return None
        return graph

    def _execute(self, stream: int) -> None:
        if not self._context.execute_async_v3(stream):
            raise self.plan.failure("the run was refused", "engine.run_failed")

    def drop_graph(self, device: "Device") -> None:
        """Forget the recorded graph."""
        graph, self._graph = self._graph, None
        if graph is not None:
            device.cuda.drop(graph)

    def close(self, device: "Device") -> None:
        """Drop graph and context. Idempotent."""
        self.drop_graph(device)
        self._context = None


def _deserialise(path: Path, runtime: "api.Runtime") -> Any:
    """Hand the file over as a mapping: read into memory, its weights would be there twice."""
    with path.open("rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            engine = runtime.deserialise(view)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if engine is None:
        raise runtime.failure(f"{path.name} cannot be loaded", "engine.load_failed")
    return engine
