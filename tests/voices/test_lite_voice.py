"""Tiny lite voices speak through the same code as real ones."""

from __future__ import annotations

import dataclasses
import gc
import logging

import numpy as np
import pytest

pytest.importorskip("sentencepiece")

from lite_voices import (
    EVERY,
    N_FRAMES,
    NAMES,
    SEED,
    TEXT_IDS,
    expected,
    unpack,
)

from edge_tts import Speaker
from edge_tts.errors import EngineError, InputError, ModelError
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.tokens import Language
from edge_tts.voices import catalog
from edge_tts.voices.lite import plausibility
from edge_tts.voices.lite import voice as voices
from edge_tts.voices.lite.cache import SelfCache
from edge_tts.voices.lite.sampling import Sampler
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tokenizer import TextTokenizer
from edge_tts.voices.lite.voice import Stages, main_language

TEXT = "出门向左, then go on."
LONG_TEXT = "turn left at the next street, then go on and turn left at the next street."


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


@pytest.fixture
def settings(name):
    return Settings.read(catalog.find(name).file("settings"))


@pytest.fixture
def stages(name, settings):
    opened = Stages.open(catalog.find(name), settings, 1)
    yield opened
    opened.close()


def segments(voice, text=TEXT):
    return list(FrontEnd(None, voice.measure, voice.segment_limit).segments(text))


def sound(voice, text=TEXT, speaker="alice"):
    pieces = [p for s in segments(voice, text) for p in voice.synthesize(s, speaker, 1.0)]
    return np.concatenate(pieces)


def sampler(settings):
    uniform = np.random.RandomState(SEED).random_sample
    return Sampler(settings.sampling, settings.codec, uniform)


def test_codes_and_sound_are_those_that_torch_made(name, stages, settings):
    wanted_codes, wanted_sound = expected(name)
    model = stages.model
    codes = np.array(list(model.generate(TEXT_IDS, sampler(settings), N_FRAMES, N_FRAMES)))
    assert codes.tolist() == wanted_codes.tolist()
    found = stages.codec.stream().decode(codes)
    assert len(found) == N_FRAMES * 320
    assert np.abs(found[::EVERY] - wanted_sound).max() < 1e-4


@pytest.mark.parametrize("sizes", [[7] + [1] * 23, [9, 20, 1], [8, 22], [29, 1]])
def test_chunks_of_any_size_have_the_samples_of_the_whole(name, stages, sizes):
    codes, _ = expected(name)
    whole = stages.codec.stream().decode(codes)
    stream = stages.codec.stream()
    parts = np.split(codes, np.cumsum(sizes)[:-1])
    joined = np.concatenate([stream.decode(part) for part in parts])
    assert joined.shape == whole.shape
    assert np.abs(whole).max() > 0.1
    assert np.abs(joined - whole).max() < 2e-6


def test_a_stream_leaves_nothing_behind_for_the_next(name, stages):
    codes, _ = expected(name)
    first = stages.codec.stream()
    before = first.decode(codes)
    first.decode(codes)
    assert np.array_equal(stages.codec.stream().decode(codes), before)


def test_tags_in_a_text_choose_the_speaker_and_unknown_ones_list_the_known(name):
    with Speaker(name, n_threads=1) as speaker:
        bob, alice = (
            speaker.synthesize("turn left.", speaker=who).samples for who in ("bob", "alice")
        )
        tagged = speaker.synthesize("[SPKbob]turn left.").samples
        with pytest.raises(InputError, match=r"\[SPKalice\], \[SPKbob\]") as refused:
            speaker.synthesize("[SPKeve]turn left.")
    assert refused.value.code == "input.unknown_tag"
    np.testing.assert_array_equal(tagged, bob)
    assert not np.array_equal(tagged, alice)


def test_a_prefill_gives_the_scores_of_single_steps(stages, settings):
    layout = settings.codec
    n_rows = 1 if layout.interleaving == "flat" else layout.n_codebooks
    rows = np.random.RandomState(1).randint(0, layout.stop_id, (300, n_rows))
    cross = stages.model.read(TEXT_IDS)
    single, at_once = (SelfCache(settings, 300) for _ in range(2))
    scores = [stages.model.step(rows[i : i + 1], single, cross) for i in range(300)]
    halves = [stages.model.step(part, at_once, cross) for part in np.split(rows, [140])]
    assert np.allclose(halves[0], scores[139], atol=1e-4)
    assert np.allclose(halves[1], scores[-1], atol=1e-4)


def test_frames_are_drawn_no_earlier_than_asked_for(stages, settings, monkeypatch):
    steps = []
    run = stages.model._decoder.run
    monkeypatch.setattr(stages.model._decoder, "run", lambda inputs: steps.append(1) or run(inputs))
    frames = stages.model.generate(TEXT_IDS, sampler(settings), N_FRAMES, N_FRAMES)
    assert steps == []
    next(frames)
    layout = settings.codec
    assert len(steps) == layout.positions_per_frame + max(layout.delays)
    next(frames)
    assert len(steps) == 2 * layout.positions_per_frame + max(layout.delays)


def test_stopping_an_utterance_frees_its_cache(voice):
    def caches():
        gc.collect()
        return [found for found in gc.get_objects() if isinstance(found, SelfCache)]

    (segment, *_) = segments(voice, LONG_TEXT)
    pieces = voice.synthesize(segment, "alice", 1.0)
    next(pieces)
    assert len(caches()) == 1
    pieces.close()
    assert caches() == []


