"""The linear layers of a graph, and which of them are to be rewritten."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Dict, List, Optional, Tuple

import numpy as np
import onnx
from onnx import numpy_helper

LINEAR_TYPES = ("MatMul", "Gemm")
MIN_WEIGHTS = 256
"""Smaller layers stay as they are: nothing is saved in them."""


@dataclass(frozen=True)
class Layer:
    """A node with constant weights, by its place in the graph and by its name."""

    index: int
    name: str
    op_type: str
    n_weights: int


@dataclass(frozen=True)
class Exclusion:
    """Layers that stay as they are: names as shell patterns, and operator types."""

    names: Tuple[str, ...] = ()
    types: Tuple[str, ...] = ()

    def covers(self, name: str, op_type: str) -> bool:
        """Whether the node is to be left alone."""
        return op_type in self.types or any(fnmatchcase(name, pattern) for pattern in self.names)

    def and_names(self, names: Tuple[str, ...]) -> "Exclusion":
        """This and `names` as well, taken literally."""
        return Exclusion((*self.names, *map(_literal, names)), self.types)


NOTHING = Exclusion()


def linear_layers(graph: onnx.GraphProto, exclusion: Exclusion = NOTHING) -> List[Layer]:
    """Every linear layer large enough to matter, in the graph's order."""
    constants = constants_of(graph)
    found = []
    for index, node in enumerate(graph.node):
        weight = weight_tensor(node, constants)
        if weight is None or exclusion.covers(node_name(node), node.op_type):
            continue
        n_weights = int(np.prod(weight.dims))
        if n_weights >= MIN_WEIGHTS:
            found.append(Layer(index, node_name(node), node.op_type, n_weights))
    return found


def constants_of(graph: onnx.GraphProto) -> Dict[str, onnx.TensorProto]:
    """Initialisers by name."""
    return {tensor.name: tensor for tensor in graph.initializer}


def node_name(node: onnx.NodeProto) -> str:
    """The node's name, or its first output's where it has none."""
    return str(node.name or node.output[0])


def weight_tensor(
    node: onnx.NodeProto, constants: Dict[str, onnx.TensorProto]
) -> Optional[onnx.TensorProto]:
    """The constant matrix of a linear layer, None for any other node."""
    if node.op_type not in LINEAR_TYPES or node.input[1] not in constants:
        return None
    tensor = constants[node.input[1]]
    if len(tensor.dims) != 2 or tensor.data_type != onnx.TensorProto.FLOAT:
        return None
    return None if _flag(node, "transA") or not _is_plain_product(node) else tensor


def weight_of(node: onnx.NodeProto, tensor: onnx.TensorProto) -> "np.ndarray":
    """The matrix [inputs, outputs] of a layer."""
    weight: np.ndarray = numpy_helper.to_array(tensor)
    return weight.T if _flag(node, "transB") else weight


def _flag(node: onnx.NodeProto, name: str) -> bool:
    return any(attribute.name == name and attribute.i for attribute in node.attribute)


def _is_plain_product(node: onnx.NodeProto) -> bool:
    """Whether a Gemm has no factors other than 1."""
    factors = [a.f for a in node.attribute if a.name in {"alpha", "beta"}]
    return all(factor == 1.0 for factor in factors)


def _literal(name: str) -> str:
    """A pattern that matches `name` alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
