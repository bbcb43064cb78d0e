"""Engines on ONNX Runtime: names, errors, closing, threads."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from edge_tts.errors import EngineError
from edge_tts.runtime import onnx as onnx_engines
from edge_tts.runtime import threads
from edge_tts.runtime.memory import can_share_arena
from edge_tts.runtime.onnx import OnnxEngine, optimise, weights_path


@pytest.fixture
def model_path(tmp_path):
    """y = x · weights, 64 inputs, 32 outputs."""
    weights = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    path = tmp_path / "product.onnx"
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return path


def test_runs_by_name(model_path):
    with OnnxEngine(model_path, n_threads=1) as engine:
        outputs = engine.run({"x": np.eye(64, dtype=np.float32)})
    assert (engine.inputs, engine.outputs) == (("x",), ("y",))
    assert np.array_equal(outputs["y"].ravel(), np.arange(64 * 32))


@pytest.mark.parametrize(
    ("version", "machine", "can"),
    [
        ("1.19.2", "aarch64", False),  # the newest for Python 3.8 and 3.9: JetPack 5, Debian 11
        ("1.19.2", "x86_64", True),
        ("1.20.0", "aarch64", True),
        ("2.0.0", "aarch64", True),
    ],
)
def test_old_releases_share_an_arena_on_x86_64_only(version, machine, can):
    assert can_share_arena(version, machine) is can


def test_a_session_with_an_arena_of_its_own_runs_and_shrinks(model_path, monkeypatch):
    monkeypatch.setattr(onnx_engines, "share_arena", lambda: False)
    with OnnxEngine(model_path, n_threads=1) as engine:
        for _ in range(2):
            outputs = engine.run({"x": np.eye(64, dtype=np.float32)})
    assert np.array_equal(outputs["y"].ravel(), np.arange(64 * 32))


def test_an_observer_is_told_of_runs_that_succeed(model_path):
    told = []
    with OnnxEngine(model_path, n_threads=1) as engine:
        engine.observer = lambda inputs, outputs: told.append((inputs["x"], outputs["y"]))
        x = np.eye(64, dtype=np.float32)
        y = engine.run({"x": x})["y"]
        with pytest.raises(EngineError):
            engine.run({"x": x[:, :5]})
    assert len(told) == 1
    assert told[0][0] is x
    assert told[0][1] is y


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"z": np.zeros((1, 64), np.float32)},
        {"x": np.zeros((1, 63), np.float32)},
        {"x": np.zeros((1, 64), np.int64)},
    ],
    ids=["nothing", "wrong name", "wrong shape", "wrong type"],
)
def test_wrong_inputs_are_engine_errors(model_path, inputs):
    with OnnxEngine(model_path) as engine, pytest.raises(EngineError) as error:
        engine.run(inputs)
    assert error.value.code == "engine.run_failed"
    assert "product.onnx" in str(error.value)


@pytest.mark.parametrize("content", [b"", b"not a model" * 50], ids=["empty", "noise"])
def test_what_is_no_graph_is_refused(tmp_path, content):
    path = tmp_path / "noise.onnx"
    path.write_bytes(content)
    with pytest.raises(EngineError, match=r"noise\.onnx") as error:
        OnnxEngine(path)
    assert error.value.code == "engine.load_failed"


def test_a_closed_engine_says_so(model_path):
    engine = OnnxEngine(model_path)
    assert engine.memory_bytes == model_path.stat().st_size
    engine.close()
    engine.close()
    assert engine.memory_bytes == 0
    with pytest.raises(EngineError) as error:
        engine.run({"x": np.zeros((1, 64), np.float32)})
    assert error.value.code == "engine.closed"


def test_an_optimised_graph_keeps_its_weights_outside_and_its_results(model_path, tmp_path):
    target = tmp_path / "optimised.onnx"
    optimise(model_path, target)
    assert weights_path(target).stat().st_size >= 64 * 32 * 4
    x = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)
    with OnnxEngine(model_path) as plain, OnnxEngine(target) as optimised:
        assert np.array_equal(plain.run({"x": x})["y"], optimised.run({"x": x})["y"])


def test_missing_weights_are_an_engine_error(model_path, tmp_path):
    target = tmp_path / "optimised.onnx"
    optimise(model_path, target)
    weights_path(target).unlink()
    with pytest.raises(EngineError) as error:
        OnnxEngine(target)
    assert error.value.code == "engine.load_failed"


@pytest.mark.parametrize(("mask", "expected"), [({3}, 1), ({0, 5}, 2), (set(range(64)), 4)])
def test_threads_follow_the_affinity_mask(monkeypatch, mask, expected):
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: mask)
    assert threads.default_threads() == expected
