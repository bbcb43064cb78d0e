"""Lite checkpoints become voices; what does not fit is refused. Needs torch."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")
pytest.importorskip("safetensors")

import onnx  # noqa: E402
from tiny_lite import write_checkpoint  # noqa: E402

from edge_tts import Speaker  # noqa: E402
from edge_tts.build.lite import constants  # noqa: E402
from edge_tts.build.lite.checkpoint import read_checkpoint  # noqa: E402
from edge_tts.build.lite.parts import parts  # noqa: E402
from edge_tts.build.tensorrt.checker import check  # noqa: E402
from edge_tts.build.torch_voice.export import export_part  # noqa: E402
from edge_tts.cli.main import main  # noqa: E402
from edge_tts.errors import EXIT_OK, ModelError  # noqa: E402
from edge_tts.runtime.onnx import OnnxEngine  # noqa: E402
from edge_tts.voices.lite.codec import CodecDecoder  # noqa: E402
from edge_tts.voices.manifest import VoiceDirectory  # noqa: E402

LENGTHS = (
    {"s": 9, "n": 1, "m": 30, "m+n": 31, "t": 3},
    {"s": 4, "n": 6, "m": 8, "m+n": 14, "t": 20},
)


def quiet(line):
    """Takes the lines of a report."""


@pytest.fixture
def source(tmp_path):
    return write_checkpoint(tmp_path / "checkpoint")


def edit(path, change):
    tensors = torch.load(path, weights_only=True)
    change(tensors)
    torch.save(tensors, path)


@pytest.fixture(scope="module", params=["official", "hf"])
def exported(request, tmp_path_factory):
    """A checkpoint, and its parts with their plain graphs by name."""
    folder = tmp_path_factory.mktemp(request.param)
    path = write_checkpoint(folder / "checkpoint", form=request.param)
    checkpoint = read_checkpoint(path, quiet)
    found = {part.name: (part, folder / f"{part.name}.onnx") for part in parts(checkpoint)}
    for part, graph in found.values():
        export_part(part, graph)
    return checkpoint, found


def test_graphs_compute_what_the_modules_compute_at_other_lengths(exported):
    _, found = exported
    assert list(found) == ["encoder", "decoder", "codec"]
    for part, path in found.values():
        for seed, lengths in enumerate(LENGTHS):
            random = np.random.RandomState(seed)
            inputs = {
                spec.name: random.standard_normal(
                    [lengths[axis] if isinstance(axis, str) else axis for axis in spec.shape]
                ).astype(np.float32)
                for spec in part.inputs
            }
            if part.name == "codec":
                inputs["is_first"] = np.array([seed], np.float32)
            wanted = part.run(inputs)
            with OnnxEngine(path, n_threads=1) as engine:
                results = engine.run(inputs)
            for name, value in wanted.items():
                assert results[name].shape == value.shape, (part.name, name)
                worst = np.abs(results[name] - value).max()
                assert worst < 1e-4 * max(1, np.abs(value).max()), (part.name, name, worst)


def test_graphs_hold_only_what_tensorrt_85_takes(exported):
    _, found = exported
    for part, path in found.values():
        model = onnx.load(str(path))
        assert [item.version for item in model.opset_import] == [16]
        assert check(model, "8.5") == [], part.name


def test_both_forms_of_encodec_give_the_same_sound(tmp_path):
    sounds = []
    for form in ("official", "hf"):
        checkpoint = read_checkpoint(write_checkpoint(tmp_path / form, form=form), quiet)
        known = constants.tables(checkpoint)
        _, _, codec = parts(checkpoint)
        export_part(codec, tmp_path / f"{form}.onnx")
        with OnnxEngine(tmp_path / f"{form}.onnx", n_threads=1) as engine:
            stream = CodecDecoder(engine, known.codebooks, known.codec_state).stream()
            sounds.append(stream.decode(np.arange(40).reshape(20, 2) % 32))
    assert np.abs(sounds[0]).max() > 0.01
    assert np.allclose(sounds[0], sounds[1], atol=1e-6)


@pytest.mark.parametrize("precision", ["exact", "balanced", "small"])
def test_the_command_builds_a_voice_that_speaks(source, tmp_path, monkeypatch, capsys, precision):
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "voices"))
    out = tmp_path / "voices" / "mine"
    assert main(["build", str(source), "--out", str(out), "--precision", precision]) == EXIT_OK
    assert "built mine" in capsys.readouterr().err
    directory = VoiceDirectory.read(out)
    assert directory.faults() == []
    assert directory.manifest.info.family == "lite"
    assert directory.manifest.info.speakers == ("alice", "bob")
    named = {part.file for part in directory.manifest.parts} | {"voice.yaml"}
    assert {path.name for path in out.iterdir()} == named
    with Speaker("mine", n_threads=1) as speaker:
        assert len(speaker.synthesize("出门向左。").samples) > 2400


def test_a_bad_checkpoint_leaves_nothing_behind(source, tmp_path, capsys):
    (source / "pytorch_model.bin").write_bytes(b"PK")
    assert main(["build", str(source), "--out", str(tmp_path / "voices" / "mine")]) != EXIT_OK
    assert "error[model.file_truncated]" in capsys.readouterr().err
    assert not (tmp_path / "voices").exists()


def test_half_precision_and_shards_are_read(source, tmp_path):
    from safetensors.torch import save_file

    plain = read_checkpoint(source, quiet)
    tensors = torch.load(source / "pytorch_model.bin", weights_only=True)
    (source / "pytorch_model.bin").unlink()
    names = sorted(tensors)
    shards = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, chosen in shards.items():
        save_file({name: tensors[name].half() for name in chosen}, source / file)
    index = {"weight_map": {name: file for file, chosen in shards.items() for name in chosen}}
    (source / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    found = read_checkpoint(source, quiet)
    assert torch.allclose(found.decoder.head.weight, plain.decoder.head.weight, atol=1e-3)
    index["weight_map"][names[0]] = "../a.safetensors"
    (source / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(ModelError, match="outside the folder"):
        read_checkpoint(source, quiet)


def test_a_head_of_its_own_is_used_and_not_scaled(source):
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["tie_word_embeddings"] = False
    (source / "config.json").write_text(json.dumps(config), encoding="utf-8")
    head = torch.arange(192 * 16).reshape(192, 16).float()
    edit(source / "pytorch_model.bin", lambda tensors: tensors.update({"lm_head.weight": head}))
    found = read_checkpoint(source, quiet).decoder.head.weight
    assert torch.equal(found, head[[*range(128, 192), 1]])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda t: t.pop("decoder.block.1.layer.2.DenseReluDense.wo.weight"), "lacks 'decoder"),
        (lambda t: t.update({"more": torch.zeros(1)}), "unknown 'more'"),
        (lambda t: t.update({"shared.weight": torch.zeros(3, 16)}), r"shape \(3, 16\)"),
        (lambda t: t["shared.weight"].fill_(float("nan")), "not numbers"),
        (lambda t: t.update({"encoder.embed_tokens.weight": torch.zeros(192, 16)}), "differs"),
        (lambda t: t.update({"shared.weight": torch.zeros(192, 16, dtype=torch.int8)}), "int8"),
    ],
)
def test_weights_that_do_not_fit_are_named(source, change, named):
    edit(source / "pytorch_model.bin", change)
    with pytest.raises(ModelError, match=named) as caught:
        read_checkpoint(source, quiet)
    assert caught.value.code == "model.checkpoint_invalid"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda t: t.pop("decoder.model.1.lstm.bias_hh_l1"), "lacks 'decoder.model.1.lstm"),
        (
            lambda t: t.update({"decoder.model.99.bias": torch.zeros(1)}),
            "unknown 'decoder.model.99",
        ),
        (lambda t: t.pop("quantizer.vq.layers.1._codebook.embed"), "codec.num_codebooks"),
        (lambda t: t.pop("decoder.model.9.convtr.convtr.bias"), "lacks 'decoder.model.9"),
        (
            lambda t: t.update({"quantizer.vq.layers.0._codebook.embed": torch.zeros(9, 8)}),
            "codec.codebook_size",
        ),
    ],
)
def test_an_encodec_that_does_not_fit_is_named(source, change, named):
    edit(source / "encodec_24khz-00000000.th", change)
    with pytest.raises(ModelError, match=named):
        read_checkpoint(source, quiet)


def test_an_encodec_of_another_frame_rate_is_refused(source):
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["codec"]["frame_rate"] = 50
    (source / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelError, match="320 samples per frame"):
        read_checkpoint(source, quiet)


@pytest.mark.parametrize(
    ("field", "value"), [("use_causal_conv", False), ("pad_mode", "constant"), ("normalize", True)]
)
def test_an_encodec_of_another_kind_is_refused(tmp_path, field, value):
    source = write_checkpoint(tmp_path / "checkpoint", form="hf")
    path = source / "encodec" / "config.json"
    known = {**json.loads(path.read_text(encoding="utf-8")), field: value}
    path.write_text(json.dumps(known), encoding="utf-8")
    with pytest.raises(ModelError, match=field) as caught:
        read_checkpoint(source, quiet)
    assert caught.value.code == "model.checkpoint_unsupported"


@pytest.mark.parametrize("name", ["spiece.model", "encodec_24khz-00000000.th", "pytorch_model.bin"])
def test_a_missing_file_is_named(source, name):
    (source / name).unlink()
    with pytest.raises(ModelError) as caught:
        read_checkpoint(source, quiet)
    assert caught.value.code == "model.file_missing"


class TestTags:
    def added(self, source, tokens):
        (source / "added_tokens.json").write_text(json.dumps(tokens), encoding="utf-8")
        return source

    def test_added_tokens_count_as_tags(self, source):
        found = read_checkpoint(self.added(source, {"[SPKeve]": 120}), quiet)
        assert found.vocabulary.speakers["eve"] == 120
        assert len(found.text_rows) == 121

    def test_newer_files_list_them_by_id(self, source):
        section = {"121": {"content": "[SPKeve]", "special": True}}
        document = {"added_tokens_decoder": section}
        (source / "tokenizer_config.json").write_text(json.dumps(document), encoding="utf-8")
        assert read_checkpoint(source, quiet).vocabulary.speakers["eve"] == 121

    def test_a_tag_that_is_a_code_is_refused(self, source):
        with pytest.raises(ModelError, match="130 is a code"):
            read_checkpoint(self.added(source, {"[SPKeve]": 130}), quiet)

    def test_a_tag_without_an_embedding_is_refused(self, source):
        with pytest.raises(ModelError, match="id 500"):
            read_checkpoint(self.added(source, {"[SPKeve]": 500}), quiet)

    def test_a_vocabulary_without_tags_is_refused(self, source, monkeypatch):
        import tiny_lite

        monkeypatch.setattr(tiny_lite, "TAGS", ("[LNGzh]",))
        (source / "spiece.model").write_bytes(tiny_lite.vocabulary())
        with pytest.raises(ModelError, match=r"\[SPKname\]"):
            read_checkpoint(source, quiet)
        monkeypatch.setattr(tiny_lite, "TAGS", ("[SPKbob]", "[LNGfr]"))
        (source / "spiece.model").write_bytes(tiny_lite.vocabulary())
        with pytest.raises(ModelError, match=r"\[LNGzh\] or \[LNGen\]"):
            read_checkpoint(source, quiet)
