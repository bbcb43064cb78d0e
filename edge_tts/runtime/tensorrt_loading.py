"""Opening the plans of a voice together, so that they share one device and its memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Mapping, Optional

from edge_tts.errors import EngineError
from edge_tts.jetson import Jetson
from edge_tts.runtime.cuda import open_cuda
from edge_tts.runtime.decoding import Cache
from edge_tts.runtime.device import Device
from edge_tts.runtime.tensorrt import TensorRtEngine
from edge_tts.runtime.tensorrt_api import Runtime
from edge_tts.runtime.tensorrt_plan import Plan
from edge_tts.runtime.verification import Machine


@dataclass(frozen=True)
class PlanFile:
    """A verified plan, and the cache its engine carries from step to step."""

    path: Path
    cache: Optional[Cache] = None


class TensorRtEngines:
    """The engines of one voice on one device."""

    def __init__(self) -> None:
        """Start TensorRT and CUDA. Raises EngineError `engine.tensorrt_missing` or
        `engine.device_missing`."""
        before_bytes = _driver_bytes()
        self._runtime = Runtime()
        cuda = open_cuda()
        self.device = Device(cuda, max(0, _driver_bytes() - before_bytes))
        sm = ".".join(map(str, self.device.cuda.compute_capability))
        self.machine = Machine(self._runtime.version, sm)
        self.engines: Dict[str, TensorRtEngine] = {}
        self.failures: Dict[str, EngineError] = {}
        """Why a part is not in `engines`."""

    def open(self, files: Mapping[str, PlanFile]) -> None:
        """Load what can be loaded, the largest plan first: memory is least divided then.

        Raises nothing: a part that fails is in `failures`.
        """
        for part in sorted(files, key=lambda part: -files[part].path.stat().st_size):
            try:
                with self.device.active():
                    self.engines[part] = self._load(files[part])
            except EngineError as error:
                self._give_up(part, error)
        if self.engines:
            self._share_memory()
        if not self.engines:
            self.close()

    def close(self) -> None:
        """Give everything back. Idempotent."""
        for engine in self.engines.values():
            engine.close()
        self.device.close()

    def _load(self, file: PlanFile) -> TensorRtEngine:
        plan = Plan(file.path, self._runtime)
        try:
            engine = TensorRtEngine(plan, self.device, file.cache)
        except EngineError:
            plan.close()
            raise
        self.device.count_weights(plan.size_bytes)
        return engine

    def _share_memory(self) -> None:
        try:
            self._reserve()
        except EngineError as error:
            for part in list(self.engines):
                self._give_up(part, error)
        for part, engine in list(self.engines.items()):
            try:
                with self.device.active():
                    engine.use_shared_memory()
            except EngineError as error:
                self._give_up(part, error)

    def _reserve(self) -> None:
        with self.device.active():
            scratch = max(engine.plan.scratch_bytes for engine in self.engines.values())
            arena = max(engine.arena_bytes() for engine in self.engines.values())
        self.device.reserve(scratch, arena)

    def _give_up(self, part: str, error: EngineError) -> None:
        engine = self.engines.pop(part, None)
        if engine is not None:
            engine.close()
        self.failures[part] = error


def _driver_bytes() -> int:
    """What the GPU driver holds for all processes, where the kernel says so (Tegra, not all)."""
    return Jetson().meminfo_kib().get("NvMapMemUsed", 0) * 1024
