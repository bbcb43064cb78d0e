"""Linear layers of a plain graph in 8 or 4 bits.

8 bits: weights per output column, activations per run (ONNX's own DynamicQuantizeLinear and
MatMulInteger, which every ONNX Runtime has). 4 bits: weights in blocks of 32 inputs, activations
untouched (ONNX Runtime's MatMulNBits). Neither is for TensorRT.
"""

from __future__ import annotations

from pathlib import Path
from typing import List, Optional, Tuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_tts.build.cosyvoice.precision import INT4, INT8

_BLOCK = 32
_INT8_ACCUMULATION = 4
_MIN_WEIGHTS = 1024
"""Smaller layers stay as they are: nothing is saved in them."""


def quantise(path: Path, precision: str) -> int:
    """Rewrite the graph at `path`; returns how many layers were changed."""
    model = onnx.load(str(path))
    rewriter = _Rewriter(model.graph)
    changed = rewriter.run(precision)
    if precision == INT4 and changed:
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, str(path))
    return changed


class _Rewriter:
    """Replaces MatMul and Gemm nodes whose weights are constants."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._graph = graph
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._made: List[onnx.NodeProto] = []

    def run(self, precision: str) -> int:
        changed, nodes = 0, list(self._graph.node)
        for node in nodes:
            weight = self._weight(node)
            if weight is None or weight.size < _MIN_WEIGHTS:
                self._made.append(node)
                continue
            changed += 1
            product = self._int8(node, weight) if precision == INT8 else self._int4(node, weight)
            bias = node.input[2] if len(node.input) > 2 else ""
            self._add(
                "Add" if bias else "Identity", [product, *filter(None, [bias])], node.output[0]
            )
        del self._graph.node[:]
        self._graph.node.extend(self._made)
        self._drop_unused()
        return changed

    def _weight(self, node: onnx.NodeProto) -> Optional["np.ndarray"]:
        """The constant [inputs, outputs] of a linear layer, None for any other node."""
        if node.op_type not in {"MatMul", "Gemm"} or node.input[1] not in self._constants:
            return None
        weight = numpy_helper.to_array(self._constants[node.input[1]])
        transposed = {a.name for a in node.attribute if a.name.startswith("trans") and a.i}
        if weight.ndim != 2 or "transA" in transposed:
            return None
        return weight.T if "transB" in transposed else weight

    def _int8(self, node: onnx.NodeProto, weight: "np.ndarray") -> str:
        name = node.output[0]
        scale = np.maximum(np.abs(weight).max(axis=0), 1e-12) / 127
        whole = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
        levels, level, zero = (f"{name}/{part}" for part in ("levels", "level", "zero"))
        self._made.append(
            helper.make_node("DynamicQuantizeLinear", [node.input[0]], [levels, level, zero])
        )
        whole_name = self._constant(f"{name}/weight", whole)
        sums = self._add("MatMulInteger", [levels, whole_name, zero], f"{name}/sums")
        as_float = self._add("Cast", [sums], f"{name}/float", to=onnx.TensorProto.FLOAT)
        scales = self._constant(f"{name}/scale", scale.astype(np.float32))
        both = self._add("Mul", [level, scales], f"{name}/both")
        return self._add("Mul", [as_float, both], f"{name}/product")

    def _int4(self, node: onnx.NodeProto, weight: "np.ndarray") -> str:
        name = node.output[0]
        packed, scales = pack_int4(weight)
        inputs = [
            node.input[0],
            self._constant(f"{name}/weight", packed),
            self._constant(f"{name}/scale", scales),
        ]
        sizes = {"K": weight.shape[0], "N": weight.shape[1], "bits": 4, "block_size": _BLOCK}
        return self._add(
            "MatMulNBits",
            inputs,
            f"{name}/product",
            domain="com.microsoft",
            accuracy_level=_INT8_ACCUMULATION,
            **sizes,
        )

    def _constant(self, name: str, value: "np.ndarray") -> str:
        self._graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _add(self, kind: str, inputs: List[str], output: str, **attributes) -> str:
        self._made.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _drop_unused(self) -> None:
        used = {name for node in self._graph.node for name in node.input}
        kept = [tensor for tensor in self._graph.initializer if tensor.name in used]
        del self._graph.initializer[:]
        self._graph.initializer.extend(kept)


def pack_int4(weight: "np.ndarray") -> Tuple["np.ndarray", "np.ndarray"]:
    """[inputs, outputs] as uint8 [outputs, blocks, 16] and scales float32 [outputs · blocks].

    A value is (level - 8) · scale with levels 0 to 15, the earlier of two levels in the low bits.
    """
    n_inputs, n_outputs = weight.shape
    n_blocks = -(-n_inputs // _BLOCK)
    padded = np.zeros((n_outputs, n_blocks * _BLOCK), np.float32)
    padded[:, :n_inputs] = weight.T
    blocks = padded.reshape(n_outputs, n_blocks, _BLOCK)
    # The value of largest magnitude becomes level 0, the only one 8 steps away from the middle.
    at = np.abs(blocks).argmax(axis=2)[:, :, None]
    scale = np.take_along_axis(blocks, at, axis=2) / -8
    levels = np.rint(blocks / np.where(scale == 0, 1, scale)) + 8
    levels = np.clip(levels, 0, 15).astype(np.uint8)
    packed = levels[:, :, 0::2] | (levels[:, :, 1::2] << 4)
    return packed, scale.astype(np.float32).ravel()
