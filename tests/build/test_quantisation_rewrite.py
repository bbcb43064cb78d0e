"""Rewritten layers compute what they stand for, within what their bits allow."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from edge_tts.build.quantisation import kinds
from edge_tts.build.quantisation.files import store_quantised
from edge_tts.build.quantisation.layers import Exclusion, linear_layers
from edge_tts.build.quantisation.packing import in_blocks, per_column
from edge_tts.build.quantisation.rewrite import levels_of, quantise_model
from edge_tts.errors import InputError
from edge_tts.runtime.onnx import OnnxEngine, runtime_version, weights_path

N_INPUTS, N_OUTPUTS = 70, 48
LARGEST_SHARE = {
    kinds.FP16: 1e-3,
    kinds.INT8: 0.02,
    kinds.INT8_STATIC: 0.02,
    kinds.INT8_WEIGHTS: 0.02,
    kinds.INT4: 0.15,
}


def layer(op_type):
    """A linear layer as the exporter writes it: `MatMul`, or `Gemm` with a bias."""
    random = np.random.RandomState(0)
    weight = random.standard_normal((N_INPUTS, N_OUTPUTS)).astype(np.float32)
    bias = random.standard_normal(N_OUTPUTS).astype(np.float32)
    if op_type == "Gemm":
        node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="linear", transB=1)
        constants = {"w": weight.T, "b": bias}
    else:
        node = helper.make_node("MatMul", ["x", "w"], ["y"], name="linear")
        constants, bias = {"w": weight}, 0
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", N_INPUTS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", N_OUTPUTS])],
        [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    return model, weight, bias


def _onnxruntime():
    return tuple(int(part) for part in runtime_version().split(".")[:2])


@pytest.mark.parametrize("op_type", ["MatMul", "Gemm"])
@pytest.mark.parametrize("kind", LARGEST_SHARE)
def test_a_quantised_layer_is_near_the_layer(tmp_path, op_type, kind):
    if kind == kinds.INT8_WEIGHTS and _onnxruntime() < (1, 22):
        pytest.skip("ONNX Runtime before 1.22 multiplies weights of 4 bits only")
    model, weight, bias = layer(op_type)
    source, target = tmp_path / "plain.onnx", tmp_path / "layer.onnx"
    onnx.save(model, str(source))
    x = np.random.RandomState(1).standard_normal((5, N_INPUTS)).astype(np.float32)
    changed = store_quantised(source, target, kind, ranges={"x": (x.min(), x.max())})
    assert [one.name for one in changed] == ([] if kind == kinds.FP16 else ["linear"])
    with OnnxEngine(target, n_threads=1) as engine:
        found = engine.run({"x": x})["y"]
    wanted = x @ weight + bias
    share = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    assert 0 < share < LARGEST_SHARE[kind]


def test_half_precision_halves_the_file(tmp_path):
    model, weight, _ = layer("MatMul")
    onnx.save(model, str(tmp_path / "plain.onnx"))
    store_quantised(tmp_path / "plain.onnx", tmp_path / "half.onnx", kinds.FP16)
    assert weights_path(tmp_path / "half.onnx").stat().st_size == weight.nbytes // 2


def test_a_weight_too_large_for_half_precision_stays(tmp_path):
    model, weight, _ = layer("MatMul")
    weight[0, 0] = 1e6
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weight, "w"))
    onnx.save(model, str(tmp_path / "plain.onnx"))
    store_quantised(tmp_path / "plain.onnx", tmp_path / "half.onnx", kinds.FP16)
    x = np.eye(1, N_INPUTS, dtype=np.float32)
    with OnnxEngine(tmp_path / "half.onnx", n_threads=1) as engine:
        assert engine.run({"x": x})["y"][0, 0] == 1e6


@pytest.mark.parametrize("exclusion", [Exclusion(("lin*",)), Exclusion(types=("MatMul",))])
def test_excluded_layers_stay(exclusion):
    model, _, _ = layer("MatMul")
    assert quantise_model(model, kinds.INT8, exclusion) == ()
    assert [node.op_type for node in model.graph.node] == ["MatMul"]


def test_a_name_is_excluded_literally():
    assert Exclusion().and_names(("a[0]*",)).covers("a[0]*", "MatMul")
    assert not Exclusion().and_names(("a[0]*",)).covers("a0b", "MatMul")


def test_a_gemm_with_factors_is_no_plain_layer():
    model, _, _ = layer("Gemm")
    model.graph.node[0].attribute.append(helper.make_attribute("alpha", 0.5))
    assert linear_layers(model.graph) == []


def test_static_ranges_must_be_known():
    model, _, _ = layer("MatMul")
    with pytest.raises(InputError, match="--texts"):
        quantise_model(model, kinds.INT8_STATIC)


@given(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
@settings(deadline=None)
def test_levels_hold_zero_exactly_and_the_whole_range(low, high):
    step, zero = levels_of((min(low, high), max(low, high)))
    assert 0 <= zero <= 255
    assert (0 - zero) * step <= min(low, high, 0) + step
    assert (255 - zero) * step >= max(low, high, 0) - step


def test_four_bits_are_exact_for_what_they_can_hold():
    levels = np.random.RandomState(0).randint(-8, 8, (64, 3)).astype(np.float32)
    levels[0], levels[32] = -8, -8
    packed, scales = in_blocks(levels * 0.25, 4)
    assert packed.shape == (3, 2, 16)
    assert np.allclose(scales, 0.25)
    low, high = packed & 15, packed >> 4
    unpacked = np.stack([low, high], axis=3).reshape(3, 64).astype(np.float32) - 8
    assert np.array_equal(unpacked.T, levels)


def test_a_block_of_zeros_stays_zero():
    packed, scales = in_blocks(np.zeros((32, 2), np.float32), 4)
    assert not scales.any()
    assert np.all(packed == 0x88)


def test_a_column_of_zeros_stays_zero():
    whole, scales = per_column(np.zeros((4, 2), np.float32))
    assert not whole.any()
    assert np.isfinite(scales).all()
