"""Builds one engine in a process of its own, so that its memory goes back whatever happens.

    python -m edge_tts.build.tensorrt.engine_process JOB.json

The job says what to build; the plan appears at once and whole, the result beside it as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, List, Mapping, Tuple

from edge_tts.build.tensorrt.board import compute_capability
from edge_tts.build.tensorrt.recipe import KeepFp32
from edge_tts.errors import EdgeTTSError
from edge_tts.records import read_record
from edge_tts.runtime.engine_manifest import Bounds


@dataclass(frozen=True)
class Job:
    """One engine to build. `compute_capabilities` are for building ahead of time, without a GPU."""

    module: str
    graph: str
    plan: str
    timing_cache: str
    precision: str
    keep_fp32: KeepFp32
    profiles: Tuple[Mapping[str, Bounds], ...]
    workspace_mib: int
    tactic_sources: Tuple[str, ...]
    half_io: Tuple[str, ...] = ()
    compute_capabilities: Tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> "Job":
        """Raises RecordError or OSError."""
        return read_record(cls, json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Outcome:
    """What came of a job: `error` is empty when the plan is there."""

    error: str
    code: str
    tensorrt: str
    sm: str
    flags: Tuple[str, ...]
    device_memory_bytes: int
    seconds: float


def build(job: Job) -> Outcome:
    """Build the plan of `job`. Raises EngineError."""
    from edge_tts.build.tensorrt import builder_api

    start_s = time.monotonic()
    trt = builder_api.load(job.module)
    is_typed = builder_api.is_strongly_typed(trt)
    is_timed = not job.compute_capabilities  # ahead of time, nothing is timed and no GPU is there
    sm = compute_capability() if is_timed else ",".join(job.compute_capabilities)
    half, graph = _prepare(job, is_typed)
    network = builder_api.Network(trt, str(graph))
    if graph != Path(job.graph):
        graph.unlink()
    config, flags = network.configure(
        job.profiles, job.workspace_mib, job.tactic_sources, job.compute_capabilities
    )
    flags += ["STRONGLY_TYPED"] if is_typed else network.constrain(config, half, job.half_io)
    cache = Path(job.timing_cache)
    plan, kept = network.build(
        config, (cache.read_bytes() if cache.is_file() else b"") if is_timed else None
    )
    _replace(Path(job.plan), plan)
    if kept:
        _replace(cache, kept)
    memory = builder_api.device_memory_bytes(trt, plan) if is_timed else 0
    return Outcome(
        error="",
        code="",
        tensorrt=str(trt.__version__),
        sm=sm,
        flags=tuple(flags),
        device_memory_bytes=memory,
        seconds=round(time.monotonic() - start_s, 1),
    )


def _prepare(job: Job, is_typed: bool) -> "Tuple[set[str], Path]":
    """(names of half-precision nodes, the graph to parse): typed networks get a typed graph."""
    import onnx

    from edge_tts.build.tensorrt.half import half_nodes, to_half

    source = Path(job.graph)
    light = onnx.load(str(source), load_external_data=False)
    half = half_nodes(light, job.precision, job.keep_fp32)
    if not is_typed or not half:
        return half, source
    typed = Path(job.plan).with_suffix(".typed.onnx")
    onnx.save(to_half(onnx.load(str(source)), half, job.half_io), str(typed))
    return half, typed


def _replace(path: Path, content: Any) -> None:
    temporary = path.with_name(path.name + ".new")
    with temporary.open("wb") as file:
        file.write(memoryview(content))
        file.flush()
        os.fsync(file.fileno())
    temporary.chmod(0o644)
    temporary.replace(path)


def outcome_path(job_path: Path) -> Path:
    """Where the result of a job is written."""
    return job_path.with_suffix(".outcome.json")


def main(arguments: List[str]) -> int:
    """Build the job named on the command line; every failure of the product ends in the outcome."""
    job_path = Path(arguments[0])
    try:
        outcome = build(Job.read(job_path))
    except EdgeTTSError as error:
        outcome = Outcome(str(error), error.code, "", "", (), 0, 0.0)
    outcome_path(job_path).write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    return 1 if outcome.error else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
