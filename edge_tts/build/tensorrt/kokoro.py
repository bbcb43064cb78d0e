"""Kokoro's parts as float graphs that TensorRT 8.5 takes.

The cuts are those of the installed voice, so that the same host code drives either backend. Of the
generators only the streaming one becomes an engine: given its norms' statistics it reduces nothing
over time, and its windows bound its memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import List, Tuple

import onnx

from edge_tts.build.kokoro import clean
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.padding import weigh_padding
from edge_tts.build.kokoro.parts import PARTS, STREAM_GENERATOR, PartSpec, extract
from edge_tts.build.kokoro.statistics import take_statistics
from edge_tts.build.tensorrt import checker
from edge_tts.build.tensorrt.dequantise import dequantise
from edge_tts.build.tensorrt.plain import name_nodes, narrow_input, write_out
from edge_tts.voices.kokoro.speakers import STYLE_DIR
from edge_tts.voices.kokoro.statistics import StatisticsModel
from edge_tts.voices.kokoro.voice import FAST_CONDITION, FAST_GENERATOR

_STATISTICS_READERS = {"ReduceMean", "ReduceSumSquare", "Shape", "Mul"}
_WINDOW_SHAPES = {"features": (1, 512, "F"), "harmonics": (1, 22, "60F+1")}


def part_names() -> List[str]:
    """The parts that become engines, in the order speech passes through them."""
    return [spec.name for spec in PARTS if spec.name != "generator"]


def part_graphs(source: Path) -> "dict[str, onnx.ModelProto]":
    """The graphs by part name, made from the published int8 model at `source`."""
    whole = Graph.of(onnx.load(str(source)))
    dequantise(whole)
    write_out(whole)
    clean.lower_opset(whole)
    clean.replace_istft_window(whole)
    return {spec.name: _part(whole, spec) for spec in PARTS if spec.name in part_names()}


def fast_graphs(folder: Path) -> "dict[str, onnx.ModelProto]":
    """The fast generator's graphs, where `folder` holds it; its layer norms are written out."""
    found = {}
    for name in (FAST_GENERATOR, FAST_CONDITION):
        path = folder / f"{name}.onnx"
        if path.is_file():
            graph = Graph.of(onnx.load(str(path)))
            write_out(graph)
            name_nodes(graph)
            found[name] = graph.to_model()
    return found


def write_graphs(source: Path, folder: Path, fast_from: Path = STYLE_DIR) -> Tuple[str, ...]:
    """Write all graphs into `folder`; returns the parts' names. Raises EngineError, OSError."""
    graphs = {**part_graphs(source), **fast_graphs(fast_from)}
    for name, model in graphs.items():
        checker.require(model, name)
        onnx.save(model, str(folder / f"{name}.onnx"))
    return tuple(graphs)


def _part(whole: Graph, spec: PartSpec) -> onnx.ModelProto:
    part = extract(whole, spec)
    if spec is STREAM_GENERATOR:
        # Elsewhere norms stay as they are: centring before squaring loses least in half precision.
        clean.fold_instance_norms(part)
        clean.fold_snakes(part)
        drop_cancelled_biases(part)
        weigh_padding(part)
        take_statistics(part, StatisticsModel.read().channels)
        _name_window_axes(part)
    clean.square_by_multiplication(part)
    if "tokens" in spec.inputs:
        narrow_input(part, "tokens")
    name_nodes(part)
    return part.to_model()


def drop_cancelled_biases(generator: Graph) -> int:
    """Leave out biases that the norm after a residual block's first convolution cancels.

    The predicted statistics are of convolutions without them (`kokoro.clean` leaves them out too).
    """
    count = 0
    for node in generator.nodes:
        if node.op_type != "Conv" or "/convs1" not in node.output[0] or len(node.input) < 3:
            continue
        readers = generator.consumers(node.output[0])
        if {reader.op_type for reader in readers} <= _STATISTICS_READERS:
            del node.input[2:]
            count += 1
    generator.prune()
    return count


def _name_window_axes(generator: Graph) -> None:
    """Name the axes of a window by F, its frames at 80 Hz."""
    for item in generator.inputs:
        for dimension, value in zip(
            item.type.tensor_type.shape.dim, _WINDOW_SHAPES.get(item.name, ())
        ):
            if isinstance(value, str):
                dimension.dim_param = value
