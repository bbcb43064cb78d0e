"""Engines are built once, judged before they are kept, and given up for ONNX Runtime in the end."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from trt_graphs import normed_convolution, recording

from edge_tts.build.tensorrt import children, headroom
from edge_tts.build.tensorrt.builder import EngineBuilder, Request, profiles
from edge_tts.build.tensorrt.engine_process import Job, Outcome
from edge_tts.build.tensorrt.gate import Trial, prove
from edge_tts.build.tensorrt.headroom import Memory
from edge_tts.build.tensorrt.machine_process import Machine
from edge_tts.build.tensorrt.recipe import (
    KeepFp32,
    Limits,
    PartRecipe,
    Recipe,
    read_platform,
)
from edge_tts.build.tensorrt.simulation import HalfPrecisionSimulation
from edge_tts.errors import BudgetError, EngineError
from edge_tts.runtime.engine_manifest import Bounds, EngineManifest, GateResult
from edge_tts.runtime.onnx import OnnxEngine

PLATFORM = replace(read_platform("generic"), builder_mib=0, workspace_mib=1)
NORMS = KeepFp32(("ReduceMean", "Sqrt"))


class Workshop:
    """Stands in for the two processes: plans are their job's text, judged by the simulation."""

    def __init__(self, fails=(), machine=Machine("", "", "8.5.2.2", "7.2")):  # noqa: B008
        self.jobs, self.machine = [], machine
        self.fails = dict(fails)

    def build(self, job: Job, job_path: Path) -> Outcome:
        self.jobs.append((Path(job.graph).stem, job.precision))
        if job.precision in self.fails:
            raise self.fails[job.precision]
        Path(job.plan).write_text(f"{job.graph} {job.precision}")
        machine = self.machine
        return Outcome("", "", machine.tensorrt, machine.sm, ("FP16",), 1 << 20, 1.0)

    def describe(self, module: str, task_path: Path) -> Machine:
        return self.machine

    def judge(self, trial: Trial, trial_path: Path) -> GateResult:
        with OnnxEngine(Path(trial.graph)) as reference:
            return prove(trial, reference, HalfPrecisionSimulation)


@pytest.fixture
def request_of(tmp_path):
    """A request for a voice of two parts whose activations reach a given level."""

    def make(*levels):
        voice, graphs = tmp_path / "voice", tmp_path / "graphs"
        voice.mkdir()
        graphs.mkdir()
        (voice / "voice.yaml").write_text("a voice")
        parts = []
        for number, level in enumerate(levels):
            name = f"part{number}"
            normed_convolution(graphs / f"{name}.onnx", level)
            recording(graphs / f"{name}.recording.npz")
            parts.append(PartRecipe(name, "fp16", ({"T": (4, 20, 50)},), NORMS))
        recipe = Recipe(1, "kokoro", "kokoro", Limits(40, 1.0), KeepFp32(), tuple(parts))
        return Request(voice, graphs, recipe, PLATFORM, "tensorrt", "a board", "a mode")

    return make


def run(request, workshop, lines=None):
    names = tuple(part.name for part in request.recipe.parts)
    report = lines.append if lines is not None else lambda line: None
    processes = (workshop.build, workshop.judge, workshop.describe)
    return EngineBuilder(request, report, *processes).run(names)


def test_good_parts_stay_in_half_precision(request_of):
    workshop, request = Workshop(), request_of(1.0, 2.0)
    first, second = run(request, workshop)
    assert workshop.jobs == [("part0", "fp16"), ("part1", "fp16")]
    assert first.plan.precision == "fp16"
    assert first.gate.passed and len(first.gate.comparisons) == 3
    assert first.profiles == ({"x": Bounds((1, 8, 4), (1, 8, 20), (1, 8, 50))},)
    assert (second.target.sm, second.target.board, second.target.power_mode) == (
        *("7.2", "a board", "a mode"),
    )
    folder = request.voice / "engines"
    for known in (first, second):
        assert EngineManifest.read(folder / f"{known.part}.json") == known
        known.verify(
            folder,
            platform="generic",
            trt_version="8.5.2.2",
            sm="7.2",
            voice_sha256=known.voice_sha256,
        )


def test_a_part_that_overflows_comes_out_in_single_precision(request_of):
    workshop, request = Workshop(), request_of(1.0, 1e6)
    good, loud = run(request, workshop)
    assert workshop.jobs[1:] == [("part1", p) for p in ("fp16", "fp16-matrices", "fp32")]
    assert (good.plan.precision, loud.plan.precision) == ("fp16", "fp32")
    assert loud.gate.passed
    assert "fp16: it yields values that are not numbers" in loud.gate.reason


