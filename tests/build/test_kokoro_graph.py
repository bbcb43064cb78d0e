"""The rewrites of Kokoro's graph compute what the graph computed before them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from edge_tts.build.kokoro import clean
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.padding import weigh_padding
from edge_tts.build.kokoro.statistics import report_statistics, take_statistics
from edge_tts.build.mel_distance import mel_distance_db
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.voices.kokoro.silence import EDGE_FRAMES

N_CHANNELS = 6
BLOCK = "/decoder/decoder/generator/resblocks.0/"
RATE = 10


def node(op_type, inputs, output, **attributes):
    return helper.make_node(op_type, inputs, [output], **attributes)


def norm_nodes(x, name):
    """An instance norm over time with gain and offset, as the export spells it."""
    return [
        node("ReduceMean", [x], f"{name}mean", axes=[2], keepdims=1),
        node("Sub", [x, f"{name}mean"], f"{name}centred"),
        node("Mul", [f"{name}centred", f"{name}centred"], f"{name}squares"),
        node("ReduceMean", [f"{name}squares"], f"{name}variance", axes=[2], keepdims=1),
        node("Add", [f"{name}variance", "epsilon"], f"{name}variance_eps"),
        node("Sqrt", [f"{name}variance_eps"], f"{name}sd"),
        node("Div", [f"{name}centred", f"{name}sd"], f"{name}normal"),
        node("Mul", ["gain", f"{name}normal"], f"{name}scaled"),
        node("Add", [f"{name}scaled", "offset"], f"{name}styled"),
    ]


def snake_nodes(y, name, result):
    return [
        node("Mul", ["alpha", y], f"{name}angle"),
        node("Sin", [f"{name}angle"], f"{name}sine"),
        node("Pow", [f"{name}sine", "two"], f"{name}power"),
        node("Mul", ["reciprocal", f"{name}power"], f"{name}wave"),
        node("Add", [y, f"{name}wave"], result),
    ]


def constants(seed=0):
    random = np.random.default_rng(seed)

    def channel(low, high):
        return random.uniform(low, high, (1, N_CHANNELS, 1)).astype(np.float32)

    alpha = channel(0.5, 2)
    return {
        "epsilon": np.float32(1e-5),
        "gain": channel(0.5, 1.5),
        "offset": channel(-1, 1),
        "alpha": alpha,
        "reciprocal": 1 / alpha,
        "two": np.float32(2),
    }


def graph_of(nodes, initializers, shape=(1, N_CHANNELS, "t"), element=TensorProto.FLOAT):
    inputs = [helper.make_tensor_value_info("x", element, list(shape))]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, N_CHANNELS, "t"])]
    return Graph(nodes, dict(initializers), inputs, outputs)


def run(graph, tmp_path, **inputs):
    path = tmp_path / "graph.onnx"
    onnx.save(graph.to_model(), str(path))
    with OnnxEngine(path, n_threads=1) as engine:
        return engine.run(inputs)["y"]


def sound(n_frames=400, seed=1):
    random = np.random.default_rng(seed)
    level = random.uniform(-2, 2, (1, N_CHANNELS, 1))
    return (random.standard_normal((1, N_CHANNELS, n_frames)) + level).astype(np.float32)


@pytest.fixture
def norm_and_snake():
    name = f"{BLOCK}a"
    nodes = norm_nodes("x", name) + snake_nodes(f"{name}styled", name, "y")
    return graph_of(nodes, constants())


def test_folded_norm_and_snake_give_the_same_values(norm_and_snake, tmp_path):
    before = run(norm_and_snake, tmp_path, x=sound())
    assert clean.fold_instance_norms(norm_and_snake) == 1
    assert clean.fold_snakes(norm_and_snake) == 1
    after = run(norm_and_snake, tmp_path, x=sound())
    assert np.allclose(before, after, atol=1e-4)
    kinds = {n.op_type for n in norm_and_snake.nodes}
    assert not kinds & {"Pow", "Sin"}


def test_a_square_by_pow_becomes_a_product(tmp_path):
    graph = graph_of([node("Pow", ["x", "two"], "y")], {"two": np.float32(2)})
    before = run(graph, tmp_path, x=sound())
    assert clean.square_by_multiplication(graph) == 1
    assert [n.op_type for n in graph.nodes] == ["Mul"]
    assert np.array_equal(before, run(graph, tmp_path, x=sound()))


def test_other_powers_stay(tmp_path):
    graph = graph_of([node("Pow", ["x", "three"], "y")], {"three": np.float32(3)})
    assert clean.square_by_multiplication(graph) == 0


def test_a_bias_and_a_scale_that_a_norm_cancels_are_bypassed(tmp_path):
    random = np.random.default_rng(2)
    name = f"{BLOCK}a"
    convolution = helper.make_node(
        "ConvInteger", ["x", "w"], ["sums"], name=f"{BLOCK}convs1.0/Conv_quant", pads=[1, 1]
    )
    nodes = [
        convolution,
        node("Add", ["sums", "bias"], "biased"),
        node("Cast", ["biased"], "cast", to=TensorProto.FLOAT),
        node("Mul", ["cast", "scale"], "z"),
        *norm_nodes("z", name),
        *snake_nodes(f"{name}styled", name, "y"),
    ]
    weights = random.integers(0, 255, (N_CHANNELS, N_CHANNELS, 3)).astype(np.uint8)
    bias = random.integers(-1000, 1000, (1, N_CHANNELS, 1)).astype(np.int32)
    known = {**constants(), "w": weights, "bias": bias, "scale": np.float32(0.003)}
    graph = graph_of(nodes, known, element=TensorProto.UINT8)
    x = random.integers(0, 255, (1, N_CHANNELS, 200)).astype(np.uint8)
    before = run(graph, tmp_path, x=x)
    clean.fold_instance_norms(graph)
    clean.fold_snakes(graph)
    assert clean.drop_cancelled_biases(graph) == 1
    assert "bias" not in graph.initializers
    assert np.allclose(before, run(graph, tmp_path, x=x), atol=1e-3)


class TestPadding:
    @pytest.fixture
    def weighed(self, norm_and_snake):
        clean.fold_instance_norms(norm_and_snake)
        clean.fold_snakes(norm_and_snake)
        assert weigh_padding(norm_and_snake) == 1
        return norm_and_snake

    def test_without_shares_nothing_changes(self, weighed, tmp_path):
        plain = graph_of(
            norm_nodes("x", f"{BLOCK}a") + snake_nodes(f"{BLOCK}astyled", f"{BLOCK}a", "y"),
            constants(),
        )
        shares = np.zeros(2, np.float32)
        weighed_sound = run(weighed, tmp_path, x=sound(), padding_shares=shares)
        assert np.allclose(run(plain, tmp_path, x=sound()), weighed_sound, atol=1e-4)

    def test_stationary_silence_can_be_left_out_exactly(self, weighed, tmp_path):
        speech = sound(40 * RATE)
        lead, tail = (np.full((1, N_CHANNELS, 60 * RATE), level) for level in (0.3, -0.7))
        whole = np.concatenate([lead, speech, tail], axis=2).astype(np.float32)
        kept = 20 * RATE
        cut = np.ascontiguousarray(whole[:, :, 40 * RATE : -40 * RATE])
        none = np.zeros(2, np.float32)
        shares = np.array([40 / 160, 40 / 160], np.float32)
        expected = run(weighed, tmp_path, x=whole, padding_shares=none)[:, :, 40 * RATE : -kept * 2]
        assert np.allclose(
            expected, run(weighed, tmp_path, x=cut, padding_shares=shares), atol=1e-4
        )
        assert not np.allclose(
            expected, run(weighed, tmp_path, x=cut, padding_shares=none), atol=1e-1
        )
        assert kept > EDGE_FRAMES * RATE


class TestStatistics:
    """Given the statistics of the whole, a window becomes what it is within the whole."""

    @pytest.fixture
    def parts(self, tmp_path):
        """The same norm and snake twice behind an integer convolution, as the generator has it."""

        def graph():
            name = f"{BLOCK}a"
            convolution = helper.make_node(
                "ConvInteger", ["x", "w"], ["sums"], name=f"{BLOCK}convs1.0/Conv_quant"
            )
            nodes = [
                convolution,
                node("Add", ["sums", "bias"], "biased"),
                node("Cast", ["biased"], "cast", to=TensorProto.FLOAT),
                node("Mul", ["cast", "scale"], "z"),
                *norm_nodes("z", name),
                *snake_nodes(f"{name}styled", name, "first"),
                *norm_nodes("first", f"{name}2"),
                *snake_nodes(f"{name}2styled", f"{name}2", "y"),
            ]
            random = np.random.default_rng(3)
            weights = random.integers(0, 255, (N_CHANNELS, N_CHANNELS, 1)).astype(np.uint8)
            bias = random.integers(-1000, 1000, (1, N_CHANNELS, 1)).astype(np.int32)
            known = {**constants(), "w": weights, "bias": bias, "scale": np.float32(0.003)}
            built = graph_of(nodes, known, element=TensorProto.UINT8)
            clean.fold_instance_norms(built)
            clean.fold_snakes(built)
            assert clean.drop_cancelled_biases(built) == 1
            weigh_padding(built)
            return built

        return graph

    def report(self, graph, tmp_path, x):
        assert report_statistics(graph) == 2
        path = tmp_path / "report.onnx"
        onnx.save(graph.to_model(), str(path))
        with OnnxEngine(path, n_threads=1) as engine:
            return engine.run({"x": x, "padding_shares": np.zeros(2, np.float32)})

    def test_a_window_is_the_same_as_within_the_whole(self, parts, tmp_path):
        random = np.random.default_rng(4)
        x = random.integers(0, 255, (1, N_CHANNELS, 40 * RATE)).astype(np.uint8)
        whole = self.report(parts(), tmp_path, x)
        assert whole["channels"].tolist() == [N_CHANNELS, N_CHANNELS]
        windowed = parts()
        take_statistics(windowed, whole["channels"])
        assert [item.name for item in windowed.inputs] == ["x", "statistics"]
        window = np.ascontiguousarray(x[:, :, 50:90])
        got = run(windowed, tmp_path, x=window, statistics=whole["statistics"])
        assert np.allclose(got, whole["y"][:, :, 50:90], atol=1e-3)
        other = run(windowed, tmp_path, x=window, statistics=whole["statistics"] * 2)
        assert not np.allclose(other, got, atol=1e-1)

    def test_sizes_of_another_graph_are_refused(self, parts):
        with pytest.raises(ValueError, match="3 sizes"):
            take_statistics(parts(), [1, 2, 3])


def test_the_istft_window_is_divided_out_without_scatter(tmp_path):
    length = 20
    window_sum = np.linspace(0, 2, length)
    nodes = [
        node("Identity", ["x"], clean._ISTFT + "ConvTranspose_output_0"),
        node("Neg", ["x"], clean._ISTFT + "Unsqueeze_3_output_0"),
        node("Identity", [clean._ISTFT + "Unsqueeze_3_output_0"], "y"),
    ]
    known = {
        clean._WINDOW_SUM: window_sum.astype(np.float32),
        clean._ISTFT + "Constant_9_output_0": np.float32(0.01),
    }
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, "t"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, "t"])]
    graph = Graph(nodes, known, inputs, outputs)
    clean.replace_istft_window(graph)
    y = run(graph, tmp_path, x=np.ones((1, 1, 50), np.float32)).ravel()
    assert y[0] == 1
    assert np.allclose(y[1:length], 1 / window_sum[1:])
    assert np.all(y[length:] == 1)


def test_opset_20_attributes_are_lowered(tmp_path):
    mean = node("ReduceMean", ["x", "axes"], "mean", keepdims=1)
    cast = node("Cast", ["mean"], "y", to=TensorProto.FLOAT, saturate=1)
    graph = graph_of([mean, cast], {"axes": np.array([2])})
    clean.lower_opset(graph)
    assert run(graph, tmp_path, x=sound()).shape == (1, N_CHANNELS, 1)


def test_nodes_nobody_needs_are_pruned():
    graph = graph_of([node("Neg", ["x"], "unused"), node("Abs", ["x"], "y")], {"lost": np.zeros(1)})
    graph.prune()
    assert [n.op_type for n in graph.nodes] == ["Abs"]
    assert not graph.initializers


def test_mel_distance_is_zero_for_the_same_sound_and_6_db_for_half_of_it():
    tone = np.sin(np.arange(24_000) * 0.3).astype(np.float32)
    noise = np.random.default_rng(0).standard_normal(24_000).astype(np.float32)
    assert mel_distance_db(tone, tone) == 0
    assert mel_distance_db(noise, noise / 2) == pytest.approx(6.02, abs=0.05)
