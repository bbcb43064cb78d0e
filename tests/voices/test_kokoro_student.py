"""The fast generator's frame around the network: alignment, states, joins, determinism.

The network is a tiny ONNX graph with the exported one's inputs and outputs. It passes the source
through, so what comes out must be the pulse train of the frames asked for, sample by sample.
"""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tiny_kokoro import write_voice

from edge_tts.build.kokoro.prepare import prepare_fast
from edge_tts.errors import EngineError
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.tokens import Language, Segment, Span, Token, TokenKind
from edge_tts.voices import manifest as manifests
from edge_tts.voices.kokoro.generator import Acoustics
from edge_tts.voices.kokoro.pulse_train import FRAME_SAMPLES, PulseTrain
from edge_tts.voices.kokoro.silence import speech
from edge_tts.voices.kokoro.student import FFT_SIZE, HOP_SAMPLES, WINDOW_FRAMES, StudentGenerator
from edge_tts.voices.kokoro.voice import KokoroVoice
from edge_tts.voices.manifest import VoiceDirectory
from edge_tts.voices.voice import Preset

STATES = {"state_0": (1, 6, 4)}


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def write(path, nodes, inputs, outputs, constants=()):
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in dict(constants).items()]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, tensors)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return OnnxEngine(path, n_threads=1)


def network(folder, level=1.0):
    """Audio = source, its last overlap silent; the state counts the windows."""
    nodes = [
        helper.make_node("Slice", ["source", "zero", "end", "axis"], ["head"]),
        helper.make_node("Concat", ["head", "silence"], ["plain"], axis=1),
        helper.make_node("Mul", ["plain", "level"], ["loud"]),
        helper.make_node("ReduceMean", ["condition"], ["colour"], axes=[1], keepdims=1),
        helper.make_node("Add", ["loud", "colour"], ["coloured"]),
        helper.make_node("ReduceMean", ["noise"], ["hiss"], axes=[1, 2], keepdims=0),
        helper.make_node("Mul", ["hiss", "nothing"], ["no_hiss"]),
        helper.make_node("Add", ["coloured", "no_hiss"], ["audio"]),
        helper.make_node("Add", ["state_0", "one"], ["next_state_0"]),
    ]
    overlap = FFT_SIZE - HOP_SAMPLES
    constants = {
        "zero": np.array([0]),
        "end": np.array([-overlap]),
        "axis": np.array([1]),
        "silence": np.zeros((1, overlap), np.float32),
        "level": np.float32(level),
        "nothing": np.float32(0),
        "one": np.float32(1),
    }
    inputs = [
        value("x", (1, 512, "W")),
        value("f0", (1, "W")),
        value("energy", (1, "W")),
        value("condition", (1, 128)),
        value("source", (1, "S")),
        value("noise", (1, 602, "U")),
        value("state_0", STATES["state_0"]),
    ]
    outputs = [value("audio", (1, "S")), value("next_state_0", STATES["state_0"])]
    return write(folder / "fast.onnx", nodes, inputs, outputs, constants)


def conditioning(folder):
    """128 zeros: style and pool do not reach the sound."""
    nodes = [
        helper.make_node("MatMul", ["style", "w"], ["a"]),
        helper.make_node("MatMul", ["pool", "v"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["condition"]),
    ]
    constants = {"w": np.zeros((256, 128), np.float32), "v": np.zeros((1024, 128), np.float32)}
    inputs = [value("style", (1, 256)), value("pool", (1, 1024))]
    outputs = [value("condition", (1, 128))]
    return write(folder / "condition.onnx", nodes, inputs, outputs, constants)


class Recorder:
    """An engine that remembers the states it was given."""

    def __init__(self, engine):
        self.engine = engine
        self.states = []

    def run(self, inputs):
        self.states.append(float(inputs["state_0"].max()))
        return self.engine.run(inputs)


@pytest.fixture
def generator(tmp_path):
    return StudentGenerator(network(tmp_path), conditioning(tmp_path), STATES)


def utterance(n_frames, lead=40, tail=30):
    random = np.random.default_rng(5)
    energy = np.full(n_frames, 3.0, np.float32)
    energy[:lead] = energy[n_frames - tail :] = -10
    return Acoustics(
        features=random.standard_normal((1, 512, n_frames)).astype(np.float32),
        f0_hz=np.where(np.arange(n_frames) % 40 < 30, 150, 0).astype(np.float32),
        energy=energy,
        style=random.standard_normal((1, 256)).astype(np.float32),
    )


@pytest.mark.parametrize("n_frames", [75, 120, 400])
@pytest.mark.parametrize(("lead", "tail"), [(40, 30), (0, 0), (3, 1)])
def test_what_comes_out_is_aligned_with_the_frames_asked_for(generator, n_frames, lead, tail):
    spoken = utterance(n_frames, lead, tail)
    start, end = speech(spoken.energy, 4, 12)
    sound = np.concatenate([*generator.run(spoken)])
    assert sound.dtype == np.float32
    expected = PulseTrain(spoken.f0_hz).window(start, end)
    assert np.allclose(sound, expected, atol=1e-5)


def test_states_go_from_window_to_window_and_start_at_zero(tmp_path):
    recorder = Recorder(network(tmp_path))
    generator = StudentGenerator(recorder, conditioning(tmp_path), STATES)
    for _ in range(2):
        list(generator.run(utterance(300)))
    half = len(recorder.states) // 2
    assert recorder.states == [*range(half), *range(half)]


def test_the_first_piece_needs_few_frames(tmp_path):
    recorder = Recorder(network(tmp_path))
    pieces = StudentGenerator(recorder, conditioning(tmp_path), STATES).run(utterance(3000))
    assert len(next(pieces)) <= 2 * max(WINDOW_FRAMES[:2]) * FRAME_SAMPLES
    assert len(recorder.states) <= 2


def test_the_same_utterance_gives_the_same_samples(generator):
    first, second = ([*generator.run(utterance(200))] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second))


def test_samples_that_are_not_numbers_never_leave(tmp_path):
    generator = StudentGenerator(
        network(tmp_path, level=float("nan")), conditioning(tmp_path), STATES
    )
    with pytest.raises(EngineError) as error:
        list(generator.run(utterance(200)))
    assert error.value.code == "engine.output_invalid"


def test_shipped_weights_are_prepared_and_opened(tmp_path):
    shipped, prepared = tmp_path / "shipped", tmp_path / "prepared"
    shipped.mkdir()
    network(shipped)
    conditioning(shipped)
    (shipped / "fast.onnx").rename(shipped / "fast_generator.onnx")
    (shipped / "condition.onnx").rename(shipped / "fast_generator_condition.onnx")
    directory = write_voice(prepared)
    assert prepare_fast(prepared, tmp_path / "empty") == []
    parts = (*directory.manifest.parts, *prepare_fast(prepared, shipped))
    manifest = replace(directory.manifest, parts=parts)
    (prepared / manifests.FILE_NAME).write_text(manifests.render(manifest), encoding="utf-8")
    voice = KokoroVoice.load(VoiceDirectory.read(prepared), 1, Preset.FAST)
    span = Span(0, 1)
    token = Token("x", TokenKind.WORD, Language.EN, span, "ə" * 20)
    pieces = [*voice.synthesize(Segment(0, (token,), span, 0.0), "af_heart", 1.0)]
    voice.close()
    assert np.std(np.concatenate(pieces)) > 0.1
