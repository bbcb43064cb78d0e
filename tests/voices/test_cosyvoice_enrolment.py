"""A tiny CosyVoice voice learns a speaker from a recording."""

from __future__ import annotations

import dataclasses
import wave

import numpy as np
import pytest
from cosyvoice_voices import NAMES, unpack

from edge_tts import Speaker
from edge_tts.cli.main import main
from edge_tts.errors import EdgeTTSError, EngineError, InputError, ModelError
from edge_tts.runtime.integrity import sha256_of
from edge_tts.voices import catalog
from edge_tts.voices.cosyvoice.enrolment import NEUTRAL, Enrolment, enrol
from edge_tts.voices.cosyvoice.features import speaker_features, tokenizer_features
from edge_tts.voices.cosyvoice.recording import Recording
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.speakers import read_speakers
from edge_tts.voices.cosyvoice.voice import ENROLMENT_PARTS
from edge_tts.voices.manifest import FILE_NAME, Manifest, Part, VoiceDirectory, render

pytest.importorskip("onnx", reason="the stand-ins are made with onnx")

from tiny_listeners import write_speaker_encoder, write_speech_tokenizer

TEXT = "今天天气真不错。"
RATES = {"cosyvoice1": 50, "cosyvoice2": 25}
SPEAKER_ROW = [1.4978, 1.6231, -0.1189, -0.8784, -0.1612]
TOKENIZER_COLUMN = [0.29212, 0.87257, 0.28895, 0.35714, 0.33029, 0.28882]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def directory(name, tmp_path, monkeypatch):
    root = unpack(tmp_path / "voices")
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(root))
    encoder, tokenizer = (root / name / f"{part}.onnx" for part in ENROLMENT_PARTS)
    write_speaker_encoder(encoder)
    write_speech_tokenizer(tokenizer, RATES[name])
    return list_networks(catalog.find(name))


def list_networks(directory):
    """The voice with the networks beside it in its manifest."""
    known = directory.manifest
    found = [directory.path / f"{part}.onnx" for part in ENROLMENT_PARTS]
    parts = [
        Part(file.stem, file.name, sha256_of(file), file.stat().st_size, "onnx", "fp32", {}, {})
        for file in found
    ]
    rest = [part for part in known.parts if part.name not in ENROLMENT_PARTS]
    manifest = Manifest(known.info, (*rest, *parts), known.gate)
    (directory.path / FILE_NAME).write_text(render(manifest), encoding="utf-8")
    return VoiceDirectory.read(directory.path)


def speech(seconds=2.0, rate_hz=24000):
    """A buzz whose pitch and loudness move."""
    time = np.arange(int(seconds * rate_hz)) / rate_hz
    phase = 2 * np.pi * np.cumsum(150 + 40 * np.sin(5 * time)) / rate_hz
    level = 0.3 * (0.6 + 0.4 * np.sin(9 * time))
    return level * sum(np.sin(n * phase) / n for n in (1, 2, 3, 5, 9))


def write_wav(path, samples, rate_hz=24000, n_channels=1, width=2):
    full = 2.0 ** (8 * width - 1) - 1
    integers = np.repeat(np.round(np.clip(samples, -1, 1) * full), n_channels).astype("<i4")
    data = integers.view(np.uint8).reshape(-1, 4)[:, :width].tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(n_channels)
        file.setsampwidth(width)
        file.setframerate(rate_hz)
        file.writeframes(data)
    return path


@pytest.fixture
def recording(tmp_path):
    return write_wav(tmp_path / "p.wav", speech())


def prompt(directory, name):
    fresh = VoiceDirectory.read(directory.path)
    return read_speakers(fresh.file("speakers"), fresh.manifest.info.speakers)[name]