def test_a_part_no_engine_can_serve_is_left_to_onnx_with_the_reasons(request_of):
    refusal = EngineError("no such layer", code="engine.build_failed")
    workshop = Workshop(dict.fromkeys(("fp16", "fp16-matrices", "fp32"), refusal))
    request = request_of(1.0)
    (known,) = run(request, workshop)
    assert known.plan is None
    assert known.gate.reason.count("no such layer") == 3
    assert not (request.voice / "engines/part0.plan").exists()
    with pytest.raises(EngineError, match="no such layer") as caught:
        known.verify(request.voice, platform="", trt_version="", sm="", voice_sha256="")
    assert caught.value.code == "engine.plan_rejected"


def test_without_tensorrt_nothing_is_tried_twice(request_of):
    missing = EngineError("no TensorRT", code="engine.tensorrt_missing")
    workshop = Workshop({"fp16": missing})
    with pytest.raises(EngineError, match="no TensorRT"):
        run(request_of(1.0, 1.0), workshop)
    assert len(workshop.jobs) == 1


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(request_of):
    request, cut = request_of(1.0, 1.0), Workshop()
    first_only = EngineBuilder(request, print, cut.build, cut.judge, cut.describe)
    first_only.run(("part0",))
    workshop = Workshop()
    run(request, workshop)
    assert workshop.jobs == [("part1", "fp16")]
    again = Workshop()
    run(request, again)
    assert again.jobs == []


@pytest.mark.parametrize(
    "change",
    [
        lambda r: (r.graphs / "part0.onnx").write_bytes(
            (r.graphs / "part0.onnx").read_bytes() + b"\x12\x00"
        ),
        lambda r: (r.voice / "voice.yaml").write_text("another voice"),
        lambda r: (r.voice / "engines/part0.plan").write_text("damaged"),
        lambda r: (r.voice / "engines/part0.plan").unlink(),
        lambda r: (r.voice / "engines/part0.json").write_text("{}"),
    ],
    ids=["graph", "voice", "damaged", "missing", "manifest"],
)
def test_what_changed_is_built_again(request_of, change):
    request = request_of(1.0)
    run(request, Workshop())
    change(request)
    workshop = Workshop()
    run(request, workshop)
    assert workshop.jobs == [("part0", "fp16")]


@pytest.mark.parametrize("machine", [("8.5.2.3", "7.2"), ("8.5.2.2", "8.7")])
def test_engines_of_another_tensorrt_or_gpu_are_built_again(request_of, machine):
    request = request_of(1.0)
    run(request, Workshop())
    workshop = Workshop(machine=Machine("", "", *machine))
    (known,) = run(request, workshop)
    assert workshop.jobs == [("part0", "fp16")]
    assert (known.target.tensorrt, known.target.sm) == machine


def test_another_board_than_the_platforms_is_refused_before_any_work(request_of):
    request = replace(request_of(1.0), platform=replace(PLATFORM, sm=("8.7",)))
    workshop = Workshop()
    with pytest.raises(EngineError, match=r"capability 7\.2, generic has 8\.7"):
        run(request, workshop)
    assert workshop.jobs == []


def test_memory_that_ran_out_ends_the_run_and_gives_no_part_up(request_of):
    request = request_of(1.0)
    faults = (
        EngineError("out of memory", code="engine.out_of_memory"),
        BudgetError("Linux killed the building process"),
    )
    for fault in faults:
        with pytest.raises(type(fault)):
            run(request, Workshop({"fp16": fault}))
        assert not (request.voice / "engines/part0.json").exists()
    workshop = Workshop()
    run(request, workshop)
    assert workshop.jobs == [("part0", "fp16")]


def test_another_recipe_builds_again(request_of):
    request = request_of(1.0)
    run(request, Workshop())
    workshop = Workshop()
    run(replace(request, platform=replace(PLATFORM, workspace_mib=2)), workshop)
    assert workshop.jobs == [("part0", "fp16")]


def test_an_engine_built_ahead_of_time_is_not_accepted(request_of):
    request = replace(request_of(1.0), compute_capabilities=("8.6",))
    (known,) = run(request, Workshop())
    assert known.plan is not None
    assert not known.gate.passed
    assert "ahead of time" in known.gate.reason


