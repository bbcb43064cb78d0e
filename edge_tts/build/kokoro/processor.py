"""Which form of convolution this processor computes fastest, if exactly.

Both QLinearConv (`static_convolutions`) and MatMulInteger (`matrix_convolutions`) are timed against
ConvInteger. x86 without 8-bit dot products adds pairs of 8-bit products in 16 bits, where they
saturate. `static_convolutions.WEIGHT_LIMIT` keeps clear of that; still QLinearConv is tried on
tensors made to saturate and compared with integer arithmetic before it is timed.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Tuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_tts.build.kokoro.graph import IR_VERSION, OPSET, Graph
from edge_tts.build.kokoro.matrix_convolutions import multiply_convolutions
from edge_tts.build.kokoro.static_convolutions import WEIGHT_LIMIT
from edge_tts.runtime.onnx import PROVIDER, session_options

WORTH_A_CHANGE = 0.9
"""The rounding form must take at most this part of the other's time."""

_N_CHANNELS = 128
_KERNEL = 7
_DILATION = 3
_SHORT, _LONG = 40, 4800
_N_TIMINGS = 4
_CENTRE = 128

_WIDE_INPUT = (1, 1024, 128)
_WIDE_OUTPUT_CHANNELS = 512
_WIDE_KERNEL = 3


def prefers_rounding() -> bool:
    """Whether to use QLinearConv here: exact, and clearly faster than ConvInteger."""
    if not is_exact():
        return False
    rounding_s, integer_s = _time()
    return rounding_s < WORTH_A_CHANGE * integer_s


def prefers_matrices() -> bool:
    """Whether to use MatMulInteger here: clearly faster than ConvInteger, and the same integers."""
    convolution, product = _convolution(), _convolution()
    multiply_convolutions(product)
    sessions = [_open(graph.to_model()) for graph in (product, convolution)]
    activations = np.random.default_rng(2).integers(0, 256, _WIDE_INPUT).astype(np.uint8)
    results = [session.run(None, {"x": activations})[0] for session in sessions]
    product_s, convolution_s = _best_times(sessions, activations)
    return np.array_equal(*results) and product_s < WORTH_A_CHANGE * convolution_s


def is_exact(weight_limit: int = WEIGHT_LIMIT) -> bool:
    """Whether QLinearConv agrees with integer arithmetic for weights up to ± `weight_limit`."""
    return all(
        np.array_equal(_run_rounding(activations, weights), _expected(activations, weights))
        for activations, weights in _worst_cases(weight_limit)
    )


