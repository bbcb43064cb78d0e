"""Which nodes of a graph compute in half precision, and the graph with its types made so.

Half precision holds magnitudes up to 65504 with 11 bits: enough for products of normalised
activations, not for their squares, sums over time, angles and exponentials. `half_nodes` decides
by a recipe; `to_half` writes the decision into the types of an ONNX graph, as a strongly typed
TensorRT network needs it.
"""

from __future__ import annotations

import re
from typing import Dict, FrozenSet, List, Sequence, Set

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_tts.build.tensorrt.recipe import FP16, FP16_MATRICES, KeepFp32

MATRICES = frozenset({"Conv", "ConvTranspose", "MatMul", "Gemm"})
LARGEST = float(np.finfo(np.float16).max)

# Their float results come from integers, or their float inputs must be single precision.
_NEVER = frozenset({"Cast", "Range", "ConstantOfShape", "Constant", "Resize", "TopK"})
_ELEMENTWISE = frozenset({"Add", "Sub", "Mul", "Div", "Max", "Min", "Neg"})
_SENSITIVE_READERS = frozenset({"ReduceMean", "ReduceSum", "ReduceSumSquare", "Sqrt", "Softmax"})
_UPSTREAM_DEPTH = 2
_SMALL = 64
_DIVIDING = frozenset({"Div", "Mul", "Reciprocal"})


def half_nodes(model: onnx.ModelProto, precision: str, keep: KeepFp32) -> Set[str]:
    """Names of the nodes that compute in half precision under `precision` and `keep`.

    Kept operators take the arithmetic around them along: what a sum or a root reads, and what
    divides by a root.
    """
    nodes = list(model.graph.node)
    if precision == FP16_MATRICES:
        return {node.name for node in nodes if node.op_type in MATRICES}
    if precision != FP16:
        return set()
    kept = _kept(nodes, keep)
    return {n.name for n in nodes if n.name not in kept and n.op_type not in _NEVER}


def _kept(nodes: List[onnx.NodeProto], keep: KeepFp32) -> Set[str]:
    patterns = [re.compile(pattern) for pattern in keep.nodes]
    kept = {
        node.name
        for node in nodes
        if node.op_type in keep.operators or any(p.search(node.name) for p in patterns)
    }
    producers = {name: node for node in nodes for name in node.output}
    for node in nodes:
        if node.name not in kept:
            continue
        if node.op_type in _SENSITIVE_READERS:
            kept |= _upstream(node, producers, _UPSTREAM_DEPTH)
        if node.op_type == "Sqrt":
            readers = [n for n in nodes if node.output[0] in n.input]
            kept |= {n.name for n in readers if n.op_type in _DIVIDING}
    return kept


def _upstream(node: onnx.NodeProto, producers: Dict[str, onnx.NodeProto], depth: int) -> Set[str]:
    found: Set[str] = set()
    for name in node.input:
        source = producers.get(name)
        if source is not None and source.op_type in _ELEMENTWISE:
            found.add(source.name)
            if depth > 1:
                found |= _upstream(source, producers, depth - 1)
    return found


def to_half(model: onnx.ModelProto, half: Set[str], half_io: Sequence[str] = ()) -> onnx.ModelProto:
    """A copy of `model` whose nodes named in `half` compute in float16, with casts on the borders.

    Inputs and outputs of the graph stay float32, except those named in `half_io`.
    """
    return _Converter(model, half, frozenset(half_io)).run()


