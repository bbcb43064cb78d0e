"""Fused and newer operators written out in those every TensorRT parser takes."""

from __future__ import annotations

import math
from typing import Callable, Dict, List

import numpy as np
import onnx
from onnx import TensorProto, helper

from edge_tts.build.kokoro.graph import Graph


def write_out(graph: Graph) -> int:
    """Replace every operator of the table below; return their number."""
    gone: List[onnx.NodeProto] = []
    for node in list(graph.nodes):
        rewrite = _REWRITES.get(node.op_type)
        if rewrite is not None and rewrite(graph, node, node.output[0]):
            gone.append(node)
    graph.remove(gone)
    graph.prune()
    return len(gone)


def narrow_input(graph: Graph, name: str) -> None:
    """Make the int64 input `name` int32; inside, it is cast back where the graph reads it.

    TensorRT 8.5 binds an int64 input as int32 and 10 as int64; int32 is the same in both.
    """
    wide = f"{name}/int64"
    for node in graph.nodes:
        node.input[:] = [wide if tensor == name else tensor for tensor in node.input]
    graph.add("Cast", [name], wide, to=TensorProto.INT64)
    for item in graph.inputs:
        if item.name == name:
            item.type.tensor_type.elem_type = TensorProto.INT32
    graph.prune()


def name_nodes(graph: Graph) -> None:
    """Give every node a name of its own: per-layer precision goes by name."""
    seen: Dict[str, int] = {}
    for node in graph.nodes:
        name = node.name or f"{node.output[0]}/node"
        count = seen[name] = seen.get(name, 0) + 1
        node.name = name if count == 1 else f"{name}.{count}"


def _fast_gelu(graph: Graph, node: onnx.NodeProto, name: str) -> bool:
    """GELU by tanh (Hendrycks & Gimpel 2016), after an optional bias."""
    x = node.input[0]
    if len(node.input) > 1 and node.input[1]:
        x = graph.add("Add", [x, node.input[1]], f"{name}/biased")
    square = graph.add("Mul", [x, x], f"{name}/square")
    share = graph.add("Mul", [square, graph.constant("gelu/cubic", 0.044715)], f"{name}/share")
    bent = graph.add("Add", [share, graph.constant("gelu/one", 1.0)], f"{name}/bent")
    slope = graph.constant("gelu/slope", math.sqrt(2 / math.pi))
    inner = graph.add("Mul", [graph.add("Mul", [x, bent], f"{name}/cube"), slope], f"{name}/inner")
    turned = graph.add("Tanh", [inner], f"{name}/tanh")
    raised = graph.add("Add", [turned, "gelu/one"], f"{name}/raised")
    half = graph.add("Mul", [x, graph.constant("gelu/half", 0.5)], f"{name}/half")
    graph.add("Mul", [half, raised], name)
    return True


def _skip_layer_norm(graph: Graph, node: onnx.NodeProto, name: str) -> bool:
    total = graph.add("Add", list(node.input[:2]), f"{name}/total")
    if len(node.input) > 4 and node.input[4]:
        total = graph.add("Add", [total, node.input[4]], f"{name}/biased")
    if len(node.output) > 3 and node.output[3]:
        graph.add("Identity", [total], node.output[3])
    _norm(graph, name, total, (node.input[2], node.input[3]), _epsilon(node))
    return True


def _layer_norm(graph: Graph, node: onnx.NodeProto, name: str) -> bool:
    """Only over the last axis, which is the only way the graphs here use it."""
    _norm(graph, name, node.input[0], (node.input[1], node.input[2]), _epsilon(node))
    return True


def _norm(graph: Graph, name: str, x: str, style: "tuple[str, str]", epsilon: float) -> None:
    gain, offset = style
    mean = graph.add("ReduceMean", [x], f"{name}/mean", axes=[-1], keepdims=1)
    centred = graph.add("Sub", [x, mean], f"{name}/centred")
    square = graph.add("Mul", [centred, centred], f"{name}/square")
    variance = graph.add("ReduceMean", [square], f"{name}/variance", axes=[-1], keepdims=1)
    bound = graph.constant(f"norm/epsilon_{epsilon}", epsilon)
    padded = graph.add("Add", [variance, bound], f"{name}/variance_eps")
    normal = graph.add(
        "Div", [centred, graph.add("Sqrt", [padded], f"{name}/deviation")], f"{name}/normal"
    )
    scaled = graph.add("Mul", [normal, gain], f"{name}/scaled")
    graph.add("Add", [scaled, offset], name)


def _fused_product(graph: Graph, node: onnx.NodeProto, name: str) -> bool:
    """ONNX Runtime's product of a transposed left side."""
    known = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if known.get("transB") or known.get("alpha", 1.0) != 1.0 or not known.get("transA"):
        raise ValueError(f"{node.name} is a product of a kind that is not written out yet")
    turned = graph.add("Transpose", [node.input[0]], f"{name}/turned", perm=[0, 2, 1])
    graph.add("MatMul", [turned, node.input[1]], name)
    return True


def _doubling(graph: Graph, node: onnx.NodeProto, name: str) -> bool:
    """Repeat every frame of [1, C, T]: a nearest ×2 Resize, which the RTX builder cannot fuse."""
    scales = graph.initializers.get(node.input[2]) if len(node.input) > 2 else None
    if scales is None or scales.tolist() != [1, 1, 2]:
        return False
    last = graph.constant("doubling/last", [3], np.int64)
    column = graph.add("Unsqueeze", [node.input[0], last], f"{name}/column")
    pair = graph.add("Concat", [column, column], f"{name}/pair", axis=3)
    shape = graph.constant("doubling/shape", [0, 0, -1], np.int64)
    graph.add("Reshape", [pair, shape], name)
    return True


def _elu(graph: Graph, node: onnx.NodeProto, name: str) -> bool:
    """max(x, 0) + α (e^min(x, 0) - 1): the RTX builder cannot compile the operator itself."""
    x = node.input[0]
    below = graph.add("Min", [x, graph.constant("elu/zero", 0.0)], f"{name}/below")
    power = graph.add("Exp", [below], f"{name}/power")
    bent = graph.add("Sub", [power, graph.constant("elu/one", 1.0)], f"{name}/bent")
    alpha = next((float(a.f) for a in node.attribute if a.name == "alpha"), 1.0)
    if alpha != 1.0:
        scale = graph.constant(f"elu/alpha_{alpha}", alpha)
        bent = graph.add("Mul", [bent, scale], f"{name}/scaled")
    graph.add("Add", [graph.add("Relu", [x], f"{name}/above"), bent], name)
    return True


def _epsilon(node: onnx.NodeProto) -> float:
    return next((float(a.f) for a in node.attribute if a.name == "epsilon"), 1e-5)


_REWRITES: Dict[str, Callable[[Graph, onnx.NodeProto, str], bool]] = {
    "FastGelu": _fast_gelu,
    "SkipLayerNormalization": _skip_layer_norm,
    "LayerNormalization": _layer_norm,
    "FusedMatMul": _fused_product,
    "Resize": _doubling,
    "Elu": _elu,
}
