"""Where Kokoro's graph is cut, and the names and shapes on the cuts.

N tokens become T frames of 25 ms (40 Hz); F0, energy and the decoder's features have 2T frames
(80 Hz), the harmonic source 120T + 1 frames of 5 samples, the audio 600T samples at 24 kHz.
Durations are cut before they are divided by the speed, rounded and expanded: the voice does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Tuple, Union

import onnx
from onnx import TensorProto, helper

from edge_tts.build.kokoro.graph import Graph

Shape = Tuple[Union[int, str], ...]


@dataclass(frozen=True)
class Cut:
    """A tensor of the published graph that crosses the border between two parts."""

    tensor: str
    shape: Shape
    element: int = TensorProto.FLOAT


CUTS: Dict[str, Cut] = {
    "tokens": Cut("tokens", (1, "N"), TensorProto.INT64),
    "style": Cut("style", (1, 256)),
    "durations": Cut("/encoder/predictor/ReduceSum_output_0", (1, "N")),
    "token_prosody": Cut("/encoder/predictor/text_encoder/Concat_4_output_0", (1, "N", 640)),
    "token_text": Cut("/encoder/text_encoder/Transpose_2_output_0", (1, 512, "N")),
    "frame_prosody": Cut("/encoder/MatMul_output_0", (1, 640, "T")),
    "frame_text": Cut("/encoder/MatMul_1_output_0", (1, 512, "T")),
    "f0": Cut("/encoder/Reshape_output_0", (1, "2T")),
    "energy": Cut("/encoder/Reshape_1_output_0", (1, "2T")),
    "features": Cut("/decoder/decoder/decode.3/Div_4_output_0", (1, 512, "2T")),
    "harmonics": Cut("/decoder/decoder/generator/Concat_3_output_0", (1, 22, "120T+1")),
    "audio": Cut("audio", ("600T",)),
}


@dataclass(frozen=True)
class PartSpec:
    """One engine of the voice: what goes in and what comes out, by cut name."""

    name: str
    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]


GENERATOR = PartSpec("generator", ("features", "harmonics", "style"), ("audio",))
STREAM_GENERATOR = PartSpec("stream_generator", GENERATOR.inputs, GENERATOR.outputs)
"""The same nodes; `prepare` gives the two their further inputs."""

PARTS: Tuple[PartSpec, ...] = (
    PartSpec("encoder", ("tokens", "style"), ("durations", "token_prosody", "token_text")),
    PartSpec("prosody", ("frame_prosody", "style"), ("f0", "energy")),
    PartSpec("decoder", ("frame_text", "f0", "energy", "style"), ("features",)),
    GENERATOR,
    STREAM_GENERATOR,
)


def shapes(names: Tuple[str, ...]) -> Dict[str, Shape]:
    """Shape of each named cut, symbolic where it varies."""
    return {name: CUTS[name].shape for name in names}


def extract(graph: Graph, part: PartSpec) -> Graph:
    """Copy the nodes between a part's inputs and outputs, with its tensors renamed."""
    renamed = {CUTS[name].tensor: name for name in part.inputs + part.outputs}
    sources = {CUTS[name].tensor for name in part.inputs}
    nodes: List[onnx.NodeProto] = []
    for node in graph.nodes:
        if sources.intersection(node.output):
            continue
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [renamed.get(name, name) for name in node.input]
        copy.output[:] = [renamed.get(name, name) for name in node.output]
        nodes.append(copy)
    extracted = Graph(
        nodes,
        dict(graph.initializers),
        [_value_info(name) for name in part.inputs],
        [_value_info(name) for name in part.outputs],
    )
    extracted.prune()
    return extracted


def _value_info(name: str) -> onnx.ValueInfoProto:
    cut = CUTS[name]
    return helper.make_tensor_value_info(name, cut.element, list(cut.shape))
