"""Weights stored in half precision, which become float32 when a run reaches them.

Nothing is computed in half precision: only rounding the weights changes the result. The conversion
is paid on every run; what it buys is that float32 copies live no longer than a layer takes. To be
done last: an optimiser would fold the conversions away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_tts.build.quantisation.layers import MIN_WEIGHTS, NOTHING, Exclusion, node_name

_LARGEST = float(np.finfo(np.float16).max)
_EXTERNAL_FROM_BYTES = 1024


def store_half(path: Path, weights: Path, exclusion: Exclusion = NOTHING) -> int:
    """Rewrite the graph at `path` with its weights in `weights`; returns how many were halved."""
    model = onnx.load(str(path))
    halved = halve(model.graph, exclusion)
    for file in (path, weights):
        if file.exists():
            file.unlink()
    onnx.save(
        model,
        str(path),
        save_as_external_data=True,
        location=weights.name,
        size_threshold=_EXTERNAL_FROM_BYTES,
    )
    return halved


def halve(graph: onnx.GraphProto, exclusion: Exclusion = NOTHING) -> int:
    """Store the large float32 weights of `graph` in 16 bits; returns how many."""
    excluded = {
        name
        for node in graph.node
        if exclusion.covers(node_name(node), node.op_type)
        for name in node.input
    }
    renamed: Dict[str, str] = {}
    for tensor in graph.initializer:
        if _is_large(tensor) and tensor.name not in excluded and _fits(tensor):
            value = numpy_helper.to_array(tensor).astype(np.float16)
            renamed[tensor.name] = f"{tensor.name}/half"
            tensor.CopyFrom(numpy_helper.from_array(value, renamed[tensor.name]))
    _insert_conversions(graph, renamed)
    return len(renamed)


def _insert_conversions(graph: onnx.GraphProto, renamed: Dict[str, str]) -> None:
    """Convert the weights at the beginning of the file.

    ONNX Runtime then runs each conversion right before the node that reads it. Were they next to
    those nodes in the file, it would run all of them first and hold every weight in float32.
    """
    nodes: List[onnx.NodeProto] = [
        helper.make_node("Cast", [half], [name], to=TensorProto.FLOAT)
        for name, half in renamed.items()
    ]
    for node in graph.node:
        copied = onnx.NodeProto()
        copied.CopyFrom(node)
        nodes.append(copied)
    del graph.node[:]
    graph.node.extend(nodes)


def _is_large(tensor: onnx.TensorProto) -> bool:
    return tensor.data_type == TensorProto.FLOAT and int(np.prod(tensor.dims)) >= MIN_WEIGHTS


def _fits(tensor: onnx.TensorProto) -> bool:
    return float(np.abs(numpy_helper.to_array(tensor)).max()) <= _LARGEST
