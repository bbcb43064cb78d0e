"""A voice's engines, one after the other: built, judged, and kept with their manifests.

Every part climbs down the recipe's ladder of precisions until an engine passes its gate, or until
ONNX Runtime is left to serve it. What is finished stays: a run that was cut off goes on where it
stopped, and nothing half written is ever found.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Optional, Tuple

from edge_tts.build.tensorrt import children, headroom
from edge_tts.build.tensorrt.engine_process import Job, Outcome
from edge_tts.build.tensorrt.gate import POINTS, Trial, graph_inputs
from edge_tts.build.tensorrt.machine_process import Machine
from edge_tts.build.tensorrt.recipe import ONNX, PartRecipe, Platform, Recipe, digest, shapes
from edge_tts.build.tensorrt.recording import recording_path
from edge_tts.errors import EngineError
from edge_tts.runtime.engine_manifest import (
    ENGINES_DIR,
    Bounds,
    EngineManifest,
    GateResult,
    Plan,
    Target,
    manifest_path,
)
from edge_tts.runtime.integrity import sha256_of
from edge_tts.voices.manifest import FILE_NAME

Report = Callable[[str], None]
Build = Callable[[Job, Path], Outcome]
Judge = Callable[[Trial, Path], GateResult]
Describe = Callable[[str, Path], Machine]

_FATAL = frozenset({"engine.tensorrt_missing", "engine.device_missing", "engine.out_of_memory"})
"""What no other precision would cure."""


@dataclass(frozen=True)
class Request:
    """What to build: the voice's directory, its graphs, for which board, with which TensorRT."""

    voice: Path
    graphs: Path
    recipe: Recipe
    platform: Platform
    module: str
    board: str
    power_mode: str
    compute_capabilities: Tuple[str, ...] = ()
    """For building ahead of time; empty builds for, and on, this machine's GPU."""


