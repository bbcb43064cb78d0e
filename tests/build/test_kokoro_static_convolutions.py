"""Convolutions with known output ranges say the same as those that keep their sums."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from edge_tts.build.kokoro import processor
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.static_convolutions import (
    CHANNELS,
    PEAKS,
    WEIGHT_LIMIT,
    ConvolutionPeaks,
    find,
    quantise_outputs,
    report_peaks,
    signed_weights,
)
from edge_tts.runtime.onnx import OnnxEngine

N_CHANNELS = 64
N_FRAMES = 300
ZERO = 90


def node(op_type, inputs, *outputs, **attributes):
    name = f"{outputs[0]}/node"
    return helper.make_node(op_type, inputs, list(outputs), name=name, **attributes)


def convolution(name, x, y, *, biased):
    """As the export has it with a bias, and as `clean.drop_cancelled_biases` leaves it without."""
    sums, inputs = f"{name}/sums", [f"{name}/q", f"{name}/w", f"{name}/q_zero", "zero"]
    nodes = [
        node("DynamicQuantizeLinear", [x], f"{name}/q", f"{name}/q_scale", f"{name}/q_zero"),
        node("ConvInteger", inputs, sums, pads=[3, 3], dilations=[3]),
    ]
    if not biased:
        return [*nodes, node("Cast", [sums], y, to=TensorProto.FLOAT)]
    return [
        *nodes,
        node("Mul", [f"{name}/q_scale", "weight_scale"], f"{name}/factor"),
        node("Div", ["bias", f"{name}/factor"], f"{name}/bias_steps"),
        node("Cast", [f"{name}/bias_steps"], f"{name}/bias", to=TensorProto.INT32),
        node("Add", [sums, f"{name}/bias"], f"{name}/biased"),
        node("Cast", [f"{name}/biased"], f"{name}/cast", to=TensorProto.FLOAT),
        node("Mul", [f"{name}/cast", f"{name}/factor"], y),
    ]


def build():
    """Two convolutions, one whose scale and bias are left to a norm: here to a plain product."""
    random = np.random.default_rng(0)
    nodes = [
        *convolution("a", "x", "a/y", biased=False),
        node("Mul", ["a/q_scale", "weight_scale"], "a/factor"),
        node("Mul", ["a/y", "a/factor"], "a/real"),
        node("ReduceMean", ["a/y"], "a/mean", axes=[2], keepdims=1),
        *convolution("b", "a/real", "b/real", biased=True),
        node("Mul", ["a/mean", "nothing"], "nil"),
        node("Add", ["b/real", "nil"], "y"),
    ]
    weights = random.normal(ZERO, 20, (2, N_CHANNELS, N_CHANNELS, 3)).clip(0, 255)
    weights[0, 3, 5, 1] = 255  # too large for a signed byte, one channel only
    known = {
        "a/w": weights[0].astype(np.uint8),
        "b/w": weights[1].astype(np.uint8),
        "zero": np.uint8(ZERO),
        "weight_scale": np.float32(0.002),
        "bias": random.normal(0, 1, (1, N_CHANNELS, 1)).astype(np.float32),
        "nothing": np.float32(0),
    }
    shape = [1, N_CHANNELS, "T"]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    return Graph(nodes, known, inputs, outputs)


def run(graph, tmp_path, x):
    path = tmp_path / "graph.onnx"
    onnx.save(graph.to_model(), str(path))
    with OnnxEngine(path, n_threads=1) as engine:
        return engine.run({"x": x})


def sound(level=1.0):
    random = np.random.default_rng(1)
    return (level * random.standard_normal((1, N_CHANNELS, N_FRAMES))).astype(np.float32)


@pytest.fixture
def peaks(tmp_path):
    graph = build()
    report_peaks(graph)
    outputs = run(graph, tmp_path, sound())
    return ConvolutionPeaks(outputs[PEAKS], outputs[CHANNELS])


def signal_to_noise_db(expected, got):
    return 10 * np.log10(np.mean(expected**2) / np.mean((expected - got) ** 2))


def test_peaks_are_those_of_the_real_values_without_bias(tmp_path):
    graph = build()
    expected = run(build(), tmp_path, sound())["y"] - graph.initializers["bias"]
    report_peaks(graph)
    outputs = run(graph, tmp_path, sound())
    assert outputs[CHANNELS].tolist() == [N_CHANNELS, N_CHANNELS]
    of_the_second = outputs[PEAKS][N_CHANNELS:] * 0.002
    assert np.allclose(of_the_second, np.abs(expected).max(axis=(0, 2)), rtol=2e-3)


def test_rounded_outputs_are_close_and_nothing_integer_is_left(peaks, tmp_path):
    expected = run(build(), tmp_path, sound())["y"]
    graph = build()
    assert quantise_outputs(graph, peaks) == 2
    kinds = [item.op_type for item in graph.nodes]
    assert kinds.count("QLinearConv") == 2
    assert "ConvInteger" not in kinds
    assert signal_to_noise_db(expected, run(graph, tmp_path, sound())["y"]) > 33


def test_a_channel_that_is_always_zero_stays_so(peaks, tmp_path):
    plain, rounding = build(), build()
    for graph in (plain, rounding):
        graph.initializers["b/w"][7] = ZERO
    peaks.peaks[N_CHANNELS + 7] = 0
    quantise_outputs(rounding, peaks)
    expected, got = (run(graph, tmp_path, sound())["y"] for graph in (plain, rounding))
    assert np.allclose(expected[:, 7], got[:, 7], atol=1e-3)
    assert signal_to_noise_db(expected, got) > 33


def test_weights_stay_within_their_limit(peaks):
    graph = build()
    quantise_outputs(graph, peaks)
    weights = [w for w in graph.initializers.values() if w.dtype == np.int8 and w.ndim == 3]
    assert len(weights) == 2
    assert max(np.abs(w.astype(int)).max() for w in weights) == WEIGHT_LIMIT


def test_sound_louder_than_the_peaks_is_clipped(peaks, tmp_path):
    graph = build()
    quantise_outputs(graph, ConvolutionPeaks(peaks.peaks / 4, peaks.channels))
    unbiased = run(graph, tmp_path, sound())["y"] - build().initializers["bias"]
    got = np.abs(unbiased).max(axis=(0, 2))
    limit = peaks.peaks[N_CHANNELS:] / 4 * 0.002
    assert np.all(got <= limit * 128 / 127 + 0.01)


def test_weights_that_fit_are_kept_exactly():
    weights = np.random.default_rng(2).integers(0, 200, (4, 3, 2)).astype(np.uint8)
    signed, steps = signed_weights(weights, 100, 127)
    assert np.array_equal(signed, weights.astype(int) - 100)
    assert np.array_equal(steps, np.ones(4))


def test_channels_with_larger_weights_are_rounded_on_their_own():
    weights = np.full((2, 1, 2), 110, np.uint8)
    weights[1, 0, 0] = 254
    signed, steps = signed_weights(weights, 0, 127)
    assert steps.tolist() == [1, 2]
    assert signed[:, 0].tolist() == [[110, 110], [127, 55]]


def test_peaks_of_another_graph_are_refused(peaks):
    with pytest.raises(ValueError, match="convolutions"):
        quantise_outputs(build(), ConvolutionPeaks(peaks.peaks[1:], peaks.channels - [1, 0]))


def test_narrow_convolutions_stay():
    graph = build()
    for name in ("a/w", "b/w"):
        graph.initializers[name] = graph.initializers[name][:, :22]
    assert find(graph) == []


def test_the_shipped_peaks_are_whole_and_finite():
    shipped = ConvolutionPeaks.read()
    assert len(shipped.channels) == 48
    assert len(shipped.peaks) == shipped.channels.sum()
    assert np.all(np.isfinite(shipped.peaks))
    assert all(np.median(peaks) > 0 for peaks in shipped.split())


class TestProcessor:
    def test_the_convolution_is_exact_on_this_one(self):
        assert processor.is_exact()

    @pytest.mark.parametrize("weight_limit", [WEIGHT_LIMIT, 127])
    def test_sums_of_pairs_that_saturate_at_16_bits_are_noticed(self, weight_limit, monkeypatch):
        """What x86 without 8-bit dot products does to neighbouring input channels."""

        def saturating(activations, weights):
            margin = processor._DILATION * (processor._KERNEL - 1) // 2
            padded = np.pad(activations[0].astype(np.int64), ((0, 0), (margin, margin)))
            n_frames = activations.shape[2]
            sums = np.zeros((len(weights), n_frames), np.int64)
            for tap in range(processor._KERNEL):
                x = padded[:, tap * processor._DILATION :][:, :n_frames]
                for first in range(0, len(x), 2):
                    pair = weights[:, first : first + 2, tap].astype(np.int64) @ x[first:][:2]
                    sums += pair.clip(-(2**15), 2**15 - 1)
            scaled = np.rint(sums.astype(np.float32) * processor._scale(weights)) + 128
            return scaled.clip(0, 255).astype(np.uint8)[None]

        monkeypatch.setattr(processor, "_run_rounding", saturating)
        assert processor.is_exact(weight_limit) == (weight_limit == WEIGHT_LIMIT)

    @pytest.mark.parametrize(
        ("exact", "times_s", "expected"),
        [(True, (1.0, 3.0), True), (True, (1.0, 1.05), False), (False, (1.0, 3.0), False)],
    )
    def test_the_choice(self, exact, times_s, expected, monkeypatch):
        monkeypatch.setattr(processor, "is_exact", lambda: exact)
        monkeypatch.setattr(processor, "_time", lambda: times_s)
        assert processor.prefers_rounding() == expected
