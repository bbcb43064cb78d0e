"""A decoder with a cache in the two forms that a voice meets, equal by construction.

Position i yields x_i · weights + the sum of everything cached before it and of the new rows up to
it + row i of a table. The dynamic form reads a cache of exactly the earlier positions, the static
form one of fixed size and how many of its rows count.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_tts.runtime.decoding import Cache

WIDTH = 4
CACHE = Cache("cache", "new_cache", "length", (2, WIDTH), ("positions",))
SIZES = (8, 16)
PROMPT = 5
TABLE = np.random.default_rng(5).standard_normal((40, WIDTH)).astype(np.float32)


def profiles():
    """For every size of cache one profile of single steps, and one of prompts."""
    return [
        {
            "x": [(n, WIDTH) for n in rows],
            "cache": [(size, 2, WIDTH)] * 3,
            "positions": [(size + n, WIDTH) for n in rows],
            "length": [(1,)] * 3,
        }
        for size in SIZES
        for rows in ((1, 1, 1), (2, PROMPT, PROMPT))
    ]


def write(path: Path, *, static: bool, element: int = TensorProto.FLOAT) -> Path:
    """Write one form; `element` is the type of its floats."""
    graph = helper.make_graph(
        [*_ROWS, *(_STATIC if static else _DYNAMIC), *_SUM],
        "decoder",
        [
            _value("x", ("n", WIDTH), element),
            _value("cache", ("m", 2, WIDTH), element),
            _value("positions", ("t", WIDTH), element),
            *([_value("length", (1,), TensorProto.INT32)] if static else []),
        ],
        [
            _value("hidden", ("n", WIDTH), element),
            _value("new_cache", ("n", 2, WIDTH), element),
        ],
        _constants(element),
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return path


def _constants(element):
    float_type = helper.tensor_dtype_to_np_dtype(element)
    weights = np.random.default_rng(3).integers(-2, 3, (WIDTH, WIDTH)) / 4
    values = {
        "weights": weights.astype(float_type),
        "nothing": np.zeros((), float_type),
        "one": np.array([1]),
        "twice": np.array([1, 2, 1]),
        "axis": np.array(0),
        "first": np.array(0),
        "step": np.array(1),
        "rows": np.array([0]),
        "column": np.array([-1, 1, 1]),
    }
    return [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]


def _node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs, [output], **attributes)


def _value(name, shape, element):
    return helper.make_tensor_value_info(name, element, list(shape))


_ROWS = (
    _node("MatMul", ["x", "weights"], "new"),
    _node("Unsqueeze", ["new", "one"], "row"),
    _node("Tile", ["row", "twice"], "new_cache"),
    _node("CumSum", ["new", "axis"], "fresh"),
    _node("Shape", ["x"], "x_shape"),
    _node("Gather", ["x_shape", "first"], "n"),
    _node("Range", ["first", "n", "step"], "offsets"),
    _node("Shape", ["cache"], "cache_shape"),
    _node("Gather", ["cache_shape", "first"], "m"),
)
_DYNAMIC = (
    _node("Identity", ["cache"], "counted"),
    _node("Add", ["offsets", "m"], "at"),
)
_STATIC = (
    _node("Range", ["first", "m", "step"], "slots"),
    _node("Cast", ["length"], "used", to=TensorProto.INT64),
    _node("Less", ["slots", "used"], "counts"),
    _node("Reshape", ["counts", "column"], "mask"),
    _node("Where", ["mask", "cache", "nothing"], "counted"),
    _node("Add", ["offsets", "used"], "at"),
)
_SUM = (
    _node("ReduceMean", ["counted"], "single", axes=[1], keepdims=0),
    _node("ReduceSum", ["single", "rows"], "earlier", keepdims=0),
    _node("Gather", ["positions", "at"], "placed"),
    _node("Add", ["fresh", "earlier"], "sum"),
    _node("Add", ["sum", "placed"], "hidden"),
)
