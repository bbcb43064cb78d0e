"""Engines on TensorRT plans: named arrays in and out, everything between on the device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Tuple

import numpy as np

from edge_tts.errors import EngineError
from edge_tts.runtime.arena import Layout, Placed
from edge_tts.runtime.cuda import Cuda
from edge_tts.runtime.device import Device
from edge_tts.runtime.engine import Engine
from edge_tts.runtime.tensorrt_plan import Plan, PlanContext, Shape, Tensor

if TYPE_CHECKING:
    from edge_tts.runtime.decoding import Cache, Decoding
    from edge_tts.runtime.tensorrt_decoding import CacheMemory


@dataclass(frozen=True)
class Residents:
    """What a run finds on the device and leaves there."""

    shapes: Mapping[str, Shape] = field(default_factory=dict)
    addresses: Mapping[str, int] = field(default_factory=dict)
    """Shapes and addresses of inputs that are on the device already."""
    kept: Mapping[str, int] = field(default_factory=dict)
    """Outputs that are copied to an address on the device instead of to the host."""


class TensorRtEngine(Engine):
    """One plan, and the device it shares with the other engines of its voice."""

    def __init__(self, plan: Plan, device: Device, cache: Optional["Cache"] = None) -> None:
        """Make the execution contexts of a loaded plan. `cache`: see `decode`.

        Raises EngineError. Call while the device is active.
        """
        self.device = device
        self._plan: Optional[Plan] = plan
        self._cache = cache
        self._cache_memory: Optional["CacheMemory"] = None
        self._contexts: List[PlanContext] = plan.contexts(device.cuda.stream)

    @property
    def inputs(self) -> Tuple[str, ...]:
        """Names of the plan's inputs."""
        return self.plan.inputs

    @property
    def outputs(self) -> Tuple[str, ...]:
        """Names of the plan's outputs."""
        return self.plan.outputs

    @property
    def memory_bytes(self) -> int:
        """Size of the plan, nearly all of which is weights; 0 once closed."""
        return 0 if self._plan is None else self._plan.size_bytes

    @property
    def plan(self) -> Plan:
        """The open plan. Raises EngineError when closed."""
        if self._plan is None:
            raise EngineError("the TensorRT engine has been closed", code="engine.closed")
        return self._plan

    def arena_bytes(self) -> int:
        """Room that what goes in and out takes at the greatest shapes. Raises EngineError."""
        resident = set() if self._cache is None else {self._cache.past, *self._cache.tables}
        needs = [0]
        for bounds, context in zip(self.plan.profiles, self._contexts):
            greatest = {name: bound.greatest for name, bound in bounds.items()}
            context.set_shapes(greatest)
            passing = {name: shape for name, shape in greatest.items() if name not in resident}
            needs.append(self._layout(context, passing).n_bytes)
        return max(needs)

    def use_shared_memory(self) -> None:
        """Lend the device's scratch memory to all contexts and take that of the cache."""
        for context in self._contexts:
            context.use_scratch(*self.device.scratch)
        if self._cache is not None:
            from edge_tts.runtime.tensorrt_decoding import CacheMemory

            self._cache_memory = CacheMemory(self.plan, self.device, self._cache)

    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Copy in, run, copy out, on the calling thread."""
        with self.device.active() as cuda:
            return self.execute(cuda, inputs, Residents())

    def execute(
        self, cuda: Cuda, inputs: "Mapping[str, np.ndarray]", residents: Residents
    ) -> "Dict[str, np.ndarray]":
        """Run once beside what is on the device. Call while the device is active."""
        plan = self.plan
        shapes = {**{name: array.shape for name, array in inputs.items()}, **residents.shapes}
        _check_names(plan, shapes)
        arrays = {name: _converted(plan.tensors[name], array) for name, array in inputs.items()}
        context = self._contexts[plan.profile_for(shapes)]
        context.set_shapes(shapes)
        layout = self._layout(context, {name: array.shape for name, array in arrays.items()})
        placed = Placed(layout, self.device.arena)
        for name, array in arrays.items():
            placed.upload(cuda, name, array)
        context.bind({**placed.addresses, **residents.addresses})
        context.enqueue(self.device)
        for name, target in residents.kept.items():
            cuda.copy_within(target, placed.addresses[name], layout.slots[name].n_bytes)
        wanted = [name for name in plan.outputs if name not in residents.kept]
        for name in wanted:
            placed.download(cuda, name)
        cuda.synchronize()
        return {name: _checked(plan, name, placed.take(name)) for name in wanted}

    def decode(
        self, cache: "Cache", n_positions: int, tables: "Mapping[str, np.ndarray]"
    ) -> "Decoding":
        """Begin a sequence whose cache never leaves the device.

        Raises EngineError, `engine.shape_unsupported` when the plan was opened without a cache.
        """
        from edge_tts.runtime.tensorrt_decoding import DeviceDecoding

        if self._cache_memory is None:
            raise EngineError(
                f"{self.plan.name} was opened without a cache", code="engine.shape_unsupported"
            )
        self._cache_memory.upload(tables)
        return DeviceDecoding(self, self._cache_memory, n_positions)

    def close(self) -> None:
        """Give contexts, cache and weights back. Idempotent."""
        plan, self._plan = self._plan, None
        if plan is None:
            return
        with self.device.releasing():
            for context in self._contexts:
                context.close(self.device)
            self._contexts = []
            if self._cache_memory is not None:
                self._cache_memory.close()
            plan.close()
        self.device.count_weights(-plan.size_bytes)

    def _layout(self, context: PlanContext, passing: Mapping[str, Shape]) -> Layout:
        """Inputs `passing` and all outputs of a context whose shapes are set."""
        outputs = {name: context.shape(name) for name in self.plan.outputs}
        tensors = self.plan.tensors
        return Layout(
            {name: (shape, tensors[name].dtype) for name, shape in {**passing, **outputs}.items()}
        )


def _check_names(plan: Plan, shapes: Mapping[str, Shape]) -> None:
    if set(shapes) != set(plan.inputs):
        raise EngineError(
            f"{plan.name} reads {sorted(plan.inputs)}, not {sorted(shapes)}",
            code="engine.run_failed",
        )


def _converted(tensor: Tensor, array: "np.ndarray") -> "np.ndarray":
    """The array in the plan's type: whole numbers to whole numbers, floats to floats."""
    if array.dtype == tensor.dtype:
        return array
    if array.dtype.kind != tensor.dtype.kind:
        raise EngineError(
            f"{tensor.name} must be {tensor.dtype}, not {array.dtype}", code="engine.run_failed"
        )
    converted: np.ndarray = array.astype(tensor.dtype)
    if array.dtype.kind == "i" and not np.array_equal(converted, array):
        raise EngineError(f"{tensor.name} exceeds {tensor.dtype}", code="engine.run_failed")
    return converted


def _checked(plan: Plan, name: str, array: "np.ndarray") -> "np.ndarray":
    """The array, unless half precision has overflowed."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise EngineError(
            f"{plan.name} yielded {name} that is not finite; build it again with edge-tts build",
            code="engine.output_invalid",
        )
    return array