def test_the_cache_takes_no_more_than_an_utterance_may_have(settings):
    cache = SelfCache(settings, 300)
    heads, size = settings.n_heads, settings.head_size
    blocks = {}
    for i in range(settings.n_layers):
        blocks[f"new_keys_{i}"] = np.ones((heads, size, 100), np.float32)
        blocks[f"new_values_{i}"] = np.ones((heads, 100, size), np.float32)
    for _ in range(3):
        cache.append(blocks, 100)
    assert (cache.used, cache.capacity) == (300, 300)
    assert cache.n_bytes == 300 * settings.n_layers * 2 * heads * size * 4
    assert all(block.min() == 1 for block in cache.inputs().values())
    with pytest.raises(ValueError, match="300 positions"):
        cache.append(blocks, 100)


def test_the_same_text_gives_the_same_sound_and_others_another(voice):
    first = sound(voice)
    assert len(first) > 0.3 * voice.info.sample_rate_hz
    assert np.isfinite(first).all()
    assert np.abs(first).max() > 0.01
    assert np.array_equal(first, sound(voice))
    other = sound(voice, speaker="bob")
    assert not np.array_equal(first[: len(other)], other[: len(first)])


def test_the_public_api_speaks_with_it(name):
    with Speaker(name, n_threads=1) as fresh, Speaker(name, n_threads=1) as used:
        used.synthesize("go on.")
        wanted, found = fresh.synthesize(TEXT), used.synthesize(TEXT)
    assert wanted.sample_rate_hz == 24000
    assert np.array_equal(wanted.samples, found.samples)


def test_an_unknown_speaker_is_refused_with_the_known_ones(voice):
    with pytest.raises(InputError, match=r"\[SPKnobody\].*\[SPKalice\], \[SPKbob\]") as caught:
        sound(voice, speaker="nobody")
    assert caught.value.code == "input.unknown_speaker"


def test_a_language_without_a_tag_is_refused_with_the_known_ones(name, settings):
    chinese_only = dataclasses.replace(settings, languages={"zh": settings.languages["zh"]})
    tokenizer = TextTokenizer.read(catalog.find(name).file("tokenizer"), chinese_only)
    assert tokenizer.encode("你好", Language.ZH, "alice")[0] == settings.languages["zh"]
    with pytest.raises(InputError, match=r"\[LNGen\].*\[LNGzh\]") as caught:
        tokenizer.encode("go on", Language.EN, "alice")
    assert caught.value.code == "input.unknown_language"


def test_the_prompt_is_language_speaker_pieces_and_end(name, settings):
    tokenizer = TextTokenizer.read(catalog.find(name).file("tokenizer"), settings)
    ids = tokenizer.encode("go on", Language.EN, "bob").tolist()
    assert ids[:2] == [settings.languages["en"], settings.speakers["bob"]]
    assert ids[2:-1] == tokenizer.pieces("go on").tolist()
    assert ids[-1] == settings.end_of_text


def test_a_segment_is_tagged_with_the_language_of_most_of_its_words(voice):
    (mixed,) = segments(voice, "turn left at the 左")
    assert main_language(mixed.tokens) is Language.EN
    (chinese,) = segments(voice, "出门向左 on")
    assert main_language(chinese.tokens) is Language.ZH


def test_a_character_outside_the_vocabulary_is_named(voice):
    with pytest.raises(InputError, match="饕") as caught:
        sound(voice, "出门饕")
    assert caught.value.code == "input.unknown_symbol"


def test_a_segment_beyond_the_limit_is_refused(voice):
    (segment, *_) = segments(voice)
    long = dataclasses.replace(segment, tokens=segment.tokens * 10)
    with pytest.raises(InputError) as caught:
        next(voice.synthesize(long, "alice", 1.0))
    assert caught.value.code == "input.segment_too_long"


def test_a_text_that_never_ends_is_tried_twice_and_then_refused(voice, monkeypatch, caplog):
    # At most two frames, fewer than a chunk: every attempt runs into the limit unheard.
    monkeypatch.setattr(voices, "frame_limits", lambda n_characters, rate_hz: (2, 2))
    with caplog.at_level(logging.WARNING), pytest.raises(EngineError) as caught:
        sound(voice)
    assert caught.value.code == "engine.implausible_speech"
    assert len(caplog.records) == voices.ATTEMPTS


def test_a_loop_after_the_first_sound_ends_the_segment(voice, monkeypatch, caplog):
    faults = iter([None, "it repeats"])
    monkeypatch.setattr(voices, "loop_fault", lambda codes, rate_hz: next(faults))
    monkeypatch.setattr(voices, "frame_limits", lambda n_characters, rate_hz: (200, 300))
    (segment, *_) = segments(voice, LONG_TEXT)
    pieces = voice.synthesize(segment, "alice", 1.0)
    with caplog.at_level(logging.WARNING), pytest.raises(EngineError, match="it repeats"):
        list(pieces)
    assert len(caplog.records) == 1


def test_a_loop_is_seen_and_speech_is_not():
    random = np.random.RandomState(0).randint(0, 32, (300, 2))
    assert plausibility.loop_fault(random, 75) is None
    looping = np.concatenate([random, np.tile(random[:5], (30, 1))])
    assert "0.07 s" in plausibility.loop_fault(looping, 75)
    assert plausibility.loop_fault(looping[-100:], 75) is None


@pytest.mark.parametrize("part", ["small.npz", "tokenizer.model", "decoder.onnx"])
def test_a_damaged_part_is_named_and_not_loaded(name, part, tmp_path, monkeypatch):
    copy = unpack(tmp_path / "voices")
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(copy))
    path = copy / name / part
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=part):
        catalog.load(name)
