"""Tiny CosyVoice voices speak through the same code as real ones."""

from __future__ import annotations

import dataclasses
import logging

import numpy as np
import pytest
from cosyvoice_voices import EVERY, NAMES, SEED, TEXT_IDS, expected, unpack

from edge_tts import Speaker
from edge_tts.errors import EngineError, InputError, ModelError
from edge_tts.text.frontend import FrontEnd
from edge_tts.voices import catalog
from edge_tts.voices.cosyvoice import voice as voices
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.sampling import Sampler
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.speakers import SpeakerPrompt, read_speakers
from edge_tts.voices.cosyvoice.text import model_text
from edge_tts.voices.cosyvoice.voice import Stages

TEXT = "出门向左，then go on."
SPEAKERS = ("中文女", "英文男")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("voices"))


@pytest.fixture(autouse=True)
def store(root, monkeypatch):
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(root))


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def voice(name):
    loaded = catalog.load(name, 1)
    yield loaded
    loaded.close()


def segments(voice, text=TEXT):
    return list(FrontEnd(None, voice.measure, voice.segment_limit).segments(text))


def sound(voice, text=TEXT, speaker="中文女", speed=1.0):
    pieces = [p for s in segments(voice, text) for p in voice.synthesize(s, speaker, speed)]
    return np.concatenate(pieces)


@pytest.fixture
def stages(name):
    directory = catalog.find(name)
    opened = Stages.open(directory, Settings.read(directory.file("settings")), 1)
    yield opened
    opened.close()


def speech_tokens(name, stages, randomness):
    directory = catalog.find(name)
    settings = Settings.read(directory.file("settings"))
    who = read_speakers(directory.file("speakers"), SPEAKERS)["中文女"]
    prefix = stages.text.prefix(TEXT_IDS, who.embedding, np.zeros(0, np.int64), stages.model)
    sampler = Sampler(settings, randomness.uniform)
    n = len(TEXT_IDS)
    return who, np.array(list(stages.model.generate(prefix, sampler, 2 * n, 20 * n)), np.int32)


def test_tokens_and_sound_are_those_that_torch_made(name, stages):
    wanted_tokens, wanted_sound = expected(name)
    randomness = Randomness(SEED, stages.n_harmonics)
    who, tokens = speech_tokens(name, stages, randomness)
    assert tokens.tolist() == wanted_tokens.tolist()
    speaker = stages.flow_speaker.of_direction(who.embedding)
    found = stages.renderer.whole(tokens, FlowPrompt.empty(), speaker, randomness)
    assert found.shape[0] // EVERY == pytest.approx(len(wanted_sound), abs=1)
    assert np.abs(found[::EVERY] - wanted_sound).max() < 2e-3


def test_the_catalogue_lists_both_with_their_speakers():
    infos = {info.name: info for info in catalog.installed()}
    assert infos.keys() == set(NAMES)
    assert all(info.speakers == SPEAKERS for info in infos.values())


def test_the_same_text_gives_the_same_sound_and_others_another(voice):
    first = sound(voice)
    assert len(first) > 0.3 * voice.info.sample_rate_hz
    assert np.isfinite(first).all()
    assert np.abs(first).max() > 0.01
    assert np.array_equal(first, sound(voice))
    assert not np.array_equal(first, sound(voice, speaker="英文男")[: len(first)])


def test_a_fresh_process_state_continues_exactly(name):
    """Nothing of an utterance is left behind that could change the next one."""
    with Speaker(name, n_threads=1) as fresh, Speaker(name, n_threads=1) as used:
        used.synthesize("先说些别的。")
        wanted, found = fresh.synthesize(TEXT), used.synthesize(TEXT)
    assert np.array_equal(wanted.samples, found.samples)


def test_speed_changes_the_length(voice):
    normal, fast = (len(sound(voice, speed=speed)) for speed in (1.0, 1.25))
    assert fast == pytest.approx(normal / 1.25, rel=0.05)


def test_an_unknown_speaker_is_refused(voice):
    with pytest.raises(InputError, match="中文女"):
        sound(voice, speaker="nobody")


