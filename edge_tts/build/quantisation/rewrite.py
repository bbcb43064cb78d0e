"""Linear layers rewritten into fewer bits.

`int8` and `int8-static` are ONNX's own operators, which every ONNX Runtime has; the weight-only
kinds are ONNX Runtime's MatMulNBits. None of them is for TensorRT.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_tts.build.quantisation import kinds
from edge_tts.build.quantisation.layers import (
    NOTHING,
    Exclusion,
    Layer,
    constants_of,
    linear_layers,
    weight_of,
)
from edge_tts.build.quantisation.packing import in_blocks, per_column
from edge_tts.errors import InputError

Range = Tuple[float, float]
"""Smallest and largest value that a tensor took."""

_CONTRIB = "com.microsoft"
_INT8_ACCUMULATION = 4


def quantise_model(
    model: onnx.ModelProto,
    kind: str,
    exclusion: Exclusion = NOTHING,
    ranges: Optional[Mapping[str, Range]] = None,
) -> Tuple[Layer, ...]:
    """Rewrite the linear layers of `model` in place; returns those that were changed.

    `ranges` by tensor name are what `int8-static` needs of every layer's input; layers without one
    stay. Raises InputError when it has none at all.
    """
    chosen = linear_layers(model.graph, exclusion)
    if kind == kinds.INT8_STATIC:
        known = ranges or {}
        chosen = [one for one in chosen if model.graph.node[one.index].input[0] in known]
        if not chosen:
            raise InputError("int8-static needs texts to measure with; give --texts FILE")
    _Rewriter(model.graph, ranges or {}).run(kind, chosen)
    if kind in (kinds.INT4, kinds.INT8_WEIGHTS) and chosen:
        _import_contrib(model)
    return tuple(chosen)


class _Rewriter:
    """Replaces chosen nodes by the nodes of a kind."""

    def __init__(self, graph: onnx.GraphProto, ranges: Mapping[str, Range]) -> None:
        self._graph = graph
        self._ranges = ranges
        self._constants = constants_of(graph)
        self._made: List[onnx.NodeProto] = []
        self._products: Dict[str, Callable[[onnx.NodeProto, np.ndarray], str]] = {
            kinds.INT8: self._dynamic,
            kinds.INT8_STATIC: self._static,
            kinds.INT8_WEIGHTS: lambda node, weight: self._blocks(node, weight, 8),
            kinds.INT4: lambda node, weight: self._blocks(node, weight, 4),
        }

    def run(self, kind: str, chosen: Iterable[Layer]) -> None:
        """Rewrite the graph."""
        places = {layer.index for layer in chosen}
        for index, node in enumerate(self._graph.node):
            if index not in places:
                self._made.append(node)
                continue
            weight = weight_of(node, self._constants[node.input[1]])
            product = self._products[kind](node, weight)
            bias = [node.input[2]] if len(node.input) > 2 and node.input[2] else []
            self._add("Add" if bias else "Identity", [product, *bias], node.output[0])
        made = [_copy(node) for node in self._made]
        del self._graph.node[:]
        self._graph.node.extend(made)
        drop_unused(self._graph)

    def _dynamic(self, node: onnx.NodeProto, weight: "np.ndarray") -> str:
        name = node.output[0]
        levels, scale, zero = (f"{name}/{part}" for part in ("levels", "level", "zero"))
        made = helper.make_node("DynamicQuantizeLinear", [node.input[0]], [levels, scale, zero])
        self._made.append(made)
        whole, scales = per_column(weight)
        both = self._add("Mul", [scale, self._constant(f"{name}/scale", scales)], f"{name}/both")
        return self._integer_product(name, (levels, zero), whole, both)

    def _static(self, node: onnx.NodeProto, weight: "np.ndarray") -> str:
        name = node.output[0]
        step, middle = levels_of(self._ranges[node.input[0]])
        scale = self._constant(f"{name}/level", np.float32(step))
        zero = self._constant(f"{name}/zero", np.uint8(middle))
        levels = self._add("QuantizeLinear", [node.input[0], scale, zero], f"{name}/levels")
        whole, scales = per_column(weight)
        both = self._constant(f"{name}/both", (scales * np.float32(step)).astype(np.float32))
        return self._integer_product(name, (levels, zero), whole, both)

    def _integer_product(
        self, name: str, activations: Tuple[str, str], whole: "np.ndarray", scale: str
    ) -> str:
        levels, zero = activations
        weight = self._constant(f"{name}/weight", whole)
        sums = self._add("MatMulInteger", [levels, weight, zero], f"{name}/sums")
        as_float = self._add("Cast", [sums], f"{name}/float", to=onnx.TensorProto.FLOAT)
        return self._add("Mul", [as_float, scale], f"{name}/product")

    def _blocks(self, node: onnx.NodeProto, weight: "np.ndarray", bits: int) -> str:
        name = node.output[0]
        packed, scales = in_blocks(weight, bits)
        inputs = [
            node.input[0],
            self._constant(f"{name}/weight", packed),
            self._constant(f"{name}/scale", scales),
        ]
        return self._add(
            "MatMulNBits",
            inputs,
            f"{name}/product",
            domain=_CONTRIB,
            K=weight.shape[0],
            N=weight.shape[1],
            bits=bits,
            block_size=kinds.BLOCK,
            accuracy_level=_INT8_ACCUMULATION,
        )

    def _constant(self, name: str, value: Any) -> str:
        tensor = numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        self._graph.initializer.append(tensor)
        return name

    def _add(self, op_type: str, inputs: List[str], output: str, **attributes: Any) -> str:
        self._made.append(helper.make_node(op_type, inputs, [output], **attributes))
        return output


def levels_of(values: Range) -> Tuple[float, int]:
    """Step and zero point of uint8 levels that hold 0 and the whole range."""
    low, high = min(values[0], 0.0), max(values[1], 0.0)
    step = max((high - low) / 255, 1e-12)
    return step, int(np.clip(np.rint(-low / step), 0, 255))


def drop_unused(graph: onnx.GraphProto) -> None:
    """Remove initialisers that no node reads."""
    used = {name for node in graph.node for name in node.input}
    used.update(output.name for output in graph.output)
    kept = [_copy(tensor) for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _copy(message: Any) -> Any:
    """A message that survives the list it was read from."""
    copied = type(message)()
    copied.CopyFrom(message)
    return copied


def _import_contrib(model: onnx.ModelProto) -> None:
    if all(item.domain != _CONTRIB for item in model.opset_import):
        model.opset_import.append(helper.make_opsetid(_CONTRIB, 1))
