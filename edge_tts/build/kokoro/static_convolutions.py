"""Convolutions whose output is quantised with scales known beforehand.

The published graph convolves in integers and keeps the 32-bit sums (ConvInteger). QLinearConv
rounds each output channel to 8 bits on the way out and is three to four times as fast on
processors with 8-bit dot products. Activations stay quantised by their own range at run time; only
the range of each output channel is fixed, measured by `edge_tts.build.kokoro.calibrate`.

Peaks are in units of integer weights times real activations, which no run-time scale changes, and
without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional, Tuple

import numpy as np
import onnx
from onnx import TensorProto, helper

import edge_tts.voices.kokoro
from edge_tts.build.kokoro.graph import Graph

PEAKS_FILE = Path(edge_tts.voices.kokoro.__file__).parent / "data" / "convolution_peaks.npz"
PEAKS = "peaks"
CHANNELS = "channels"
WEIGHT_LIMIT = 63
"""Largest weight: two products with an activation fit 16 bits (2 · 255 · 63 < 2¹⁵), which is all
that x86 without 8-bit dot products has for them. ±127 sounds no closer (1.02 and 1.03 dB)."""

_MIN_INPUT_CHANNELS = 64
"""Below, the product is too small for the faster operator to matter."""

_FAINTEST = 1e-3
"""Least peak of a channel, in parts of the convolution's largest: some channels are always zero."""

_CENTRE = 128
_STEPS = 127


@dataclass(frozen=True)
class Convolution:
    """A ConvInteger and what turns its sums into `result`: a bias or none, a scale or none.

    `scale` is the activation's step, a run-time scalar; `factor` the one the sums are multiplied
    by, missing where a norm cancels it.
    """

    node: onnx.NodeProto
    scale: str
    bias: Optional[str]
    factor: Optional[str]
    result: str


@dataclass(frozen=True)
class ConvolutionPeaks:
    """Largest magnitude of every output channel [C]; `channels` is how C divides."""

    peaks: "np.ndarray"
    channels: "np.ndarray"

    @classmethod
    def read(cls, path: Path = PEAKS_FILE) -> "ConvolutionPeaks":
        """Read the peaks that ship with the package. Raises OSError or ValueError."""
        with np.load(path, allow_pickle=False) as archive:
            return cls(archive[PEAKS].astype(np.float32), archive[CHANNELS])

    def split(self) -> "List[np.ndarray]":
        """The peaks of each convolution, in the order of `find`."""
        parts: "List[np.ndarray]" = np.split(self.peaks, np.cumsum(self.channels)[:-1])
        return parts


def find(graph: Graph) -> List[Convolution]:
    """The convolutions worth it, in the order of their names."""
    found = [_match(graph, node) for node in graph.nodes if node.op_type == "ConvInteger"]
    return sorted((item for item in found if item), key=lambda item: item.node.name)


def quantise_outputs(
    graph: Graph, peaks: ConvolutionPeaks, weight_limit: int = WEIGHT_LIMIT
) -> int:
    """Replace every convolution of `find`; return their number.

    Weights become signed, -`weight_limit` to `weight_limit`; only channels with larger ones are
    rounded. Raises ValueError when the peaks are another graph's.
    """
    convolutions = find(graph)
    sizes = [_n_channels(graph, item) for item in convolutions]
    if sizes != peaks.channels.tolist():
        raise ValueError(f"peaks of {len(peaks.channels)} convolutions for {len(sizes)} others")
    for convolution, peak in zip(convolutions, peaks.split()):
        audible = np.maximum(peak, _FAINTEST * peak.max())
        _replace(graph, convolution, audible / _STEPS, weight_limit)
    graph.prune()
    return len(convolutions)


def report_peaks(graph: Graph) -> None:
    """Add the outputs `peaks` [C] and `channels`: what `quantise_outputs` has to be told."""
    convolutions = find(graph)
    reports = [_add_peak(graph, item) for item in convolutions]
    graph.add("Concat", reports, PEAKS, axis=0)
    sizes = [_n_channels(graph, item) for item in convolutions]
    graph.add("Identity", [graph.constant("peaks/sizes", sizes, np.int64)], CHANNELS)
    graph.outputs += [
        helper.make_tensor_value_info(PEAKS, TensorProto.FLOAT, [sum(sizes)]),
        helper.make_tensor_value_info(CHANNELS, TensorProto.INT64, [len(sizes)]),
    ]
    graph.prune()


