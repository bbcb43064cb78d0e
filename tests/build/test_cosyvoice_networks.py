"""The networks that hear a recording go with the voice, whose checkpoint may have no speaker."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="building needs torch")

from tiny_cosyvoice import write_checkpoint
from tiny_listeners import write_speaker_encoder, write_speech_tokenizer

from edge_tts.build.cosyvoice.prepare import build
from edge_tts.errors import ModelError
from edge_tts.voices.cosyvoice.enrolment import NEUTRAL
from edge_tts.voices.cosyvoice.voice import ENROLMENT_PARTS, CosyVoice
from edge_tts.voices.manifest import VoiceDirectory


def checkpoint(path, generation=2):
    write_checkpoint(path, generation)
    write_speaker_encoder(path / "campplus.onnx")
    write_speech_tokenizer(path / f"speech_tokenizer_v{generation}.onnx", 50 // generation)
    return path


@pytest.mark.parametrize("generation", [1, 2])
def test_both_are_parts_of_the_voice(tmp_path, generation):
    source = checkpoint(tmp_path / "checkpoint", generation)
    build(source, tmp_path / "mine", lambda line: None)
    directory = VoiceDirectory.read(tmp_path / "mine")
    names = {part.name for part in directory.manifest.parts}
    assert names >= set(ENROLMENT_PARTS)
    content = (source / "campplus.onnx").read_bytes()
    assert directory.file("campplus").read_bytes() == content
    assert directory.faults() == []


def test_without_speakers_it_speaks_as_nobody(tmp_path):
    source = checkpoint(tmp_path / "checkpoint")
    (source / "spk2info.pt").unlink()
    told = []
    build(source, tmp_path / "mine", told.append)
    directory = VoiceDirectory.read(tmp_path / "mine")
    assert directory.manifest.info.speakers == (NEUTRAL,)
    assert "voices enroll" in told[-1]
    CosyVoice.load(directory, 1).close()


def test_with_neither_speakers_nor_networks_it_is_refused(tmp_path):
    source = write_checkpoint(tmp_path / "checkpoint", 2)
    (source / "spk2info.pt").unlink()
    with pytest.raises(ModelError, match=r"campplus\.onnx"):
        build(source, tmp_path / "mine", lambda line: None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"\x08\x07garbage" * 20, "damaged"),
    ],
)
@pytest.mark.parametrize("file", ["campplus.onnx", "speech_tokenizer_v2.onnx"])
def test_what_is_no_network_is_refused_before_any_work(tmp_path, file, content, reason):
    source = checkpoint(tmp_path / "checkpoint")
    (source / file).write_bytes(content)
    with pytest.raises(ModelError, match=reason) as caught:
        build(source, tmp_path / "mine", lambda line: None)
    assert file in str(caught.value)
    assert not (tmp_path / "mine").exists()
