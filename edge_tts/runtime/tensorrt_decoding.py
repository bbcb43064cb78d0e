"""Decoding on a TensorRT plan: cache and tables stay on the device, one graph per size of cache.

The plan reads a cache of fixed size and how many of its rows count; its optimisation profiles are
the sizes there are. Within one size nothing changes from step to step but the contents of memory,
so the second step at a size is recorded and every later one replayed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, Optional

import numpy as np

from edge_tts.errors import EngineError
from edge_tts.runtime.arena import size_of
from edge_tts.runtime.decoding import Cache, Decoding, check_room
from edge_tts.runtime.device import Device, Purpose
from edge_tts.runtime.tensorrt import Residents
from edge_tts.runtime.tensorrt_plan import Plan, Shape

if TYPE_CHECKING:
    from edge_tts.runtime.tensorrt import TensorRtEngine


class CacheMemory:
    """Device memory for the cache and tables of one engine, taken once in its greatest size."""

    def __init__(self, plan: Plan, device: Device, cache: Cache) -> None:
        """Raises EngineError. Call while the device is active."""
        self.plan = plan
        self.cache = cache
        self._device = device
        self._tables: "Dict[str, np.ndarray]" = {}
        _check_inputs(plan, cache)
        self.sizes: List[int] = sorted({bounds[cache.past].greatest[0] for bounds in plan.profiles})
        self.addresses: Dict[str, int] = {}
        self._allocate(cache.past, Purpose.CACHE)
        for name in cache.tables:
            self._allocate(name, Purpose.TABLES)

    def _allocate(self, name: str, purpose: Purpose) -> None:
        greatest = max(bounds[name].greatest for bounds in self.plan.profiles)
        n_bytes = size_of(greatest, self.plan.tensors[name].dtype)
        self.addresses[name] = self._device.allocate(purpose, n_bytes)
        # Rows that do not count are multiplied by zero, which only finite ones survive.
        self._device.cuda.clear(self.addresses[name], n_bytes)

    @property
    def row_bytes(self) -> int:
        """Size of the cache of one position."""
        return size_of(self.cache.row_shape, self.plan.tensors[self.cache.past].dtype)

    def upload(self, tables: "Mapping[str, np.ndarray]") -> None:
        """Bring the tables to the device unless they are there already. Raises EngineError."""
        for name in self.cache.tables:
            if self._tables.get(name) is not tables[name]:
                with self._device.active():
                    self._upload(name, tables[name])
                self._tables[name] = tables[name]

    def _upload(self, name: str, table: "np.ndarray") -> None:
        cuda, arena = self._device.cuda, self._device.arena
        n_rows = min(len(table), max(bounds[name].greatest[0] for bounds in self.plan.profiles))
        raw = np.ascontiguousarray(table[:n_rows], self.plan.tensors[name].dtype)
        flat = raw.reshape(-1).view(np.uint8)
        for start in range(0, len(flat), len(arena.host)):
            part = flat[start : start + len(arena.host)]
            arena.host[: len(part)] = part
            cuda.copy_in(self.addresses[name] + start, arena.host[: len(part)])
            cuda.synchronize()

    def residents(self, n_past: int, n_new: int) -> Optional[Residents]:
        """What a step finds on the device; None when no size holds `n_past` positions."""
        size = next((size for size in self.sizes if size >= n_past), None)
        if size is None:
            return None
        shapes: Dict[str, Shape] = {self.cache.past: (size, *self.cache.row_shape)}
        for name in self.cache.tables:
            shapes[name] = (size + n_new, *self.plan.tensors[name].shape[1:])
        end = self.addresses[self.cache.past] + n_past * self.row_bytes
        return Residents(shapes, self.addresses, {self.cache.new: end})

    def close(self) -> None:
        """Give the memory back. Idempotent."""
        addresses, self.addresses = self.addresses, {}
        for address in addresses.values():
            self._device.free(address)


class DeviceDecoding(Decoding):
    """A sequence whose cache lies on the device."""

    def __init__(self, engine: "TensorRtEngine", memory: CacheMemory, n_positions: int) -> None:
        """Raises EngineError `engine.shape_unsupported` when it is too long for the plan."""
        if n_positions > memory.sizes[-1]:
            raise EngineError(
                f"{memory.plan.name} was built for {memory.sizes[-1]} positions, not {n_positions}",
                code="engine.shape_unsupported",
            )
        self._engine = engine
        self._memory = memory
        self._capacity = n_positions
        self._used = 0

    @property
    def n_positions(self) -> int:
        """Rows of the cache in use."""
        return self._used

    def step(self, rows: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run the plan once; the new rows join the cache on the device."""
        n_new = check_room(rows, self._used, self._capacity)
        residents = self._memory.residents(self._used, n_new)
        if residents is None:
            raise EngineError("the cache is full", code="engine.shape_unsupported")
        length = {self._memory.cache.length: np.array([self._used], np.int32)}
        with self._engine.device.active() as cuda:
            outputs = self._engine.execute(cuda, {**rows, **length}, residents)
        self._used += n_new
        return outputs

    def close(self) -> None:
        """End the sequence; the memory stays for the next."""
        self._capacity = 0


def _check_inputs(plan: Plan, cache: Cache) -> None:
    missing = {cache.past, cache.length, *cache.tables}.difference(plan.inputs)
    if missing or cache.new not in plan.outputs:
        raise EngineError(
            f"{plan.name} has no tensor {sorted(missing or {cache.new})[0]!r}, which a cache of "
            "fixed size needs; build it again with edge-tts build",
            code="engine.plan_foreign",
        )