def test_progress_names_the_part_and_the_outcome(request_of):
    lines, request = [], request_of(1.0, 1e6)
    run(request, Workshop(), lines)
    assert lines[0] == "engine 1 of 2: part0"
    assert sorted(p.name for p in (request.voice / "engines").iterdir()) == [
        *("part0.json", "part0.plan", "part1.json", "part1.plan"),
    ]
    assert "engine 2 of 2: part1, about 1 min left in all" in lines
    assert lines[-1].startswith("part1: fp32 engine of")


def test_too_little_memory_is_said_before_it_runs_out(request_of, monkeypatch):
    monkeypatch.setattr(headroom, "read_memory", lambda: Memory(100, 0, True))
    request = replace(request_of(1.0), platform=replace(PLATFORM, builder_mib=2000))
    workshop = Workshop()
    with pytest.raises(BudgetError, match=r"isolate multi-user.*add swap.*run this again"):
        run(request, workshop)
    assert workshop.jobs == []


def test_advice_fits_what_is_missing():
    assert len(headroom.advice(Memory(0, 0, True), 500)) == 1
    assert "fallocate -l 2048M" in headroom.advice(Memory(0, 0, False), 1500)[0]
    assert headroom.advice(Memory(0, 0, False), 0) == ["stop other programs"]
    headroom.require(Memory(10, 3000, False), PLATFORM, "part", 1 << 20)
    with pytest.raises(BudgetError, match="not in swap"):
        headroom.require(
            Memory(10, 9000, False), replace(PLATFORM, workspace_mib=512), "part", 1 << 20
        )


def test_memory_is_read_from_proc(tmp_path):
    (tmp_path / "meminfo").write_text("MemAvailable: 2048 kB\nSwapFree: 1024 kB\nVoid:\n")
    (tmp_path / "12").mkdir()
    (tmp_path / "12/comm").write_text("sshd\n")
    assert headroom.read_memory(tmp_path) == Memory(2, 1, False)
    (tmp_path / "12/comm").write_text("gnome-shell\n")
    assert headroom.read_memory(tmp_path).has_desktop
    assert headroom.read_memory().available_mib > 0


def job(tmp_path, module="no_such_tensorrt"):
    graph = normed_convolution(tmp_path / "graph.onnx")
    part = PartRecipe("part", "fp16", ({"T": (4, 20, 50)},), NORMS)
    return Job(
        *(module, str(graph), str(tmp_path / "g.plan"), str(tmp_path / "t.cache"), "fp16", NORMS),
        profiles(graph, part),
        64,
        (),
        compute_capabilities=("8.6",),
    )


def test_a_child_reports_its_error_with_its_code(tmp_path):
    with pytest.raises(EngineError, match="no_such_tensorrt cannot be imported") as caught:
        children.build(job(tmp_path), tmp_path / "job.json")
    assert caught.value.code == "engine.tensorrt_missing"


def test_a_child_that_dies_is_told_from_one_that_fails(tmp_path):
    assert "SIGSEGV" in children._cause(-11)
    # A module that leaves no result.
    with pytest.raises(EngineError, match="left no result"):
        children._run("json.tool", tmp_path / "job.json", job(tmp_path), tmp_path / "none", Outcome)


def test_a_child_that_linux_kills_has_run_out_of_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    script = tmp_path / "kill"
    # `sh -m MODULE TASK` runs MODULE as a script.
    script.write_text("kill -9 $$")
    with pytest.raises(BudgetError, match="memory ran out"):
        children._run(str(script), tmp_path / "job", job(tmp_path), tmp_path / "none", Outcome)


def test_a_machine_without_tensorrt_is_said_to_have_none(tmp_path):
    with pytest.raises(EngineError, match="no_such_tensorrt") as caught:
        children.describe("no_such_tensorrt", tmp_path / "task.json")
    assert caught.value.code == "engine.tensorrt_missing"


def test_a_judge_that_dies_has_found_the_engine_unfit(tmp_path):
    graph = normed_convolution(tmp_path / "graph.onnx")
    part = PartRecipe("part", "fp16", ({"T": (4, 20, 50)},), NORMS, Limits(40, 1.0))
    a_trial = Trial(str(graph), "none.plan", str(recording(tmp_path / "r.npz")), "fp16", part)
    verdict = children.judge(a_trial, tmp_path / "trial.json")
    assert not verdict.passed
    assert json.loads((tmp_path / "trial.verdict.json").read_text())["passed"] is False
