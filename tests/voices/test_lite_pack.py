"""Utterances that are decoded side by side are what they are alone."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sentencepiece")

from lite_voices import NAMES, unpack

from edge_tts import Speaker
from edge_tts import config as configuration
from edge_tts.batch.lines import Line
from edge_tts.batch.rendering import default_jobs, render_lines
from edge_tts.errors import EngineError, InputError
from edge_tts.voices.lite.cache import SelfCache
from edge_tts.voices.lite.pack import MAX_UTTERANCES, packs

TEXTS = (
    "turn left.",
    "出门向左, then go on.",
    "go on",
    "turn left at the next street, then go on to the left at the next street.",
    "then left",
    "left, then left, then go on",
    "向左",
    "the next street",
    "go on, go on",
    "at the next street turn left.",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("voices"))


@pytest.fixture(autouse=True)
def store(root, monkeypatch):
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(root))


@pytest.fixture(params=NAMES)
def speaker(request):
    with Speaker(request.param, n_threads=1, speaker="alice") as opened:
        yield opened


@pytest.fixture
def counted(speaker, monkeypatch):
    """How many positions each run of the decoder computed."""
    decoder = speaker._voice._stages.model._decoder
    run, n_positions = decoder.run, []
    monkeypatch.setattr(
        decoder, "run", lambda inputs: n_positions.append(len(inputs["x"])) or run(inputs)
    )
    return n_positions


def plain(texts, **delivery):
    return [(text, delivery) for text in texts]


def test_foreseen_texts_sound_as_they_do_alone(speaker, counted):
    alone = [speaker.synthesize(text).samples for text in TEXTS]
    assert set(counted) == {1}
    counted.clear()
    speaker.foresee(plain(TEXTS))
    assert max(counted) == MAX_UTTERANCES
    n_runs = len(counted)
    for text, wanted in reversed(list(zip(TEXTS, alone))):
        np.testing.assert_array_equal(speaker.synthesize(text).samples, wanted)
    assert len(counted) == n_runs


def test_those_that_do_not_end_in_the_room_of_one_are_spoken_alone(speaker, counted, monkeypatch):
    wanted = [speaker.synthesize(text).samples for text in TEXTS]
    model = speaker._voice._stages.model
    together = model.generate_together
    monkeypatch.setattr(
        model, "generate_together", lambda ids, drawings, _: together(ids, drawings, 400)
    )
    speaker.foresee(plain(TEXTS))
    counted.clear()
    foreseen = []
    for text, samples in zip(TEXTS, wanted):
        np.testing.assert_array_equal(speaker.synthesize(text).samples, samples)
        foreseen.append(not counted)
        counted.clear()
    assert set(foreseen) == {True, False}


def test_what_is_foreseen_is_for_its_speaker_and_seed_and_for_once(speaker, counted):
    alone = {
        (who, seed): speaker.synthesize(TEXTS[0], speaker=who, seed=seed).samples
        for who in ("alice", "bob")
        for seed in (0, 1)
    }
    speaker.foresee(plain(TEXTS[:1], speaker="bob", seed=1))
    counted.clear()
    for (who, seed), wanted in alone.items():
        found = speaker.synthesize(TEXTS[0], speaker=who, seed=seed).samples
        np.testing.assert_array_equal(found, wanted)
        assert bool(counted) == ((who, seed) != ("bob", 1))
        counted.clear()
    again = speaker.synthesize(TEXTS[0], speaker="bob", seed=1).samples
    np.testing.assert_array_equal(again, alone["bob", 1])
    assert counted


def test_what_cannot_be_spoken_is_passed_over_and_said_when_spoken(speaker, counted):
    bad = ("[SPKeve]turn left.", {}), ("go on", {"speed": 9.0}), ("<p>", {"ssml": True})
    speaker.foresee((*bad, ("", {}), *plain(TEXTS[:2])))
    counted.clear()
    speaker.synthesize(TEXTS[1])
    assert counted == []
    for text, delivery in bad:
        with pytest.raises(InputError):
            speaker.synthesize(text, **delivery)


def test_nothing_of_a_pack_is_kept_but_what_was_drawn_last(speaker):
    speaker.foresee(plain(TEXTS))
    speaker.foresee(plain(TEXTS[:2]))
    gc.collect()
    assert not [found for found in gc.get_objects() if isinstance(found, SelfCache)]
    assert len(speaker._voice._foreseen) == 2


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 1000))
def test_packs_hold_everyone_once_within_their_bounds(n_positions, most):
    found = packs(n_positions, most)
    assert sorted(n for pack in found for n in pack) == list(range(len(n_positions)))
    for pack in found:
        assert 1 <= len(pack) <= MAX_UTTERANCES
        assert len(pack) == 1 or sum(n_positions[n] for n in pack) <= most
    in_order = [n_positions[n] for pack in found for n in pack]
    assert in_order == sorted(in_order, reverse=True)


def lines(texts):
    return [Line(n, f"{n:06d}", text) for n, text in enumerate(texts, 1)]


def sounds(folder: Path):
    return {path.name: path.read_bytes() for path in folder.glob("*.wav")}


def test_a_batch_speaks_them_together(speaker, counted, tmp_path, monkeypatch):
    monkeypatch.setenv("EDGE_TTS_VOICE", speaker.voice.name)
    assert default_jobs(configuration.load(None, {})) == 1
    (tmp_path / "alone").mkdir()
    (tmp_path / "together").mkdir()
    for line in lines(TEXTS):
        list(render_lines(speaker, [line], tmp_path / "alone", "wav"))
    counted.clear()
    found = list(render_lines(speaker, lines((*TEXTS, "[SPKeve]")), tmp_path / "together", "wav"))
    assert max(counted) == MAX_UTTERANCES
    assert [result.status for result in found] == ["done"] * len(TEXTS) + ["failed"]
    assert sounds(tmp_path / "together") == sounds(tmp_path / "alone")


def test_lines_that_fail_together_are_spoken_alone(speaker, tmp_path, monkeypatch):
    def broken(*_):
        raise EngineError("no memory", code="engine.run_failed")

    monkeypatch.setattr(speaker._voice._stages.model, "generate_together", broken)
    found = list(render_lines(speaker, lines(TEXTS[:2]), tmp_path, "wav"))
    assert [result.status for result in found] == ["done", "done"]