def signed_weights(
    weights: "np.ndarray", zero: int, weight_limit: int
) -> "Tuple[np.ndarray, np.ndarray]":
    """Signed 8-bit weights [M, C, K] and what a step of each output channel is worth [M]."""
    centred = weights.astype(np.float32) - zero
    largest = np.abs(centred).max(axis=(1, 2))
    steps = np.maximum(largest / weight_limit, 1).astype(np.float32)
    return np.round(centred / steps[:, None, None]).astype(np.int8), steps


def _match(graph: Graph, node: onnx.NodeProto) -> Optional[Convolution]:
    activation = graph.producer(node.input[0])
    weights = graph.initializers.get(node.input[1])
    if weights is None or weights.shape[1] < _MIN_INPUT_CHANNELS:
        return None
    if activation is None or activation.op_type != "DynamicQuantizeLinear":
        return None
    (reader,) = graph.consumers(node.output[0])
    bias = None
    if reader.op_type == "Add":
        bias = _other(reader, node.output[0])
        (reader,) = graph.consumers(reader.output[0])
    if reader.op_type != "Cast":
        return None
    scale = activation.output[1]
    factor, result = _factor(graph, reader.output[0], scale)
    return Convolution(node, scale, bias, factor, result)


def _factor(graph: Graph, sums: str, scale: str) -> Tuple[Optional[str], str]:
    """(run-time scalar the sums are multiplied by, the product), or (None, the sums)."""
    readers = graph.consumers(sums)
    if len(readers) == 1 and readers[0].op_type == "Mul":
        factor = _other(readers[0], sums)
        source = graph.producer(factor)
        if source is not None and scale in source.input:
            return factor, readers[0].output[0]
    return None, sums


def _replace(graph: Graph, item: Convolution, step: "np.ndarray", weight_limit: int) -> None:
    name = item.node.output[0]
    weights = graph.initializers[item.node.input[1]]
    zero = int(graph.initializers[item.node.input[3]].ravel()[0])
    signed, weight_steps = signed_weights(weights, zero, weight_limit)
    inputs = [
        item.node.input[0],
        item.scale,
        item.node.input[2],
        graph.constant(f"{name}/weights", signed, np.int8),
        graph.constant(f"{name}/weight_scale", weight_steps / step),
        graph.constant(f"{name}/weight_zero", np.zeros(len(step)), np.int8),
        graph.constant("static/output_scale", 1.0),
        graph.constant("static/output_zero", _CENTRE, np.uint8),
    ]
    attributes = {a.name: helper.get_attribute_value(a) for a in item.node.attribute}
    graph.add("QLinearConv", inputs, f"{name}/rounded", **attributes)
    _add_dequantisation(graph, item, step)


def _add_dequantisation(graph: Graph, item: Convolution, step: "np.ndarray") -> None:
    """Make the result from the rounded sums: the bias, that of the graph, is added as float.

    ONNX Runtime's fast path, which needs no column buffer, is for convolutions without a bias.
    """
    name = item.node.output[0]
    scale = graph.add("Div", [graph.constant(f"{name}/step", step), item.scale], f"{name}/sums")
    if item.factor is not None:
        scale = graph.add("Mul", [scale, item.factor], f"{name}/scale")
    zeros = graph.constant(f"{name}/zeros", np.full(len(step), _CENTRE), np.uint8)
    graph.remove([node for node in [graph.producer(item.result)] if node is not None])
    restored = item.result if item.bias is None else f"{name}/restored"
    graph.add("DequantizeLinear", [f"{name}/rounded", scale, zeros], restored, axis=1)
    if item.bias is not None:
        bias = graph.add("Cast", [item.bias], f"{name}/bias", to=TensorProto.FLOAT)
        if item.factor is not None:
            bias = graph.add("Mul", [bias, item.factor], f"{name}/real_bias")
        graph.add("Add", [restored, bias], item.result)


def _add_peak(graph: Graph, item: Convolution) -> str:
    name = item.node.output[0]
    sums = graph.add("Cast", [name], f"{name}/float", to=TensorProto.FLOAT)
    sizes = graph.add("Abs", [sums], f"{name}/magnitude")
    peak = graph.add("ReduceMax", [sizes], f"{name}/peak", axes=[0, 2], keepdims=0)
    return graph.add("Mul", [peak, item.scale], f"{name}/real_peak")


def _n_channels(graph: Graph, item: Convolution) -> int:
    return int(graph.initializers[item.node.input[1]].shape[0])


def _other(node: onnx.NodeProto, known: str) -> str:
    (other,) = [name for name in node.input if name != known]
    return str(other)
