"""Let the generator skip silence without changing the statistics its norms take.

Kokoro pads every utterance with silence, up to 40 % of it, and its generator normalises each
channel over the whole utterance: leaving the silence out changes the sound of the speech (4 to
18 dB of log-mel distance, measured). Silence is stationary, so here a short stretch of it at
either edge stands for all that was left out: it enters each mean with the share of the frames it
represents. Measured so, speech differs by 0.8 to 2 dB; 1 dB is what rounding alone makes of it.
"""

from __future__ import annotations

import re
from typing import List, Tuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from edge_tts.build.kokoro.graph import Graph
from edge_tts.voices.kokoro.silence import SAMPLE_FRAMES, SAMPLE_OFFSET_FRAMES

SHARES_INPUT = "padding_shares"

# Upsampling in front of each group of residual blocks: 800 Hz, then 4800 Hz.
_SLOW_BLOCKS = re.compile(r"/(?:resblocks\.[012]|noise_res\.0)/")
_SLOW_RATE, _FAST_RATE = 10, 60


def weigh_padding(generator: Graph) -> int:
    """Add the input `padding_shares` and use it in every norm; return the number of norms.

    `padding_shares` is float32 [2]: the part of all frames of the utterance that is silence left
    out before the first and after the last frame given. Zeros give plain whole-input statistics.
    """
    lead, tail, rest = _add_shares(generator)
    squares = [name for name in _tensors(generator) if name.endswith("/square")]
    for square in squares:
        norm = square[: -len("/square")]
        rate = _SLOW_RATE if _SLOW_BLOCKS.search(norm) else _FAST_RATE
        _weigh_norm(generator, norm, rate, (lead, tail, rest))
    generator.prune()
    return len(squares)


def _tensors(graph: Graph) -> List[str]:
    return [name for node in graph.nodes for name in node.output]


def _add_shares(graph: Graph) -> Tuple[str, str, str]:
    graph.inputs.append(helper.make_tensor_value_info(SHARES_INPUT, TensorProto.FLOAT, [2]))
    first = graph.constant("padding/first", 0, np.int64)
    second = graph.constant("padding/second", 1, np.int64)
    lead = graph.add("Gather", [SHARES_INPUT, first], "padding/lead")
    tail = graph.add("Gather", [SHARES_INPUT, second], "padding/tail")
    both = graph.add("Add", [lead, tail], "padding/both")
    rest = graph.add("Sub", [graph.constant("padding/one", 1.0), both], "padding/rest")
    return lead, tail, rest


def _weigh_norm(graph: Graph, norm: str, rate: int, shares: Tuple[str, str, str]) -> None:
    mean_squared = _made_by(graph, f"{norm}/mean_squared")
    mean, x = mean_squared.input[0], _made_by(graph, f"{norm}/total").input[0]
    lead, tail = (_add_edge(graph, norm, x, rate, side) for side in ("lead", "tail"))
    for statistic, own in (("mean", mean), ("square", f"{norm}/square")):
        terms = zip((f"{lead}/{statistic}", f"{tail}/{statistic}", own), shares)
        weighted = [
            graph.add("Mul", [value, share], f"{norm}/{statistic}_{share.rpartition('/')[2]}")
            for value, share in terms
        ]
        readers = [node for node in graph.consumers(own) if node.output[0] not in weighted]
        total = graph.add("Sum", weighted, f"{norm}/{statistic}_weighted")
        _redirect(readers, own, total)


def _add_edge(graph: Graph, norm: str, x: str, rate: int, side: str) -> str:
    near = SAMPLE_OFFSET_FRAMES * rate
    far = near + SAMPLE_FRAMES * rate
    bounds = (near, far) if side == "lead" else (-far, -near)
    start, end = (
        graph.constant(f"padding/{side}_{label}_{rate}", [value], np.int64)
        for label, value in zip(("start", "end"), bounds)
    )
    axis = graph.constant("padding/time_axis", [2], np.int64)
    name = f"{norm}/{side}"
    sample = graph.add("Slice", [x, start, end, axis], f"{name}/sample")
    graph.add("ReduceMean", [sample], f"{name}/mean", axes=[2], keepdims=1)
    total = graph.add("ReduceSumSquare", [sample], f"{name}/total_square", axes=[2], keepdims=1)
    count = graph.constant(f"padding/count_{rate}", float(SAMPLE_FRAMES * rate))
    graph.add("Div", [total, count], f"{name}/square")
    return name


def _redirect(readers: List[onnx.NodeProto], old: str, new: str) -> None:
    for node in readers:
        node.input[:] = [new if name == old else name for name in node.input]


def _made_by(graph: Graph, tensor: str) -> onnx.NodeProto:
    node = graph.producer(tensor)
    if node is None:
        raise KeyError(tensor)
    return node
