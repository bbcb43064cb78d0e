"""Half precision goes where the recipe lets it; for the rest a typed graph is the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from trt_graphs import WIDTH, normed_convolution, save

from edge_tts.build.tensorrt.half import LARGEST, half_nodes, to_half
from edge_tts.build.tensorrt.recipe import FP16, FP16_MATRICES, FP32, KeepFp32
from edge_tts.build.tensorrt.simulation import rounded
from edge_tts.runtime.onnx import OnnxEngine

NORMS = KeepFp32(("ReduceMean", "Sqrt"))


def run(path, **inputs):
    with OnnxEngine(path, n_threads=1) as engine:
        return engine.run(inputs)["y"]


def typed(source, target, precision, keep, half_io=()):
    model = onnx.load(str(source))
    onnx.save(to_half(model, half_nodes(model, precision, keep), half_io), str(target))
    return target


@pytest.fixture
def graph(tmp_path):
    return normed_convolution(tmp_path / "graph.onnx")


@pytest.fixture
def sound():
    return np.random.RandomState(2).standard_normal((1, WIDTH, 30)).astype(np.float32)


def test_kept_operators_take_their_arithmetic_along(graph):
    model = onnx.load(str(graph))
    every = {node.name for node in model.graph.node}
    assert half_nodes(model, FP16, KeepFp32()) == every
    assert half_nodes(model, FP16, NORMS) == {"wide", "y"}
    assert half_nodes(model, FP16, KeepFp32(nodes=("^wi",))) == every - {"wide"}
    assert half_nodes(model, FP16_MATRICES, NORMS) == {"wide"}
    assert half_nodes(model, FP32, NORMS) == set()


@pytest.mark.parametrize("precision", [FP16, FP16_MATRICES])
def test_a_typed_graph_computes_nearly_the_same(graph, tmp_path, sound, precision):
    wanted = run(graph, x=sound)
    found = run(typed(graph, tmp_path / "typed.onnx", precision, NORMS), x=sound)
    assert found.dtype == np.float32
    worst = np.abs(found - wanted).max()
    assert 0 < worst < 5e-3, "half precision must show, and only a little"


def test_no_half_node_leaves_the_graph_as_it_is(graph, tmp_path, sound):
    same = typed(graph, tmp_path / "typed.onnx", FP32, NORMS)
    assert np.array_equal(run(same, x=sound), run(graph, x=sound))


def simulated(source, target, precision, keep, half_io=()):
    model = onnx.load(str(source))
    onnx.save(rounded(model, half_nodes(model, precision, keep), half_io), str(target))
    return target


def test_what_overflows_on_a_gpu_overflows_in_the_simulation(tmp_path, sound):
    loud = normed_convolution(tmp_path / "loud.onnx", level=1000.0)
    assert np.isfinite(run(loud, x=sound)).all()
    squares = simulated(loud, tmp_path / "a.onnx", FP16, KeepFp32())
    # An infinite variance makes all of it silence, or NaN, as ONNX Runtime's Relu pleases.
    assert not np.any(np.nan_to_num(run(squares, x=sound)))
    norms_apart = simulated(loud, tmp_path / "b.onnx", FP16, NORMS)
    assert np.isfinite(run(norms_apart, x=sound)).all()


def test_the_simulation_rounds_as_numpy_does(tmp_path, sound):
    nodes = [("Neg", ["x"], "z", {}), ("Mul", ["z", "third"], "y", {})]
    path = save(tmp_path / "graph.onnx", nodes, {"third": np.float32(1 / 3)}, outputs=("y", "z"))
    made = simulated(path, tmp_path / "rounded.onnx", FP16, KeepFp32())
    with OnnxEngine(made, n_threads=1) as engine:
        found = engine.run({"x": sound})
    halves = -sound.astype(np.float16)
    assert np.array_equal(found["z"], halves.astype(np.float32))
    product = halves.astype(np.float32) * np.float32(np.float16(1 / 3))
    assert np.array_equal(found["y"], product.astype(np.float16).astype(np.float32))


def test_a_cache_is_rounded_even_where_nothing_else_is(tmp_path, sound):
    path = save(tmp_path / "graph.onnx", [("Identity", ["x"], "y", {})], {})
    made = simulated(path, tmp_path / "rounded.onnx", FP32, KeepFp32(), ("x",))
    assert np.array_equal(run(made, x=sound), sound.astype(np.float16).astype(np.float32))


def test_constants_too_large_are_clipped_and_integers_left_alone(tmp_path):
    nodes = [
        ("Mul", ["x", "huge"], "loud", {}),
        ("Shape", ["x"], "shape", {}),
        ("Reshape", ["loud", "shape"], "y", {}),
    ]
    path = save(tmp_path / "graph.onnx", nodes, {"huge": np.float32(1e30)})
    model = onnx.load(str(path))
    made = to_half(model, half_nodes(model, FP16, KeepFp32()))
    (huge,) = [onnx.numpy_helper.to_array(t) for t in made.graph.initializer]
    assert (huge.dtype, float(huge)) == (np.float16, LARGEST)


def test_a_cache_can_cross_the_border_in_half_precision(graph, tmp_path, sound):
    path = typed(graph, tmp_path / "typed.onnx", FP16, NORMS, ("x", "y"))
    model = onnx.load(str(path))
    for item in (*model.graph.input, *model.graph.output):
        assert item.type.tensor_type.elem_type == TensorProto.FLOAT16
    found = run(path, x=sound.astype(np.float16))
    assert found.dtype == np.float16
    assert np.abs(found - run(graph, x=sound)).max() < 1e-2


def test_an_output_read_again_inside_keeps_its_name(tmp_path, sound):
    nodes = [("Neg", ["x"], "z", {}), ("Neg", ["z"], "y", {})]
    path = save(tmp_path / "graph.onnx", nodes, {}, outputs=("y", "z"))
    made = typed(path, tmp_path / "typed.onnx", FP16, KeepFp32())
    with OnnxEngine(made, n_threads=1) as engine:
        found = engine.run({"x": sound})
    assert {value.dtype for value in found.values()} == {np.dtype(np.float32)}
    assert np.allclose(found["z"], -sound, atol=1e-2)
    assert np.array_equal(found["y"], -found["z"])
