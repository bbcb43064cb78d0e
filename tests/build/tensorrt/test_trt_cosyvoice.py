"""CosyVoice's TensorRT forms compute what its ONNX forms compute, and the parsers take them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import onnx  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tiny_cosyvoice import write_checkpoint  # noqa: E402

from edge_tts.build.cosyvoice import constants  # noqa: E402
from edge_tts.build.cosyvoice.checkpoint import read_checkpoint  # noqa: E402
from edge_tts.build.cosyvoice.export import export_part  # noqa: E402
from edge_tts.build.cosyvoice.parts import parts  # noqa: E402
from edge_tts.build.tensorrt import checker  # noqa: E402
from edge_tts.build.tensorrt.cosyvoice import LENGTH, write_graphs  # noqa: E402
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