class _Converter:
    def __init__(self, model: onnx.ModelProto, half: Set[str], half_io: FrozenSet[str]) -> None:
        self._model, self._half, self._half_io = model, half, half_io
        self._weights = {t.name: t for t in model.graph.initializer}
        self._floats = float_tensors(model)
        self._is_half = {item.name for item in model.graph.input if item.name in half_io}
        self._made: List[onnx.NodeProto] = []
        self._new_weights: Dict[str, onnx.TensorProto] = {}
        self._casts: Set[str] = set()

    def run(self) -> onnx.ModelProto:
        for node in self._model.graph.node:
            self._convert(node)
        for item in self._model.graph.output:
            wants_half = item.name in self._half_io
            if wants_half != (item.name in self._is_half):
                self._return_as(item.name, TensorProto.FLOAT16 if wants_half else TensorProto.FLOAT)
        return self._assemble()

    def _convert(self, node: onnx.NodeProto) -> None:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        is_half = node.name in self._half
        as_type = self._as_half if is_half else self._as_single
        copy.input[:] = [as_type(name) if name in self._floats else name for name in node.input]
        if is_half:
            self._is_half |= {name for name in node.output if name in self._floats}
        self._made.append(copy)

    def _as_half(self, name: str) -> str:
        if name in self._is_half:
            return name
        if name in self._weights:
            half = f"{name}:fp16"
            if half not in self._new_weights:
                values = half_values(numpy_helper.to_array(self._weights[name]))
                self._new_weights[half] = numpy_helper.from_array(values, half)
            return half
        return self._cast(name, f"{name}:fp16", TensorProto.FLOAT16)

    def _as_single(self, name: str) -> str:
        if name not in self._is_half:
            return name
        return self._cast(name, f"{name}:fp32", TensorProto.FLOAT)

    def _cast(self, name: str, result: str, element: int) -> str:
        if result not in self._casts:
            self._casts.add(result)
            self._made.append(
                helper.make_node("Cast", [name], [result], f"{result}:cast", to=element)
            )
        return result

    def _return_as(self, name: str, element: int) -> None:
        """Give the graph's output its type under its own name."""
        inner = f"{name}:inner"
        for node in self._made:
            node.output[:] = [inner if tensor == name else tensor for tensor in node.output]
            node.input[:] = [inner if tensor == name else tensor for tensor in node.input]
        self._made.append(helper.make_node("Cast", [inner], [name], f"{name}:cast", to=element))

    def _assemble(self) -> onnx.ModelProto:
        used = {name for node in self._made for name in node.input}
        weights = [t for name, t in self._weights.items() if name in used]
        graph = helper.make_graph(
            self._made,
            self._model.graph.name,
            [self._typed(item) for item in self._model.graph.input],
            [self._typed(item) for item in self._model.graph.output],
            [*weights, *self._new_weights.values()],
        )
        return helper.make_model(
            graph,
            opset_imports=list(self._model.opset_import),
            ir_version=self._model.ir_version,
        )

    def _typed(self, item: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
        copy = onnx.ValueInfoProto()
        copy.CopyFrom(item)
        if item.name in self._half_io:
            copy.type.tensor_type.elem_type = TensorProto.FLOAT16
        return copy


def half_values(weights: "np.ndarray") -> "np.ndarray":
    """Weights in float16; what does not fit becomes the largest number that does."""
    values: np.ndarray = np.clip(weights, -LARGEST, LARGEST).astype(np.float16)
    return values


def float_tensors(model: onnx.ModelProto) -> Set[str]:
    """Names of all float32 tensors of a graph, weights included."""
    inferred = onnx.shape_inference.infer_shapes(_skeleton(model)).graph
    items = (*inferred.value_info, *inferred.input, *inferred.output)
    found = {i.name for i in items if i.type.tensor_type.elem_type == TensorProto.FLOAT}
    return found | {t.name for t in model.graph.initializer if t.data_type == TensorProto.FLOAT}


def _skeleton(model: onnx.ModelProto) -> onnx.ModelProto:
    """The graph with its large weights as inputs: type inference copies what it is given."""
    small = [t for t in model.graph.initializer if _n_elements(t) <= _SMALL]
    large = [t for t in model.graph.initializer if _n_elements(t) > _SMALL]
    inputs = [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in large]
    graph = helper.make_graph(
        list(model.graph.node),
        model.graph.name,
        [*model.graph.input, *inputs],
        list(model.graph.output),
        small,
    )
    return helper.make_model(
        graph, opset_imports=list(model.opset_import), ir_version=model.ir_version
    )


def _n_elements(tensor: onnx.TensorProto) -> int:
    return int(np.prod(tensor.dims, dtype=np.int64))