class EngineBuilder:
    """Builds the engines of a request."""

    def __init__(
        self,
        request: Request,
        report: Report,
        build: Build = children.build,
        judge: Judge = children.judge,
        describe: Describe = children.describe,
    ) -> None:
        self._request, self._report = request, report
        self._build, self._judge, self._describe = build, judge, describe
        self._folder = request.voice / ENGINES_DIR
        self._work = self._folder / ".work"
        self._voice_sha256 = sha256_of(request.voice / FILE_NAME)

    def run(self, names: Tuple[str, ...]) -> List[EngineManifest]:
        """Build the parts of these names. Raises EngineError, BudgetError, ConfigError, OSError."""
        self._work.mkdir(parents=True, exist_ok=True)
        self._machine = self._examined()
        sizes = {name: self._graph(name).stat().st_size for name in names}
        pending, done_bytes, start_s = dict(sizes), 0, time.monotonic()
        manifests = []
        for number, name in enumerate(names, 1):
            left = _time_left(time.monotonic() - start_s, done_bytes, sum(pending.values()))
            self._report(f"engine {number} of {len(names)}: {name}{left}")
            part = self._request.recipe.part(name)
            known = self._finished(part)
            if known is None:
                known = self._climb_down(part)
                known.write(manifest_path(self._request.voice, name))
                done_bytes += pending[name]
            del pending[name]
            self._report(f"{name}: {summary(known)}")
            manifests.append(known)
        shutil.rmtree(self._work)
        return manifests

    def _examined(self) -> Machine:
        """This machine, checked against the platform. Raises EngineError."""
        request = self._request
        if request.compute_capabilities:
            return Machine("", "", "", ",".join(request.compute_capabilities))
        machine = self._describe(request.module, self._work / "machine.json")
        known = request.platform.sm
        if known and machine.sm not in known:
            raise EngineError(
                f"this GPU has compute capability {machine.sm}, {request.platform.name} has "
                f"{' or '.join(known)}; choose another --platform, or generic",
                code="engine.plan_foreign",
            )
        return machine

    def _finished(self, part: PartRecipe) -> Optional[EngineManifest]:
        """The manifest of an earlier run, if it is of the same graph, recipe, voice and machine."""
        path = manifest_path(self._request.voice, part.name)
        if not path.exists():
            return None
        try:
            known = EngineManifest.read(path)
            if known.plan is not None:
                known.verify(
                    self._folder,
                    platform=self._request.platform.name,
                    trt_version=self._machine.tensorrt,
                    sm=self._machine.sm,
                    voice_sha256=self._voice_sha256,
                )
        except EngineError as error:
            self._report(f"{part.name} is built again: {error}")
            return None
        same = (known.onnx_sha256, known.recipe_sha256, known.voice_sha256) == (
            sha256_of(self._graph(part.name)),
            digest(part, self._request.platform),
            self._voice_sha256,
        )
        return known if same else None

    def _climb_down(self, part: PartRecipe) -> EngineManifest:
        reasons: List[str] = []
        for precision in part.ladder():
            if precision == ONNX:
                break
            try:
                outcome = self._build_once(part, precision)
            except EngineError as error:
                if error.code in _FATAL:
                    raise
                reasons.append(f"{precision}: {error}")
                self._report(f"{part.name} in {reasons[-1]}")
                continue
            verdict = self._prove(part, precision)
            if verdict.passed or self._request.compute_capabilities:
                gate = GateResult(
                    verdict.passed, "; ".join([*reasons, verdict.reason]), verdict.comparisons
                )
                return self._manifest(part, gate, outcome, precision)
            reasons.append(f"{precision}: {verdict.reason}")
            self._report(f"{part.name} in {reasons[-1]}")
        with suppress(FileNotFoundError):
            self._plan(part.name).unlink()
        cause = "; ".join(reasons) or "the recipe leaves it to ONNX Runtime"
        return self._manifest(part, GateResult(False, cause, ()), None, ONNX)

    def _build_once(self, part: PartRecipe, precision: str) -> Outcome:
        request, graph = self._request, self._graph(part.name)
        if not request.compute_capabilities:
            memory = headroom.read_memory()
            headroom.require(memory, request.platform, part.name, graph.stat().st_size)
        job = Job(
            module=request.module,
            graph=str(graph),
            plan=str(self._plan(part.name)),
            timing_cache=str(self._folder / "timing.cache"),
            precision=precision,
            keep_fp32=part.keep_fp32,
            profiles=profiles(graph, part),
            workspace_mib=request.platform.workspace_mib,
            tactic_sources=request.platform.tactic_sources,
            half_io=part.half_io,
            compute_capabilities=request.compute_capabilities,
        )
        return self._build(job, self._work / f"{part.name}.job.json")

    def _prove(self, part: PartRecipe, precision: str) -> GateResult:
        if self._request.compute_capabilities:
            return GateResult(False, "built ahead of time; judge it on its board", ())
        graph = self._graph(part.name)
        trial = Trial(
            graph=str(graph),
            plan=str(self._plan(part.name)),
            recording=str(recording_path(graph.parent, part.name)),
            precision=precision,
            part=part,
        )
        return self._judge(trial, self._work / f"{part.name}.trial.json")

    def _manifest(
        self, part: PartRecipe, gate: GateResult, outcome: Optional[Outcome], precision: str
    ) -> EngineManifest:
        request, graph = self._request, self._graph(part.name)
        plan = None if outcome is None else self._described(part.name, outcome, precision)
        target = Target(
            platform=request.platform.name,
            sm=outcome.sm if outcome else "",
            tensorrt=outcome.tensorrt if outcome else "",
            board=request.board,
            power_mode=request.power_mode,
        )
        return EngineManifest(
            voice=request.voice.name,
            part=part.name,
            voice_sha256=self._voice_sha256,
            onnx_sha256=sha256_of(graph),
            recipe_sha256=digest(part, request.platform),
            target=target,
            profiles=profiles(graph, part),
            gate=gate,
            plan=plan,
        )

    def _described(self, name: str, outcome: Outcome, precision: str) -> Plan:
        path = self._plan(name)
        return Plan(
            file=path.name,
            size_bytes=path.stat().st_size,
            sha256=sha256_of(path),
            precision=precision,
            flags=outcome.flags,
            device_memory_bytes=outcome.device_memory_bytes,
        )

    def _graph(self, name: str) -> Path:
        return self._request.graphs / f"{name}.onnx"

    def _plan(self, name: str) -> Path:
        return self._folder / f"{name}.plan"


def profiles(graph: Path, part: PartRecipe) -> "Tuple[dict[str, Bounds], ...]":
    """The shapes of a graph's inputs in every profile of its recipe."""
    dimensions = graph_inputs(graph)
    found = []
    for axes in part.profiles:
        points = [shapes(dimensions, axes, point) for point in range(len(POINTS))]
        found.append({name: Bounds(*(point[name] for point in points)) for name in dimensions})
    return tuple(found)


def summary(manifest: EngineManifest) -> str:
    """One line about how a part ended."""
    if manifest.plan is None:
        return f"left to ONNX Runtime ({manifest.gate.reason})"
    size_mb = manifest.plan.size_bytes / 1e6
    return f"{manifest.plan.precision} engine of {size_mb:.0f} MB, {manifest.gate.reason}"


def _time_left(elapsed_s: float, done_bytes: int, left_bytes: int) -> str:
    """From the pace so far, by size of graph: building takes about as long as there are weights."""
    if not done_bytes:
        return ""
    left_s = elapsed_s * left_bytes / done_bytes
    return f", about {max(1, round(left_s / 60))} min left in all"
