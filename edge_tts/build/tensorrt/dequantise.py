"""Kokoro's published int8 graph as a float graph.

TensorRT 8.5 knows int8 only through calibrated Q/DQ pairs, so the quantised operators (ConvInteger,
MatMulInteger, DynamicQuantizeLSTM, quantised embeddings) become float ones with the same weights;
what the run-time rounding of activations did is gone, not the rounding of the weights.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np
import onnx
from onnx import helper

from edge_tts.build.kokoro.graph import Graph

_BIAS_DEPTH = 6


def dequantise(graph: Graph) -> int:
    """Replace every quantised operator; return their number."""
    rewrites = {
        "ConvInteger": _product,
        "MatMulInteger": _product,
        "DequantizeLinear": _embedding,
        "DynamicQuantizeLSTM": _lstm,
    }
    gone: List[onnx.NodeProto] = []
    for node in list(graph.nodes):
        if node.op_type in rewrites:
            gone += rewrites[node.op_type](graph, node)
    graph.remove(gone)
    graph.prune()
    return len(gone)


def _product(graph: Graph, node: onnx.NodeProto) -> List[onnx.NodeProto]:
    """Product of integers, bias or none, Cast, scale: one Conv or MatMul."""
    bias, chain, scale = _tail(graph, node)
    (weight_scale,) = [name for name in _made_by(graph, scale).input if name in graph.initializers]
    is_convolution = node.op_type == "ConvInteger"
    x = _made_by(graph, node.input[0]).input[0]
    inputs = [x, _real_weights(graph, node, graph.initializers[weight_scale])]
    if bias is not None:
        inputs.append(_real_bias(graph, bias))
    kept = [a for a in node.attribute if a.name != "auto_pad"] if is_convolution else []
    attributes = {a.name: helper.get_attribute_value(a) for a in kept}
    graph.add("Conv" if is_convolution else "MatMul", inputs, chain[-1].output[0], **attributes)
    return [node, *chain]


def _real_weights(graph: Graph, node: onnx.NodeProto, step: "np.ndarray") -> str:
    """Named by the integers, which several layers may share (ALBERT's do)."""
    name = f"{node.input[1]}/real"
    if name not in graph.initializers:
        zero = graph.initializers[node.input[3]] if len(node.input) > 3 and node.input[3] else 0
        if node.op_type == "ConvInteger" and step.size > 1:
            step = step.reshape(-1, 1, 1)
        graph.constant(name, (_whole(graph, node.input[1]) - np.int32(zero)) * step)
    return name


def _tail(graph: Graph, node: onnx.NodeProto) -> Tuple[Optional[str], List[onnx.NodeProto], str]:
    """(quantised bias or None, nodes up to the scaling, the scale) behind an integer product."""
    sums, bias = node.output[0], None
    chain: List[onnx.NodeProto] = []
    (reader,) = graph.consumers(sums)
    if reader.op_type == "Add":
        (bias,) = [name for name in reader.input if name != sums]
        chain.append(reader)
        sums = reader.output[0]
        (reader,) = graph.consumers(sums)
    chain.append(reader)
    (scaling,) = graph.consumers(reader.output[0])
    chain.append(scaling)
    if (reader.op_type, scaling.op_type) != ("Cast", "Mul"):
        raise ValueError(f"{node.name} is followed by {reader.op_type}, {scaling.op_type}")
    (scale,) = [name for name in scaling.input if name != reader.output[0]]
    return bias, chain, scale


def _real_bias(graph: Graph, bias: str) -> str:
    """The bias before it was divided by the activation's step and rounded."""
    for _ in range(_BIAS_DEPTH):
        node = _made_by(graph, bias)
        bias = node.input[0]
        if node.op_type == "Div":
            return bias
    raise ValueError(f"{bias} is not a quantised bias")


def _embedding(graph: Graph, node: onnx.NodeProto) -> List[onnx.NodeProto]:
    rows = _made_by(graph, node.input[0])
    table = _whole(graph, rows.input[0]) - np.int32(graph.initializers[node.input[2]])
    real = graph.constant(f"{rows.input[0]}/real", table * graph.initializers[node.input[1]])
    graph.add("Gather", [real, rows.input[1]], node.output[0], axis=0)
    return [node]


def _lstm(graph: Graph, node: onnx.NodeProto) -> List[onnx.NodeProto]:
    x, weights, recurrent, bias, lengths, hidden, cell = node.input[:7]
    scales = {weights: node.input[8:10], recurrent: node.input[10:12]}
    inputs = [x]
    for name, (scale, zero) in scales.items():
        step, offset = graph.initializers[scale], graph.initializers[zero].astype(np.int32)
        shape = (-1, 1, 1) if step.ndim == 1 else (step.shape[0], 1, step.shape[-1])
        real = (_whole(graph, name) - offset.reshape(shape)) * step.reshape(shape)
        inputs.append(graph.constant(f"{name}/real", real.transpose(0, 2, 1)))
    inputs += [bias, lengths, hidden, cell]
    kept = [a for a in node.attribute if a.name in {"hidden_size", "direction"}]
    attributes = {a.name: helper.get_attribute_value(a) for a in kept}
    name = f"{node.output[0]}/node"
    graph.nodes.append(helper.make_node("LSTM", inputs, list(node.output), name, **attributes))
    return [node]


def _whole(graph: Graph, name: str) -> "np.ndarray":
    whole: np.ndarray = graph.initializers[name].astype(np.int32)
    return whole


def _made_by(graph: Graph, tensor: str) -> onnx.NodeProto:
    node = graph.producer(tensor)
    if node is None:
        raise ValueError(f"{tensor} is made by no node")
    return node