class TestEnrol:
    def test_the_speaker_has_what_the_model_wants(self, name, directory, recording):
        enrol(directory, Enrolment("anna", recording, TEXT))
        who = prompt(directory, "anna")
        settings = Settings.read(directory.file("settings"))
        assert who.embedding.shape == (8,)
        assert np.abs(who.embedding).max() > 0
        assert len(who.text_ids) == len(TEXT.encode())
        assert len(who.example.tokens) == 2 * RATES[name]
        assert len(set(who.example.tokens.tolist())) > 5
        frames = 2 * settings.sample_rate_hz / settings.samples_per_frame
        assert who.example.mel.shape == (int(frames), 80)
        if settings.is_second:
            assert len(who.example.mel) == 2 * len(who.example.tokens)

    def test_the_voice_speaks_as_them_and_as_before(self, name, directory, recording):
        with Speaker(name, n_threads=1) as speaker:
            before = speaker.synthesize("你好。", speaker="中文女").samples
        enrol(directory, Enrolment("anna", recording, TEXT))
        with Speaker(name, n_threads=1) as speaker:
            assert np.array_equal(before, speaker.synthesize("你好。", speaker="中文女").samples)
            found = speaker.synthesize("你好。", speaker="anna").samples
        assert len(found) > 0.2 * 22050
        assert not np.array_equal(found[:2000], before[:2000])

    def test_without_its_words_the_recording_is_not_in_the_model(self, directory, recording):
        enrol(directory, Enrolment("anna", recording))
        who = prompt(directory, "anna")
        assert not len(who.text_ids)
        assert len(who.example.tokens)

    def test_the_voice_on_disk_is_whole_and_without_leftovers(self, directory, recording):
        files = {path.name for path in directory.path.iterdir()}
        enrol(directory, Enrolment("anna", recording, TEXT))
        fresh = VoiceDirectory.read(directory.path)
        assert fresh.faults() == []
        assert len(list(directory.path.iterdir())) == len(files)
        assert fresh.manifest.info.speakers[-1] == "anna"

    def test_two_may_be_added_and_one_replaced(self, directory, recording, tmp_path):
        enrol(directory, Enrolment("anna", recording, TEXT))
        enrol(VoiceDirectory.read(directory.path), Enrolment("bert", recording, TEXT))
        other = write_wav(tmp_path / "q.wav", speech(3.0))
        before = prompt(directory, "anna")
        fresh = VoiceDirectory.read(directory.path)
        with pytest.raises(InputError, match="--replace"):
            enrol(fresh, Enrolment("anna", other, TEXT))
        enrol(fresh, Enrolment("anna", other, TEXT, may_replace=True))
        assert len(prompt(directory, "anna").example.mel) > len(before.example.mel)
        assert len(prompt(directory, "bert").example.mel) == len(before.example.mel)

    def test_whoever_is_enrolled_takes_the_place_of_nobody(self, directory, recording):
        info = directory.manifest.info
        renamed = dataclasses.replace(
            info, speakers=(NEUTRAL, "英文男"), default_speakers=(NEUTRAL, NEUTRAL)
        )
        manifest = dataclasses.replace(directory.manifest, info=renamed)
        (directory.path / FILE_NAME).write_text(render(manifest), encoding="utf-8")
        enrol(VoiceDirectory.read(directory.path), Enrolment("anna", recording, TEXT))
        found = VoiceDirectory.read(directory.path).manifest.info
        assert found.speakers == ("英文男", "anna")
        assert found.default_speakers == ("anna", "anna")

    def test_a_damaged_network_is_no_reason_not_to_speak(self, name, directory, recording):
        with directory.file("campplus").open("ab") as file:
            file.write(b"more")
        Speaker(name, n_threads=1).close()
        with pytest.raises(ModelError, match="campplus"):
            enrol(directory, Enrolment("anna", recording, TEXT))