def _worst_cases(weight_limit: int) -> "List[Tuple[np.ndarray, np.ndarray]]":
    """Activations [1, C, T] and weights [C, C, K]: extremes alike, in runs, and random."""
    random = np.random.default_rng(0)
    shape = (_N_CHANNELS, _N_CHANNELS, _KERNEL)
    loud = np.full((1, _N_CHANNELS, _SHORT), 255, np.uint8)
    noise = random.integers(0, 256, loud.shape).astype(np.uint8)
    equal = np.full(shape, weight_limit, np.int8)
    runs = np.where(np.arange(_N_CHANNELS) // 8 % 2, -weight_limit, weight_limit)
    halves = np.broadcast_to(runs[None, :, None], shape).astype(np.int8)
    any_weights = random.integers(-weight_limit, weight_limit + 1, shape).astype(np.int8)
    return [(loud, equal), (loud, -equal), (loud, halves), (noise, halves), (noise, any_weights)]


def _expected(activations: "np.ndarray", weights: "np.ndarray") -> "np.ndarray":
    margin = _DILATION * (_KERNEL - 1) // 2
    padded = np.pad(activations[0].astype(np.int64), ((0, 0), (margin, margin)))
    sums = sum(
        weights[:, :, tap].astype(np.int64) @ padded[:, tap * _DILATION :][:, :_SHORT]
        for tap in range(_KERNEL)
    )
    rounded = np.rint(np.asarray(sums, np.float32) * _scale(weights)) + _CENTRE
    return np.clip(rounded, 0, 255).astype(np.uint8)[None]


def _scale(weights: "np.ndarray") -> "np.float32":
    """A power of two (so that no product is rounded) that keeps sums within 8 bits."""
    largest = 255 * np.abs(weights.astype(np.int64)).sum(axis=(1, 2)).max()
    return np.float32(2.0 ** -np.ceil(np.log2(largest / 127)))


def _run_rounding(activations: "np.ndarray", weights: "np.ndarray") -> "np.ndarray":
    session = _session(_rounding(weights), TensorProto.UINT8)
    (rounded,) = session.run(None, {"x": activations})
    return np.asarray(rounded)


def _time() -> Tuple[float, float]:
    """Seconds of one convolution, rounding and integer, each followed by what makes it float."""
    random = np.random.default_rng(1)
    activations = random.integers(0, 256, (1, _N_CHANNELS, _LONG)).astype(np.uint8)
    weights = random.integers(
        -WEIGHT_LIMIT, WEIGHT_LIMIT + 1, (_N_CHANNELS, _N_CHANNELS, _KERNEL)
    ).astype(np.int8)
    sessions = [
        _session(_dequantised(_rounding(weights)), TensorProto.FLOAT),
        _session(_integer(weights), TensorProto.FLOAT),
    ]
    rounding_s, integer_s = _best_times(sessions, activations)
    return rounding_s, integer_s


def _best_times(sessions: List[Any], activations: "np.ndarray") -> List[float]:
    """Shortest seconds of each of a few runs, taken in turns."""
    best = [float("inf")] * len(sessions)
    for _ in range(_N_TIMINGS):
        for index, session in enumerate(sessions):
            start = time.perf_counter()
            session.run(None, {"x": activations})
            best[index] = min(best[index], time.perf_counter() - start)
    return best


def _convolution() -> Graph:
    """One of the decoder's convolutions: 7-bit weights, an activation's zero point as input."""
    _, n_channels, n_frames = _WIDE_INPUT
    shape = (_WIDE_OUTPUT_CHANNELS, n_channels, _WIDE_KERNEL)
    weights = np.random.default_rng(3).integers(0, 128, shape).astype(np.uint8)
    inputs = ["x", "weights", "x_zero", "zero"]
    node = helper.make_node("ConvInteger", inputs, ["y"], pads=[1, 1], kernel_shape=[_WIDE_KERNEL])
    known = {"weights": weights, "x_zero": np.array(120, np.uint8), "zero": np.array(70, np.uint8)}
    return Graph(
        [node],
        known,
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, n_channels, n_frames])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
    )


_Form = Tuple[List[onnx.NodeProto], Dict[str, np.ndarray]]


def _rounding(weights: "np.ndarray") -> _Form:
    scales = np.full(_N_CHANNELS, _scale(weights), np.float32)
    known = {
        "one": np.float32(1),
        "x_zero": np.uint8(0),
        "weights": weights,
        "scales": scales,
        "zeros": np.zeros(_N_CHANNELS, np.int8),
        "centre": np.uint8(_CENTRE),
    }
    inputs = ["x", "one", "x_zero", "weights", "scales", "zeros", "one", "centre"]
    return [helper.make_node("QLinearConv", inputs, ["y"], **_geometry())], known


def _dequantised(form: _Form) -> _Form:
    (convolution,), known = form
    convolution.output[0] = "rounded"
    centres = np.full(_N_CHANNELS, _CENTRE, np.uint8)
    nodes = [
        convolution,
        helper.make_node("DequantizeLinear", ["rounded", "scales", "centres"], ["y"], axis=1),
    ]
    return nodes, {**known, "centres": centres}


def _integer(weights: "np.ndarray") -> _Form:
    unsigned = (weights.astype(np.int16) + _CENTRE).astype(np.uint8)
    known = {"x_zero": np.uint8(0), "weights": unsigned, "zero": np.uint8(_CENTRE)}
    inputs = ["x", "weights", "x_zero", "zero"]
    nodes = [
        helper.make_node("ConvInteger", inputs, ["sums"], **_geometry()),
        helper.make_node("Cast", ["sums"], ["y"], to=TensorProto.FLOAT),
    ]
    return nodes, known


def _geometry() -> "Dict[str, List[int]]":
    margin = _DILATION * (_KERNEL - 1) // 2
    return {
        "kernel_shape": [_KERNEL],
        "dilations": [_DILATION],
        "pads": [margin, margin],
        "strides": [1],
    }


def _session(form: _Form, element: int) -> Any:
    nodes, known = form
    shape = [1, _N_CHANNELS, "T"]
    graph = helper.make_graph(
        nodes,
        "convolution",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, shape)],
        [helper.make_tensor_value_info("y", element, shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in known.items()],
    )
    opset = [helper.make_opsetid("", OPSET)]
    return _open(helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION))


def _open(model: onnx.ModelProto) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(
        model.SerializeToString(), session_options(n_threads=1), providers=[PROVIDER]
    )
