"""Refuse a graph that a TensorRT release cannot take, or would take and get wrong or slow.

8.5's parser has no upper bound on the opset: it reads an opset-18 `ReduceMean` as one over all
axes and says nothing. So the graph is checked before the parser sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, List, Mapping, Optional, Sequence, Tuple

import onnx
from onnx import TensorProto

from edge_tts.build.tensorrt.operators import TRAPS, VERSIONS, operators, remedy
from edge_tts.errors import EngineError

MAX_OPSET = 17
_ELEMENTS = {
    TensorProto.FLOAT: "float32",
    TensorProto.FLOAT16: "float16",
    TensorProto.INT32: "int32",
    TensorProto.BOOL: "bool",
}
_SHOWN = 5

Constants = Mapping[str, onnx.TensorProto]


@dataclass(frozen=True)
class Finding:
    """One thing a parser cannot take: where, why, and what to do."""

    version: str
    place: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place} {self.cause} (TensorRT {self.version}): {self.remedy}"


def require(model: onnx.ModelProto, name: str, versions: Sequence[str] = VERSIONS) -> None:
    """Raise EngineError (`engine.graph_unsupported`) naming nodes and remedies, if any."""
    findings = [finding for version in versions for finding in check(model, version)]
    if findings:
        shown = "; ".join(str(finding) for finding in findings[:_SHOWN])
        more = f"; and {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else ""
        raise EngineError(
            f"the graph {name} is not for TensorRT: {shown}{more}", code="engine.graph_unsupported"
        )


def check(model: onnx.ModelProto, version: str) -> List[Finding]:
    """Everything in `model` that the parser of `version` (one of VERSIONS) cannot take."""
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            constants.update((node.output[0], a.t) for a in node.attribute if a.name == "value")
    found = [
        Finding(version, *finding)
        for finding in (*_of_model(model), *_of_tensors(graph), *_of_names(graph))
    ]
    for node in graph.node:
        problem = _of_node(node, constants, version)
        if problem:
            place = f"node {node.name or node.output[0]!r} ({node.op_type})"
            found.append(Finding(version, place, *problem))
    return found


def _of_model(model: onnx.ModelProto) -> List[Tuple[str, str, str]]:
    found = []
    for opset in model.opset_import:
        if opset.domain in {"", "ai.onnx"} and opset.version > MAX_OPSET:
            cause = f"has opset {opset.version}, of which 8.5 misreads operators in silence"
            found.append(("the model", cause, f"export at opset {MAX_OPSET} or 16"))
    if model.functions:
        found.append(
            ("the model", "holds local functions", "inline them, or export with dynamo=False")
        )
    return found


def _of_tensors(graph: onnx.GraphProto) -> List[Tuple[str, str, str]]:
    """Inputs and outputs whose element type differs between releases."""
    found = []
    for kind, items in (("input", graph.input), ("output", graph.output)):
        for item in items:
            element = item.type.tensor_type.elem_type
            if element not in _ELEMENTS:
                name = TensorProto.DataType.Name(element).lower()
                cause = f"is {name}, which TensorRT 8.5 binds as another type than 10"
                cure = "make it int32 or float32 and cast inside"
                found.append((f"{kind} {item.name!r}", cause, cure))
    return found


def _of_names(graph: onnx.GraphProto) -> List[Tuple[str, str, str]]:
    """Per-layer precision is given by name, so names must be there and be unique."""
    names = [node.name for node in graph.node]
    twice = sorted({name for name in names if names.count(name) > 1}) if _repeats(names) else []
    return [
        (f"the name {name!r}", "belongs to several nodes", "name every node once") for name in twice
    ]


def _repeats(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)


def _of_node(node: onnx.NodeProto, constants: Constants, version: str) -> Optional[Tuple[str, str]]:
    """(cause, remedy), or None for a node the parser takes."""
    if node.domain not in {"", "ai.onnx"}:
        return f"is of the domain {node.domain!r}", "express it in standard operators"
    known = operators(version).get(node.op_type)
    if known is None or not known.is_supported:
        return "is not supported", remedy(node.op_type)
    trap = TRAPS.get(node.op_type)
    if trap is not None and version in trap.versions:
        return trap.cause, remedy(node.op_type)
    limit = _LIMITS.get(node.op_type)
    return limit(node, constants) if limit else None


def _attribute(node: onnx.NodeProto, name: str) -> Optional[onnx.AttributeProto]:
    return next((a for a in node.attribute if a.name == name), None)


def _constant_inputs(*positions: int) -> Callable[..., Optional[Tuple[str, str]]]:
    def limit(node: onnx.NodeProto, constants: Constants) -> Optional[Tuple[str, str]]:
        for position in positions:
            name = node.input[position] if position < len(node.input) else ""
            if name and name not in constants:
                return f"has the computed input {name!r}", "fold it to a constant"
        return None

    return limit


def _no_axes_input(node: onnx.NodeProto, constants: Constants) -> Optional[Tuple[str, str]]:
    if len(node.input) > 1:
        return "has its axes as an input, which 8.5 ignores", "give the axes as an attribute"
    return None


def _no_reduction(node: onnx.NodeProto, constants: Constants) -> Optional[Tuple[str, str]]:
    reduction = _attribute(node, "reduction")
    if reduction is not None and reduction.s not in {b"", b"none"}:
        return f"has the reduction {reduction.s.decode()!r}, which is ignored", "use Where"
    return None


def _lstm(node: onnx.NodeProto, constants: Constants) -> Optional[Tuple[str, str]]:
    forget, layout = _attribute(node, "input_forget"), _attribute(node, "layout")
    if (forget is not None and forget.i) or (layout is not None and layout.i):
        return "has input_forget or layout set", "export it with both at 0"
    return None


def _mod(node: onnx.NodeProto, constants: Constants) -> Optional[Tuple[str, str]]:
    fmod = _attribute(node, "fmod")
    if fmod is None or not fmod.i:
        return "has fmod=0, which is for int32 alone", "use x - floor(x / y) · y"
    return None


def _resize(node: onnx.NodeProto, constants: Constants) -> Optional[Tuple[str, str]]:
    mode = _attribute(node, "mode")
    if mode is not None and mode.s not in {b"nearest", b"linear"}:
        return f"has the mode {mode.s.decode()!r}", "use nearest or linear"
    newer = [a.name for a in node.attribute if a.name in {"axes", "antialias"}]
    if newer:
        return f"has the attribute {newer[0]!r}, which is not read", "leave it out"
    return None


def _einsum(node: onnx.NodeProto, constants: Constants) -> Optional[Tuple[str, str]]:
    equation = _attribute(node, "equation")
    if equation is not None and b"." in equation.s:
        return "has an ellipsis", "name every axis, or use MatMul"
    return None


_LIMITS: Mapping[str, Callable[..., Optional[Tuple[str, str]]]] = {
    **{
        f"Reduce{kind}": _no_axes_input
        for kind in (
            *("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare"),
        )
    },
    "ReduceSum": _constant_inputs(1),
    "Slice": _constant_inputs(3),
    "Squeeze": _constant_inputs(1),
    "Unsqueeze": _constant_inputs(1),
    "TopK": _constant_inputs(1),
    "OneHot": _constant_inputs(1),
    "ScatterND": _no_reduction,
    "ScatterElements": _no_reduction,
    "LSTM": _lstm,
    "Mod": _mod,
    "Resize": _resize,
    "Einsum": _einsum,
}