class TestRefusals:
    """Each with its reason, and the voice as it was."""

    @pytest.fixture(autouse=True)
    def unchanged(self, directory):
        before = (directory.path / FILE_NAME).read_bytes()
        yield
        assert (directory.path / FILE_NAME).read_bytes() == before
        assert VoiceDirectory.read(directory.path).faults() == []

    @pytest.mark.parametrize(
        ("samples", "rate_hz", "reason"),
        [
            (speech(0.5), 24000, "0.50 s"),
            (speech(31.0, 16000), 16000, "too long"),
            (speech(2.0, 8000), 8000, "8000 Hz"),
            (0.001 * speech(2.0), 24000, "louder"),
            (np.zeros(48000), 24000, "louder"),
        ],
    )
    def test_of_recordings(self, directory, tmp_path, samples, rate_hz, reason):
        path = write_wav(tmp_path / "p.wav", samples, rate_hz)
        with pytest.raises(InputError, match=reason) as caught:
            enrol(directory, Enrolment("anna", path, TEXT))
        assert caught.value.code == "input.unusable_recording"

    @pytest.mark.parametrize("content", [b"", b"RIFF", b"ID3 an mp3", None])
    def test_of_files_that_are_no_recordings(self, directory, tmp_path, content):
        path = tmp_path / "p.wav"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError, match="not a PCM WAV file"):
            enrol(directory, Enrolment("anna", path, TEXT))

    def test_of_a_text_that_cannot_be_said_in_the_time(self, directory, recording):
        for text in ("你", TEXT * 12):
            with pytest.raises(InputError, match="give exactly the words"):
                enrol(directory, Enrolment("anna", recording, text if text != "你" else "a"))

    @pytest.mark.parametrize("wrong", ["", "a b", "../x", "neutral", "x" * 65, "a/b"])
    def test_of_names(self, directory, recording, wrong):
        with pytest.raises(InputError, match="name"):
            enrol(directory, Enrolment(wrong, recording, TEXT))


class TestForeignNetworks:
    def test_an_embedding_of_another_size_is_refused(self, directory, recording):
        write_speaker_encoder(directory.file("campplus"), 12)
        with pytest.raises(EngineError, match="12 numbers instead of 8"):
            enrol(list_networks(directory), Enrolment("anna", recording, TEXT))

    def test_tokens_that_the_voice_does_not_know_are_refused(self, name, directory, recording):
        write_speech_tokenizer(directory.file("speech_tokenizer"), RATES[name], 4096)
        with pytest.raises(EngineError, match="does not know"):
            enrol(list_networks(directory), Enrolment("anna", recording, TEXT))

    def test_a_voice_without_them_cannot_learn(self, name, tmp_path, recording):
        plain = VoiceDirectory.read(unpack(tmp_path / "plain") / name)
        with pytest.raises(ModelError, match=r"campplus\.onnx"):
            enrol(plain, Enrolment("anna", recording, TEXT))


class TestCommand:
    def test_it_enrols(self, name, directory, recording, capsys):
        arguments = ["voices", "enroll", "anna", "--voice", name, "--prompt", str(recording)]
        assert main([*arguments, "--text", TEXT]) == 0
        assert f"{name}/anna" in capsys.readouterr().out
        assert "anna" in VoiceDirectory.read(directory.path).manifest.info.speakers

    def test_it_says_what_is_wrong(self, name, directory, tmp_path, capsys):
        missing = str(tmp_path / "none.wav")
        assert main(["voices", "enroll", "anna", "--voice", name, "--prompt", missing]) == 3
        assert "none.wav" in capsys.readouterr().err


class TestRecording:
    @pytest.mark.parametrize("width", [2, 3, 4])
    @pytest.mark.parametrize("n_channels", [1, 2])
    def test_every_usual_form_is_the_same_sound(self, tmp_path, width, n_channels):
        path = write_wav(tmp_path / "p.wav", speech(), 24000, n_channels, width)
        found = Recording.read(path)
        assert found.sample_rate_hz == 24000
        assert np.abs(found.samples - np.clip(speech(), -1, 1)).max() < 1e-4

    def test_eight_bits_are_refused(self, tmp_path):
        with pytest.raises(EdgeTTSError, match="8 bits"):
            Recording.read(write_wav(tmp_path / "p.wav", speech(), width=1))


class TestFeatures:
    """Values of kaldi-native-fbank 1.23 and of transformers' WhisperFeatureExtractor."""

    NOISE = 0.02 * np.random.RandomState(0).standard_normal(8000)
    SAMPLES = (speech(0.5, 16000) + NOISE).astype(np.float32)

    def test_shapes(self):
        assert speaker_features(self.SAMPLES).shape == (48, 80)
        assert tokenizer_features(self.SAMPLES).shape == (128, 50)

    def test_values(self):
        speaker, tokenizer = speaker_features(self.SAMPLES), tokenizer_features(self.SAMPLES)
        assert speaker[10, ::16].tolist() == pytest.approx(SPEAKER_ROW, abs=1e-3)
        assert tokenizer[::25, 20].tolist() == pytest.approx(TOKENIZER_COLUMN, abs=1e-4)