def test_a_segment_beyond_the_limit_is_refused(voice):
    (segment, *_) = segments(voice)
    long = dataclasses.replace(segment, tokens=segment.tokens * 10)
    with pytest.raises(InputError) as caught:
        next(voice.synthesize(long, "中文女", 1.0))
    assert caught.value.code == "input.segment_too_long"


def test_a_damaged_part_is_named_and_not_loaded(name, tmp_path, monkeypatch):
    copy = unpack(tmp_path / "voices")
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(copy))
    path = copy / name / "small.npz"
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"small\.npz"):
        catalog.load(name)


def test_a_text_that_never_ends_is_tried_twice_and_then_refused(voice, monkeypatch, caplog):
    # As many tokens allowed as the model must speak: every attempt runs into the limit.
    monkeypatch.setattr(voices, "MAX_TOKENS_PER_ID", voices.MIN_TOKENS_PER_ID)
    with caplog.at_level(logging.WARNING), pytest.raises(EngineError) as caught:
        sound(voice)
    assert caught.value.code == "engine.implausible_speech"
    assert len(caplog.records) == voices.ATTEMPTS


class TestChunks:
    """Sound computed in chunks joins to about the sound computed at once."""

    N_TOKENS = 260

    @pytest.fixture
    def pieces(self, stages):
        tokens = np.random.RandomState(1).randint(0, 60, self.N_TOKENS).astype(np.int32)
        speaker = stages.flow_speaker.of_direction(np.ones(8, np.float32))
        randomness = Randomness(SEED, stages.n_harmonics)
        made = stages.renderer.chunks(tokens, FlowPrompt.empty(), speaker, randomness)
        whole = stages.renderer.whole(
            tokens, FlowPrompt.empty(), speaker, Randomness(SEED, stages.n_harmonics)
        )
        return list(made), whole

    def test_they_are_several_and_as_long_as_the_whole(self, pieces):
        chunks, whole = pieces
        assert len(chunks) >= 3
        assert sum(map(len, chunks)) == pytest.approx(len(whole), rel=0.02)

    def test_no_joint_is_louder_than_the_vocoder_may_be(self, pieces):
        chunks, _ = pieces
        assert np.abs(np.concatenate(chunks)).max() <= 0.99

    def test_the_first_is_computed_alone(self, stages):
        tokens = np.random.RandomState(1).randint(0, 60, self.N_TOKENS).astype(np.int32)
        speaker = stages.flow_speaker.of_direction(np.ones(8, np.float32))
        random = Randomness(SEED, stages.n_harmonics)
        first = next(stages.renderer.chunks(tokens, FlowPrompt.empty(), speaker, random))
        assert 0 < len(first) < 60_000


def test_a_spoken_example_goes_before_the_text(name, stages):
    example = FlowPrompt(np.arange(6), np.zeros((12, 80), np.float32))
    who = SpeakerPrompt(np.ones(8, np.float32), np.arange(3), example)
    text_ids = np.concatenate([who.text_ids, TEXT_IDS])
    prefix = stages.text.prefix(text_ids, who.embedding, example.tokens, stages.model)
    marks = 3 if name == "cosyvoice1" else 2
    assert len(prefix) == len(text_ids) + len(example.tokens) + marks
    speaker = stages.flow_speaker.of_direction(who.embedding)
    tokens = np.arange(20, dtype=np.int32)
    randomness = Randomness(SEED, stages.n_harmonics)
    with_example = stages.renderer.whole(tokens, example, speaker, randomness)
    alone = stages.renderer.whole(tokens, FlowPrompt.empty(), speaker, randomness)
    assert len(with_example) == len(alone)


def test_chinese_marks_are_written_full_width_and_english_ones_not(voice):
    (chinese,) = segments(voice, "左转, 好吗?")
    assert model_text(chinese.tokens) == "左转，好吗？"
    (english,) = segments(voice, "Left, please.")
    assert model_text(english.tokens) == "Left, please."
