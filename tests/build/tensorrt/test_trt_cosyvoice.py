"""CosyVoice's TensorRT forms compute what its ONNX forms compute, and the parsers take them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import onnx  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tiny_cosyvoice import write_checkpoint  # noqa: E402

from edge_tts.build.cosyvoice import constants  # noqa: E402
from edge_tts.build.cosyvoice.checkpoint import read_checkpoint  # noqa: E402
from edge_tts.build.cosyvoice.parts import parts  # noqa: E402
from edge_tts.build.tensorrt import checker  # noqa: E402
from edge_tts.build.tensorrt.builder import EngineBuilder, Request, profiles  # noqa: E402
from edge_tts.build.tensorrt.cosyvoice import LENGTH, write_graphs  # noqa: E402
from edge_tts.build.tensorrt.cosyvoice_recording import record  # noqa: E402
from edge_tts.build.tensorrt.engine_process import Outcome  # noqa: E402
from edge_tts.build.tensorrt.gate import fit, graph_inputs, prove, read_recording  # noqa: E402
from edge_tts.build.tensorrt.machine_process import Machine  # noqa: E402
from edge_tts.build.tensorrt.recipe import (  # noqa: E402
    read_platform,
    read_recipe,
    recipe_path,
)
from edge_tts.build.tensorrt.recording import recording_path  # noqa: E402
from edge_tts.build.tensorrt.simulation import HalfPrecisionSimulation  # noqa: E402
from edge_tts.build.torch_voice.export import export_part  # noqa: E402
from edge_tts.runtime.onnx import OnnxEngine  # noqa: E402

CACHE_ROWS = 16


@pytest.fixture(scope="module", params=[1, 2])
def exported(request, tmp_path_factory):
    """(checkpoint, folder of the TensorRT forms, the ONNX form of the language model)."""
    folder = tmp_path_factory.mktemp(f"trt{request.param}")
    checkpoint = read_checkpoint(write_checkpoint(folder / "checkpoint", request.param))
    (folder / "graphs").mkdir()
    write_graphs(checkpoint, folder / "graphs")
    lm = next(part for part in parts(checkpoint) if part.name == "lm")
    export_part(lm, folder / "lm.onnx")
    return checkpoint, folder / "graphs", folder / "lm.onnx"


def test_every_parser_takes_every_part(exported):
    _, graphs, _ = exported
    found = sorted(graphs.glob("*.onnx"))
    assert len(found) >= 5
    for path in found:
        checker.require(onnx.load(str(path)), path.stem)


def test_the_guided_flow_is_a_batch_of_two(exported):
    _, graphs, _ = exported
    model = onnx.load(str(graphs / "estimator.onnx"))
    batches = {i.name: i.type.tensor_type.shape.dim[0].dim_value for i in model.graph.input}
    assert {batches[name] for name in ("state", "mu", "cond", "speaker", "time")} == {2}


def test_a_cache_of_fixed_size_decodes_what_a_growing_one_does(exported):
    checkpoint, graphs, growing = exported
    positions = constants.tables(checkpoint).positions
    random = np.random.RandomState(0)
    with OnnxEngine(growing, n_threads=1) as theirs, OnnxEngine(graphs / "lm.onnx") as ours:
        width = next(
            i.type.tensor_type.shape.dim[1].dim_value
            for i in onnx.load(str(growing)).graph.input
            if i.name == "x"
        )
        x = random.standard_normal((12, width)).astype(np.float32)
        first = {"x": x[:1], "cache": np.zeros((0, *cache_shape(growing)), np.float32)}
        assert set(ours.inputs) == {*theirs.inputs, LENGTH}
        past = first["cache"]
        # What lies in rows that do not count must not matter.
        fixed = random.standard_normal((CACHE_ROWS, *past.shape[1:])).astype(np.float32)
        for start, end in ((0, 5), (5, 6), (6, 7), (7, 12)):
            n = end - start
            one, two = {"x": x[start:end], "cache": past}, {"x": x[start:end], "cache": fixed}
            two[LENGTH] = np.array([start], np.int32)
            if positions is not None:
                one["positions"], two["positions"] = positions[:end], positions[: CACHE_ROWS + n]
            wanted, found = theirs.run(one), ours.run(two)
            for name, value in wanted.items():
                assert np.abs(found[name] - value).max() < 1e-4 * max(1, np.abs(value).max()), name
            past = np.concatenate([past, wanted["new_cache"]])
            fixed[start:end] = found["new_cache"]


def cache_shape(path):
    (cache,) = [i for i in onnx.load(str(path)).graph.input if i.name == "cache"]
    return [dimension.dim_value for dimension in cache.type.tensor_type.shape.dim[1:]]


def loud_flow(folder):
    """CosyVoice 1's flow with activations that half precision cannot hold, as published ones have.

    The published estimator yields NaN in half precision; weights of that kind are not at hand, so
    the tiny one's first convolution is made louder and the norm behind it makes up for that.
    """
    path = write_checkpoint(folder / "loud", 1)
    weights = torch.load(path / "flow.pt", weights_only=True)
    weights["decoder.estimator.down_blocks.0.0.block1.block.0.weight"] *= 1e6
    torch.save(weights, path / "flow.pt")
    return read_checkpoint(path)


def test_cosyvoice_1s_flow_leaves_half_precision_by_itself(tmp_path):
    voice, graphs = tmp_path / "voice", tmp_path / "graphs"
    for folder in (voice, graphs):
        folder.mkdir()
    (voice / "voice.yaml").write_text("a voice")
    checkpoint = loud_flow(tmp_path)
    write_graphs(checkpoint, graphs)
    record(checkpoint, graphs)
    recipe = read_recipe(recipe_path("cosyvoice-300m"))
    # The recipe's lengths are a real voice's; here every axis may be short.
    small = tuple(
        replace(part, profiles=(dict.fromkeys(part.profiles[0], (4, 8, 16)),))
        for part in recipe.parts
        if part.name in {"estimator", "f0"}
    )
    platform = replace(read_platform("generic"), builder_mib=0, workspace_mib=1)
    request = Request(
        *(voice, graphs, replace(recipe, parts=small), platform, "tensorrt", "board", "mode")
    )
    lines = []
    processes = (Simulated.build, Simulated.judge, Simulated.describe)
    builder = EngineBuilder(request, lines.append, *processes)
    f0, estimator = builder.run(("f0", "estimator"))
    assert (f0.plan.precision, estimator.plan.precision) == ("fp32", "fp32")
    assert estimator.gate.passed
    for precision in ("fp16", "fp16-matrices"):
        assert f"{precision}: it yields values that are not numbers" in estimator.gate.reason


class Simulated:
    """Plans that hold nothing, judged by the simulation of half precision."""

    @staticmethod
    def build(job, job_path):
        Path(job.plan).write_bytes(b"plan")
        return Outcome("", "", "8.5.2.2", "7.2", (), 0, 0.0)

    @staticmethod
    def describe(module, task_path):
        return Machine("", "", "8.5.2.2", "7.2")

    @staticmethod
    def judge(trial, trial_path):
        with OnnxEngine(Path(trial.graph)) as reference:
            return prove(trial, reference, HalfPrecisionSimulation)


def test_every_part_has_a_recorded_input_that_fits_its_recipe(exported, tmp_path):
    checkpoint, graphs, _ = exported
    record(checkpoint, tmp_path)
    name = "cosyvoice-300m" if (graphs / "text_encoder.onnx").exists() else "cosyvoice2-0.5b"
    recipe = read_recipe(recipe_path(name))
    assert {path.stem for path in graphs.glob("*.onnx")} == {part.name for part in recipe.parts}
    for part in recipe.parts:
        dimensions = graph_inputs(graphs / f"{part.name}.onnx")
        recorded = read_recording(recording_path(tmp_path, part.name))
        inputs = fit(recorded, dimensions, recipe.part(part.name), 0, 0)
        with OnnxEngine(graphs / f"{part.name}.onnx") as engine:
            outputs = engine.run(inputs)
        assert all(np.isfinite(value).all() for value in outputs.values()), part.name


@pytest.mark.filterwarnings("ignore")
def test_the_fast_generator_becomes_graphs_every_parser_takes(tmp_path):
    from edge_tts.build.fast_voice.export import export
    from edge_tts.build.fast_voice.model import Student, StudentConfig
    from edge_tts.build.tensorrt.kokoro import fast_graphs

    export(Student(StudentConfig()).eval(), tmp_path / "fast_generator.onnx")
    graphs = fast_graphs(tmp_path)
    assert set(graphs) == {"fast_generator", "fast_generator_condition"}
    recipe = read_recipe(recipe_path("kokoro"))
    for name, model in graphs.items():
        checker.require(model, name)
        onnx.save(model, str(tmp_path / "written.onnx"))
        assert profiles(tmp_path / "written.onnx", recipe.part(name))
