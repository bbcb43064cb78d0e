"""Kokoro's quantised and fused operators become plain float ones that compute the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.tensorrt import checker
from edge_tts.build.tensorrt.dequantise import dequantise
from edge_tts.build.tensorrt.kokoro import drop_cancelled_biases, fast_graphs, part_names
from edge_tts.build.tensorrt.plain import name_nodes, narrow_input, write_out
from edge_tts.build.tensorrt.recipe import read_recipe, recipe_path
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.voices.kokoro.voice import FAST_CONDITION, FAST_GENERATOR

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
RANDOM = np.random.RandomState(0)


def node(op_type, inputs, *outputs, domain="", **attributes):
    return helper.make_node(
        op_type, list(inputs), list(outputs), outputs[0], domain=domain, **attributes
    )


def graph_of(nodes, constants, shape, element=FLOAT):
    return Graph(
        nodes,
        {name: np.asarray(value) for name, value in constants.items()},
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", FLOAT, None)],
    )


def run(graph, path, x):
    onnx.save(graph.to_model(), str(path))
    with OnnxEngine(path, n_threads=1) as engine:
        return engine.run({"x": x})["y"]


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def same(nodes, constants, shape, rewrite, tmp_path, *, x=None, tolerance=1e-5):
    """Rewrite a graph; its operators must be for every parser, and its results the same."""
    x = normal(*shape) if x is None else x
    element = INT64 if x.dtype == np.int64 else FLOAT
    graph = graph_of(nodes, constants, list(shape), element)
    wanted = run(graph, tmp_path / "before.onnx", x)
    assert rewrite(graph) > 0
    name_nodes(graph)
    if element == INT64:
        narrow_input(graph, "x")
        x = x.astype(np.int32)
    checker.require(graph.to_model(), "rewritten")
    found = run(graph, tmp_path / "after.onnx", x)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < tolerance * np.abs(wanted).max()
    return graph


QUANTISED = [node("DynamicQuantizeLinear", ["x"], "levels", "step", "zero")]
SCALED = [
    node("Mul", ["step", "weight_step"], "scale"),
    node("Cast", ["sums"], "whole", to=FLOAT),
    node("Mul", ["whole", "scale"], "y"),
]


@pytest.mark.parametrize("n_steps", [1, 3])
def test_a_quantised_convolution(tmp_path, n_steps):
    nodes = [
        *QUANTISED,
        node("ConvInteger", ["levels", "weights", "zero", "centre"], "raw", pads=[1, 1]),
        node("Mul", ["step", "weight_step"], "scale"),
        node("Div", ["bias", "step"], "bias_steps"),
        node("Floor", ["bias_steps"], "bias_floor"),
        node("Cast", ["bias_floor"], "bias_whole", to=TensorProto.INT32),
        node("Reshape", ["bias_whole", "shape"], "bias_row"),
        node("Add", ["raw", "bias_row"], "sums"),
        *SCALED[1:],
    ]
    constants = {
        "weights": RANDOM.randint(0, 255, (3, 4, 3)).astype(np.uint8),
        "centre": np.uint8(128),
        "weight_step": np.full(1 if n_steps == 1 else (1, 3, 1), 1.0, np.float32),
        "bias": normal(3) * 20,
        "shape": np.array([1, 3, 1]),
    }
    graph = same(nodes, constants, (1, 4, 50), dequantise, tmp_path, tolerance=2e-2)
    assert [n.op_type for n in graph.nodes] == ["Conv"]
    assert np.array_equal(graph.initializers["bias"], constants["bias"])


def test_quantised_products_that_share_their_weights_go_on_sharing_them(tmp_path):
    nodes = [
        *QUANTISED,
        node("MatMulInteger", ["levels", "weights", "zero", "centre"], "sums"),
        *SCALED[:2],
        node("Mul", ["whole", "scale"], "first"),
        node("DynamicQuantizeLinear", ["first"], "levels2", "step2", "zero2"),
        node("MatMulInteger", ["levels2", "weights", "zero2", "centre"], "sums2"),
        node("Mul", ["step2", "weight_step"], "scale2"),
        node("Cast", ["sums2"], "whole2", to=FLOAT),
        node("Mul", ["whole2", "scale2"], "y"),
    ]
    constants = {
        "weights": RANDOM.randint(-127, 127, (6, 6)).astype(np.int8),
        "centre": np.int8(0),
        "weight_step": np.float32(0.01),
    }
    graph = same(nodes, constants, (1, 9, 6), dequantise, tmp_path, tolerance=3e-2)
    assert [n.op_type for n in graph.nodes] == ["MatMul", "MatMul"]
    assert len(graph.initializers) == 1


def test_a_quantised_embedding_and_narrow_tokens(tmp_path):
    nodes = [
        node("Gather", ["table", "x"], "rows", axis=0),
        node("DequantizeLinear", ["rows", "step", "centre"], "y"),
    ]
    constants = {
        "table": RANDOM.randint(0, 255, (10, 4)).astype(np.uint8),
        "step": np.float32(0.1),
        "centre": np.uint8(120),
    }
    tokens = RANDOM.randint(0, 10, (1, 7))
    graph = same(nodes, constants, (1, 7), dequantise, tmp_path, x=tokens)
    assert graph.inputs[0].type.tensor_type.elem_type == TensorProto.INT32


@pytest.mark.parametrize("per_column", [False, True])
def test_a_quantised_lstm(tmp_path, per_column):
    size, width = 5, 4
    shape = (2, 4 * size) if per_column else (2,)
    names = ["x", "w", "r", "b", "", "h", "c", "", "ws", "wz", "rs", "rz"]
    nodes = [
        node(
            "DynamicQuantizeLSTM",
            names,
            "y",
            domain="com.microsoft",
            hidden_size=size,
            direction="bidirectional",
        )
    ]
    constants = {
        "w": RANDOM.randint(-127, 127, (2, width, 4 * size)).astype(np.int8),
        "r": RANDOM.randint(-127, 127, (2, size, 4 * size)).astype(np.int8),
        "b": normal(2, 8 * size),
        "h": np.zeros((2, 1, size), np.float32),
        "c": np.zeros((2, 1, size), np.float32),
        "ws": np.full(shape, 0.01, np.float32),
        "wz": np.zeros(shape, np.int8),
        "rs": np.full(shape, 0.005, np.float32),
        "rz": np.zeros(shape, np.int8),
    }
    graph = same(nodes, constants, (8, 1, width), dequantise, tmp_path, tolerance=3e-2)
    assert [n.op_type for n in graph.nodes] == ["LSTM"]


def test_a_fused_gelu(tmp_path):
    nodes = [node("FastGelu", ["x", "b"], "y", domain="com.microsoft")]
    same(nodes, {"b": normal(6)}, (1, 4, 6), write_out, tmp_path)


@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5}])
def test_an_elu(tmp_path, attributes):
    graph = same([node("Elu", ["x"], "y", **attributes)], {}, (1, 4, 6), write_out, tmp_path)
    assert "Elu" not in {item.op_type for item in graph.nodes}


def test_layer_norms(tmp_path):
    constants = {"g": normal(6), "o": normal(6), "b": normal(6)}
    nodes = [
        node("LayerNormalization", ["x", "g", "o"], "n", axis=-1, epsilon=1e-12),
        node(
            "SkipLayerNormalization",
            ["x", "n", "g", "o", "b"],
            *("z", "", "", "sum"),
            domain="com.microsoft",
            epsilon=1e-5,
        ),
        node("Add", ["z", "sum"], "y"),
    ]
    same(nodes, constants, (1, 4, 6), write_out, tmp_path, tolerance=1e-4)


def test_a_fused_product(tmp_path):
    attributes = {"transA": 1, "transB": 0, "alpha": 1.0}
    nodes = [node("FusedMatMul", ["x", "w"], "y", domain="com.microsoft", **attributes)]
    same(nodes, {"w": normal(1, 4, 3)}, (1, 4, 6), write_out, tmp_path)
    other = [node("FusedMatMul", ["x", "w"], "y", domain="com.microsoft", transB=1)]
    with pytest.raises(ValueError, match="not written out yet"):
        write_out(graph_of(other, {"w": normal(1, 4, 3)}, [1, 4, 6]))


def test_doubling_and_other_resizes(tmp_path):
    scales = {"s": np.array([1, 1, 2], np.float32)}
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    nodes = [node("Resize", ["x", "", "s"], "y", mode="nearest", **attributes)]
    same(nodes, scales, (1, 4, 6), write_out, tmp_path)
    threefold = {"s": np.array([1, 1, 3], np.float32)}
    graph = graph_of(nodes, threefold, [1, 4, 6])
    assert write_out(graph) == 0
    assert [n.op_type for n in graph.nodes] == ["Resize"]


def test_only_biases_that_a_norm_cancels_are_dropped():
    nodes = [
        node("Conv", ["x", "w", "b"], "/convs1.0/first"),
        node("ReduceMean", ["/convs1.0/first"], "mean", axes=[2]),
        node("Conv", ["/convs1.0/first", "w", "b"], "/convs2.0/second"),
        node("Add", ["/convs2.0/second", "mean"], "y"),
    ]
    constants = {"w": normal(4, 4, 1), "b": normal(4)}
    kept = graph_of(nodes, constants, [1, 4, 6])
    assert drop_cancelled_biases(kept) == 0, "another convolution reads it too"
    nodes[2] = node("Mul", ["/convs1.0/first", "scale"], "/convs2.0/second")
    dropped = graph_of(nodes, {**constants, "scale": normal(1)}, [1, 4, 6])
    assert drop_cancelled_biases(dropped) == 1
    assert "b" not in dropped.initializers


def test_nodes_get_names_of_their_own():
    graph = graph_of([node("Neg", ["x"], "a"), node("Neg", ["a"], "y")], {}, [1])
    for item in graph.nodes:
        item.name = "same"
    name_nodes(graph)
    assert sorted(item.name for item in graph.nodes) == ["same", "same.2"]


def test_the_recipe_names_the_parts_there_are(tmp_path):
    names = [part.name for part in read_recipe(recipe_path("kokoro")).parts]
    assert names == [*part_names(), FAST_GENERATOR, FAST_CONDITION]
    assert fast_graphs(tmp_path) == {}
