"""Small graphs with the habits that half precision breaks on."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 8


def save(path, nodes, constants, *, outputs=("y",), inputs=(("x", (1, WIDTH, "T")),)):
    """Write a float graph of named nodes and return its path."""
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(
        [helper.make_node(op, ins, [out], name=out, **a) for op, ins, out, a in nodes],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(s)) for n, s in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))
    return path


def normed_convolution(path, level=1.0):
    """A convolution whose results are about `level`, then a norm: the output is about 1."""
    weights = np.random.RandomState(0).standard_normal((WIDTH, WIDTH, 3)) * level / WIDTH
    nodes = [
        ("Conv", ["x", "weights"], "wide", {"pads": [1, 1]}),
        ("ReduceMean", ["wide"], "mean", {"axes": [2], "keepdims": 1}),
        ("Sub", ["wide", "mean"], "centred", {}),
        ("Mul", ["centred", "centred"], "square", {}),
        ("ReduceMean", ["square"], "variance", {"axes": [2], "keepdims": 1}),
        ("Add", ["variance", "epsilon"], "padded", {}),
        ("Sqrt", ["padded"], "deviation", {}),
        ("Div", ["centred", "deviation"], "normal", {}),
        ("Relu", ["normal"], "y", {}),
    ]
    constants = {"weights": weights.astype(np.float32), "epsilon": np.float32(1e-5)}
    return save(path, nodes, constants)


def recording(path, n_frames=20):
    """A recorded input for the graphs above."""
    x = np.random.RandomState(1).standard_normal((1, WIDTH, n_frames)).astype(np.float32)
    np.savez(str(path), x=x)
    return path
