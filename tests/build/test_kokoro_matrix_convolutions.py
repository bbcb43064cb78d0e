"""A convolution written as a product of matrices gives the same integers."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from edge_tts.build.kokoro import processor
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.matrix_convolutions import multiply_convolutions

N_CHANNELS, N_OUTPUTS = 64, 5


def convolution(weights, *, pads, dilation=1, stride=1, x_zero=120, zero=70):
    node = helper.make_node(
        "ConvInteger",
        ["x", "weights", "x_zero", "zero"],
        ["y"],
        kernel_shape=[weights.shape[2]],
        pads=pads,
        dilations=[dilation],
        strides=[stride],
    )
    known = {
        "weights": weights,
        "x_zero": np.array(x_zero, np.uint8),
        "zero": np.array(zero, np.uint8),
    }
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, weights.shape[1], "T"])
    return Graph([node], known, [x], [helper.make_tensor_value_info("y", TensorProto.INT32, None)])


def random_weights(n_taps, largest=127, seed=0):
    shape = (N_OUTPUTS, N_CHANNELS, n_taps)
    return np.random.default_rng(seed).integers(0, largest + 1, shape).astype(np.uint8)


def run(graph, x):
    session = onnxruntime.InferenceSession(
        graph.to_model().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})[0]


@settings(max_examples=25, deadline=None)
@given(
    n_taps=st.sampled_from([1, 3, 5, 7]),
    dilation=st.integers(1, 3),
    margins=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    x_zero=st.integers(0, 255),
    zero=st.integers(0, 127),
    seed=st.integers(0, 999),
)
def test_the_sums_are_the_same(n_taps, dilation, margins, x_zero, zero, seed):
    weights = random_weights(n_taps, seed=seed)
    x = np.random.default_rng(seed).integers(0, 256, (1, N_CHANNELS, 40)).astype(np.uint8)

    def graph():
        return convolution(weights, pads=[*margins], dilation=dilation, x_zero=x_zero, zero=zero)

    product = graph()
    assert multiply_convolutions(product) == 1
    assert "ConvInteger" not in {node.op_type for node in product.nodes}
    np.testing.assert_array_equal(run(product, x), run(graph(), x))


def test_extremes_do_not_saturate():
    weights = np.full((N_OUTPUTS, N_CHANNELS, 3), 127, np.uint8)
    weights[:, ::2] = 0
    x = np.full((1, N_CHANNELS, 20), 255, np.uint8)
    product = convolution(weights, pads=[1, 1], x_zero=0, zero=0)
    multiply_convolutions(product)
    inner = run(product, x)[0, :, 1:-1]
    assert (inner == 255 * 127 * 3 * N_CHANNELS // 2).all()


@pytest.mark.parametrize("reason", ["stride", "8-bit weights", "narrow"])
def test_others_stay_as_they_are(reason):
    graph = convolution(random_weights(3), pads=[1, 1])
    if reason == "stride":
        graph = convolution(random_weights(3), pads=[1, 1], stride=2)
    elif reason == "8-bit weights":
        graph = convolution(random_weights(3, largest=255), pads=[1, 1])
    else:
        graph = convolution(random_weights(3)[:, :8], pads=[1, 1])
    assert multiply_convolutions(graph) == 0
    assert [node.op_type for node in graph.nodes] == ["ConvInteger"]


@pytest.mark.parametrize(("product_s", "expected"), [(0.89, True), (0.91, False)])
def test_a_processor_gets_products_when_they_are_clearly_faster(monkeypatch, product_s, expected):
    monkeypatch.setattr(processor, "_best_times", lambda sessions, activations: [product_s, 1.0])
    assert processor.prefers_matrices() == expected
