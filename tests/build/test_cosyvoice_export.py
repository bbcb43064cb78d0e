"""Exported parts compute what the modules compute, in operators TensorRT 8.5 takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import onnx  # noqa: E402
from tiny_cosyvoice import write_checkpoint  # noqa: E402

from edge_tts import Speaker  # noqa: E402
from edge_tts.build.cosyvoice import constants  # noqa: E402
from edge_tts.build.cosyvoice.checkpoint import read_checkpoint  # noqa: E402
from edge_tts.build.cosyvoice.group_norm import GroupNorm  # noqa: E402
from edge_tts.build.cosyvoice.hift import Spectrum  # noqa: E402
from edge_tts.build.cosyvoice.parts import parts  # noqa: E402
from edge_tts.build.cosyvoice.prepare import build  # noqa: E402
from edge_tts.build.torch_voice.export import OPSET, export_part  # noqa: E402
from edge_tts.errors import InputError, ModelError  # noqa: E402
from edge_tts.runtime.onnx import OnnxEngine  # noqa: E402
from edge_tts.voices.manifest import VoiceDirectory  # noqa: E402

OPERATORS = Path(__file__).parent / "data" / "tensorrt85_operators.tsv"
NAMES = {
    1: ["text_encoder", "lm", "flow_encoder", "estimator", "f0", "vocoder"],
    2: ["lm", "flow_encoder", "estimator", "f0", "vocoder"],
}
LENGTHS = (
    {"n": 1, "m": 9, "n+m": 10, "t": 21, "b": 2, "n+3": 4, "2n": 2},
    {"n": 31, "m": 0, "n+m": 31, "t": 64, "b": 1, "n+3": 34, "2n": 62},
)


@pytest.fixture(scope="module", params=[1, 2])
def exported(request, tmp_path_factory):
    """Parts and their plain graphs by name."""
    folder = tmp_path_factory.mktemp(f"v{request.param}")
    checkpoint = read_checkpoint(write_checkpoint(folder / "checkpoint", request.param))
    found = {part.name: (part, folder / f"{part.name}.onnx") for part in parts(checkpoint)}
    for part, path in found.values():
        export_part(part, path)
    assert list(found) == NAMES[request.param]
    return checkpoint, found


def arrays(part, lengths, seed):
    random = np.random.RandomState(seed)
    found = {}
    for spec in part.inputs:
        shape = [lengths[axis] if isinstance(axis, str) else axis for axis in spec.shape]
        if not spec.is_integer:
            found[spec.name] = random.standard_normal(shape).astype(np.float32)
        elif spec.name == "visible":
            found[spec.name] = np.full(shape, shape[0], np.int32)
        else:
            found[spec.name] = random.randint(0, lengths["n"], shape).astype(np.int32)
    return found


def test_graphs_compute_what_the_modules_compute_at_other_lengths(exported):
    checkpoint, found = exported
    for part, path in found.values():
        for seed, lengths in enumerate(LENGTHS):
            samples = lengths["t"] * checkpoint.hift_config.samples_per_frame
            inputs = arrays(part, {**lengths, "l": samples}, seed)
            wanted = part.run(inputs)
            with OnnxEngine(path, n_threads=1) as engine:
                results = engine.run(inputs)
            for name, value in wanted.items():
                assert results[name].shape == value.shape, (part.name, name)
                worst = np.abs(results[name] - value).max()
                assert worst < 1e-3 * max(1, np.abs(value).max()), (part.name, name, worst)


def test_graphs_hold_only_operators_of_tensorrt_85(exported):
    lines = OPERATORS.read_text(encoding="utf-8").splitlines()
    supported = dict(line.split("\t") for line in lines if not line.startswith("#"))
    _, found = exported
    for part, path in found.values():
        model = onnx.load(str(path))
        assert [item.version for item in model.opset_import] == [OPSET]
        assert not model.functions
        for node in model.graph.node:
            assert node.domain == ""
            assert supported.get(node.op_type) in {"yes", "limited"}, (part.name, node.op_type)


def test_no_graph_draws_random_numbers_and_integers_are_int32(exported):
    _, found = exported
    for part, path in found.values():
        graph = onnx.load(str(path)).graph
        assert not [node for node in graph.node if node.op_type.startswith("Random")]
        for value in graph.input:
            kind = value.type.tensor_type.elem_type
            wanted = {spec.name: spec.is_integer for spec in part.inputs}[value.name]
            assert kind == (onnx.TensorProto.INT32 if wanted else onnx.TensorProto.FLOAT)


def test_a_cache_continues_exactly_what_one_run_computes(exported):
    checkpoint, found = exported
    part, path = found["lm"]
    lengths = {"n": 12, "m": 0, "n+m": 12}
    inputs = arrays(part, lengths, 3)
    if "positions" in inputs:
        inputs["positions"] = constants.tables(checkpoint).positions[:12]
    with OnnxEngine(path, n_threads=1) as engine:
        whole = engine.run(inputs)
        cache, rows = inputs["cache"], []
        for start, end in ((0, 5), (5, 6), (6, 12)):
            step = {**inputs, "x": inputs["x"][start:end], "cache": cache}
            if "positions" in inputs:
                step["positions"] = inputs["positions"][:end]
            results = engine.run(step)
            cache = np.concatenate([cache, results["new_cache"]])
            rows.append(results["hidden"])
    assert np.allclose(np.concatenate(rows), whole["hidden"], atol=1e-5)
    assert np.allclose(cache, whole["new_cache"], atol=1e-5)


def test_hidden_tokens_have_no_influence(exported):
    """A chunked flow encoder must not see past its chunk, whatever is there."""
    _, found = exported
    part, path = found["flow_encoder"]
    if "visible" not in {spec.name for spec in part.inputs}:
        pytest.skip("CosyVoice 1 has no chunk mask")
    tokens = np.arange(23, dtype=np.int32)
    inputs = {
        "tokens": tokens,
        "has_context": np.ones(1, np.float32),
        "visible": np.repeat([10, 20], 10).astype(np.int32),
    }
    changed = np.where(np.arange(23) < 13, tokens, tokens + 20).astype(np.int32)
    with OnnxEngine(path, n_threads=1) as engine:
        first = engine.run(inputs)["mu"]
        second = engine.run({**inputs, "tokens": changed})["mu"]
    assert np.array_equal(first[:, :, :20], second[:, :, :20])
    assert not np.allclose(first[:, :, 20:], second[:, :, 20:])


def test_group_norm_is_torchs():
    ours, stock = GroupNorm(4, 8), torch.nn.GroupNorm(4, 8)
    torch.nn.init.normal_(stock.weight)
    torch.nn.init.normal_(stock.bias)
    ours.load_state_dict(stock.state_dict())
    x = torch.randn(2, 8, 33)
    assert torch.allclose(ours(x), stock(x), atol=1e-5)


def test_the_spectrum_is_torchs_and_inverts():
    spectrum, signal = Spectrum(16, 4), torch.randn(1, 1, 400)
    window = torch.hann_window(16)
    wanted = torch.stft(signal[0], 16, 4, window=window, return_complex=True)
    found = spectrum.analyse(signal)
    assert torch.allclose(found[:, :9], wanted.real, atol=1e-5)
    assert torch.allclose(found[:, 9:], wanted.imag, atol=1e-5)
    assert torch.allclose(spectrum.synthesise(found), signal, atol=1e-5)


class TestBuild:
    @pytest.fixture
    def source(self, tmp_path):
        return write_checkpoint(tmp_path / "checkpoint", 2)

    def test_a_voice_is_written_whole_with_its_manifest(self, source, tmp_path):
        lines = []
        build(source, tmp_path / "voices" / "mine", lines.append)
        directory = VoiceDirectory.read(tmp_path / "voices" / "mine")
        assert directory.faults() == []
        assert directory.manifest.info.name == "mine"
        assert directory.manifest.info.default_speakers == ("中文女", "英文男")
        assert directory.manifest.gate.mel_distance_db < 0.1
        named = {part.file for part in directory.manifest.parts} | {"voice.yaml"}
        assert {path.name for path in directory.path.iterdir()} == named
        assert [path.name for path in (tmp_path / "voices").iterdir()] == ["mine"]
        assert lines[-1].startswith("built mine")

    def test_a_bad_checkpoint_leaves_nothing_behind_and_the_old_voice_alone(self, source, tmp_path):
        voices = tmp_path / "voices"
        build(source, voices / "mine", lambda line: None)
        before = (voices / "mine" / "voice.yaml").read_text(encoding="utf-8")
        (source / "hift.pt").write_bytes(b"")
        with pytest.raises(ModelError):
            build(source, voices / "mine", lambda line: None)
        assert (voices / "mine" / "voice.yaml").read_text(encoding="utf-8") == before
        assert [path.name for path in voices.iterdir()] == ["mine"]

    def test_a_speaker_with_a_spoken_example_speaks(self, source, tmp_path, monkeypatch):
        entry = {
            "prompt_text": torch.tensor([[65, 66, 67]]),
            "flow_prompt_speech_token": torch.arange(6)[None],
            "prompt_speech_feat": torch.zeros(1, 12, 80),
            "flow_embedding": torch.ones(1, 8),
        }
        torch.save({"mine": entry}, source / "spk2info.pt")
        build(source, tmp_path / "voices" / "tiny", lambda line: None)
        monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "voices"))
        with Speaker("tiny", n_threads=1) as speaker:
            sound = speaker.synthesize("出门向左。")
        assert sound.sample_rate_hz == 24000
        assert len(sound.samples) > 2400

    def test_a_checkpoint_without_speakers_is_refused(self, source, tmp_path):
        (source / "spk2info.pt").unlink()
        with pytest.raises(ModelError, match="no speakers"):
            build(source, tmp_path / "mine", lambda line: None)

    @pytest.mark.parametrize("name", ["a b", "voice!"])
    def test_names_that_no_manifest_takes_are_refused(self, source, tmp_path, name):
        with pytest.raises(InputError):
            build(source, tmp_path / name, lambda line: None)

    def test_a_folder_that_is_no_voice_is_not_replaced(self, source, tmp_path):
        (tmp_path / "mine").mkdir()
        with pytest.raises(InputError, match="not a voice"):
            build(source, tmp_path / "mine", lambda line: None)
