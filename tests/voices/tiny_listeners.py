"""Stand-ins with the signatures of campplus.onnx and speech_tokenizer_v*.onnx."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

N_SPEECH_TOKENS = 60
OPSET = 15


def write_speaker_encoder(path: Path, size: int = 8) -> None:
    """Features [1, frames, 80] to an embedding [1, size]: loudest frames, mixed."""
    weight = np.random.RandomState(0).standard_normal((80, size)).astype(np.float32)
    nodes = [
        helper.make_node("ReduceMax", ["input"], ["loudest"], axes=[1], keepdims=0),
        helper.make_node("MatMul", ["loudest", "weight"], ["output"]),
    ]
    inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["b", "frames", 80])]
    outputs = [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["b", size])]
    _save(path, nodes, inputs, outputs, {"weight": weight})


def write_speech_tokenizer(path: Path, token_rate_hz: int, n_tokens: int = N_SPEECH_TOKENS) -> None:
    """Features [1, 128, frames] and their number, 100 a second, to tokens [1, n]."""
    hop = 100 // token_rate_hz
    nodes = [
        helper.make_node("AveragePool", ["feats"], ["pooled"], kernel_shape=[hop], strides=[hop]),
        helper.make_node("ReduceSum", ["pooled", "axes"], ["summed"], keepdims=0),
        helper.make_node("Mul", ["summed", "spread"], ["wide"]),
        helper.make_node("Abs", ["wide"], ["positive"]),
        helper.make_node("Cast", ["positive"], ["whole"], to=TensorProto.INT32),
        helper.make_node("Mod", ["whole", "count"], ["indices"]),
        # The number of frames is an input that must be used, or it would be dropped.
        helper.make_node("Sub", ["feats_length", "feats_length"], ["zero"]),
        helper.make_node("Add", ["indices", "zero"], ["tokens"]),
    ]
    inputs = [
        helper.make_tensor_value_info("feats", TensorProto.FLOAT, ["b", 128, "frames"]),
        helper.make_tensor_value_info("feats_length", TensorProto.INT32, ["b"]),
    ]
    outputs = [helper.make_tensor_value_info("tokens", TensorProto.INT32, ["b", "n"])]
    constants = {
        "axes": np.array([1], np.int64),
        "spread": np.array([7.3], np.float32),
        "count": np.array([n_tokens], np.int32),
    }
    _save(path, nodes, inputs, outputs, constants)


def _save(path, nodes, inputs, outputs, constants) -> None:
    initial = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, path.stem, inputs, outputs, initial)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    save(model, str(path))
