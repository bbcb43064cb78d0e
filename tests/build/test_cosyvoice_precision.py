"""Quantised layers compute what they stand for, and builds that stray too far are refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import onnx
from onnx import TensorProto, helper, numpy_helper
from tiny_cosyvoice import write_checkpoint

from edge_tts.build.cosyvoice import gate
from edge_tts.build.cosyvoice.gate import Distance
from edge_tts.build.cosyvoice.precision import FP32, INT4, INT8, PRESETS, Precision
from edge_tts.build.cosyvoice.prepare import build
from edge_tts.build.cosyvoice.quantise import pack_int4, quantise
from edge_tts.errors import InputError, ModelError
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.voices.manifest import VoiceDirectory

N_INPUTS, N_OUTPUTS = 70, 48


def layer(path, kind):
    """A linear layer as the exporter writes it: `MatMul`, or `Gemm` with a bias."""
    random = np.random.RandomState(0)
    weight = random.standard_normal((N_INPUTS, N_OUTPUTS)).astype(np.float32)
    bias = random.standard_normal(N_OUTPUTS).astype(np.float32)
    if kind == "Gemm":
        node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)
        constants = {"w": weight.T, "b": bias}
    else:
        node, constants, bias = helper.make_node("MatMul", ["x", "w"], ["y"]), {"w": weight}, 0
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", N_INPUTS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", N_OUTPUTS])],
        [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    onnx.save(model, str(path))
    return weight, bias


@pytest.mark.parametrize("kind", ["MatMul", "Gemm"])
@pytest.mark.parametrize(("precision", "largest_share"), [(INT8, 0.02), (INT4, 0.15)])
def test_a_quantised_layer_is_near_the_layer(tmp_path, kind, precision, largest_share):
    path = tmp_path / "layer.onnx"
    weight, bias = layer(path, kind)
    assert quantise(path, precision) == 1
    kinds = {node.op_type for node in onnx.load(str(path)).graph.node}
    assert not kinds & {"MatMul", "Gemm"}
    assert {item.name for item in onnx.load(str(path)).graph.initializer} & {"w"} == set()
    x = np.random.RandomState(1).standard_normal((5, N_INPUTS)).astype(np.float32)
    with OnnxEngine(path, n_threads=1) as engine:
        found = engine.run({"x": x})["y"]
    wanted = x @ weight + bias
    share = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    assert 0 < share < largest_share


def test_four_bits_are_exact_for_what_they_can_hold():
    levels = np.random.RandomState(0).randint(-8, 8, (64, 3)).astype(np.float32)
    levels[0], levels[32] = -8, -8
    packed, scales = pack_int4(levels * 0.25)
    assert packed.shape == (3, 2, 16)
    assert np.allclose(scales, 0.25)
    low, high = packed & 15, packed >> 4
    unpacked = np.stack([low, high], axis=3).reshape(3, 64).astype(np.float32) - 8
    assert np.array_equal(unpacked.T, levels)


def test_a_block_of_zeros_stays_zero():
    packed, scales = pack_int4(np.zeros((32, 2), np.float32))
    assert not scales.any()
    assert np.all(packed == 0x88)


def test_presets_and_lists_are_understood():
    assert Precision.parse("small").of("lm") == INT4
    assert Precision.parse("small").of("vocoder") == FP32
    assert Precision.parse("lm=int8, estimator=int4").of("estimator") == INT4
    assert [Precision.parse(name).name for name in PRESETS] == ["fp32", "balanced", "small"]


@pytest.mark.parametrize("text", ["", "tiny", "lm", "lm=int2", "vocoder=int8", "lm=int8;f0=int8"])
def test_other_precisions_are_refused(text):
    with pytest.raises(InputError, match="give a preset"):
        Precision.parse(text)


@pytest.mark.parametrize(
    "distance",
    [Distance(0.6, 0), Distance(0, 0.01), Distance(float("nan"), 0), Distance(0, float("nan"))],
)
def test_a_voice_that_strays_beyond_its_limit_is_refused(distance):
    with pytest.raises(ModelError) as caught:
        gate.accept(distance, Precision({}))
    assert caught.value.code == "model.gate_failed"


def test_what_is_too_far_for_fp32_is_near_enough_for_its_own_precision():
    assert gate.accept(Distance(0.6, 0.01), Precision.parse("small")).limit_db == 2.5


@pytest.mark.parametrize("generation", [1, 2])
def test_a_small_voice_is_built_and_its_parts_say_so(tmp_path, generation):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", generation)
    build(checkpoint, tmp_path / "mine", lambda line: None, precision=Precision.parse("lm=int8"))
    directory = VoiceDirectory.read(tmp_path / "mine")
    precisions = {part.name: part.precision for part in directory.manifest.parts}
    assert precisions["lm"] == precisions["lm_weights"] == INT8
    assert precisions["vocoder"] == FP32
    assert directory.faults() == []
