"""A lite voice's parts as graphs for TensorRT, with recorded inputs. Needs torch.

Its text encoder and its EnCodec decoder become engines. The decoder of codes does not: its caches
grow along an inner axis, so every step would have another shape and no CUDA graph.
"""

from __future__ import annotations

from pathlib import Path
from typing import List

import onnx

from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.lite import constants, gate
from edge_tts.build.lite.checkpoint import Checkpoint
from edge_tts.build.lite.parts import parts
from edge_tts.build.tensorrt.cosyvoice import write_parts
from edge_tts.build.tensorrt.plain import name_nodes, write_out
from edge_tts.build.tensorrt.recording import Recorders
from edge_tts.build.torch_voice.export import TorchEngine

ENGINES = ("encoder", "codec")


def write_graphs(checkpoint: Checkpoint, folder: Path) -> List[Path]:
    """Export both parts into `folder`, and what they are given while the checkpoint speaks."""
    known = {part.name: part for part in parts(checkpoint)}
    written: List[Path] = write_parts([known[name] for name in ENGINES], folder)
    for path in written:
        _write_out(path)
    of = Recorders(lambda name: TorchEngine(known[name]))
    gate.measure(constants.tables(checkpoint), constants.settings(checkpoint), of, of)
    of.save(folder, ENGINES)
    return written


def _write_out(path: Path) -> None:
    graph = Graph.of(onnx.load(str(path)))
    write_out(graph)
    name_nodes(graph)
    onnx.save(graph.to_model(), str(path))
