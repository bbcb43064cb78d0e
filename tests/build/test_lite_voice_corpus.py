import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.build.lite_voice import corpus
from edge_tts.build.lite_voice.teacher import (
    FRAME_RATE_HZ,
    SAMPLES_PER_FRAME,
    UNCUT,
    locked,
    trimmed,
)
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.voices.cosyvoice.text import segment_text
from edge_tts.voices.kokoro.source import HarmonicSource


def test_the_corpus_is_reproducible_and_says_nothing_twice() -> None:
    texts = corpus.sentences()
    assert texts == corpus.sentences()
    assert len(set(texts)) == len(texts) > 1500
    assert not [text for text in texts if "{" in text or "}" in text]


def test_the_beginning_holds_every_template_and_every_character_is_taught() -> None:
    texts = corpus.sentences()
    templates = [template.partition("{") for template in corpus.Grammar.read().templates]
    for text, (head, _, rest) in zip(texts, templates):
        assert text.startswith(head)
        assert text.endswith(rest.rpartition("}")[2])
    training = [text for text in texts[:500] if not corpus.is_held_out(text)]
    assert set("".join(texts)) == set("".join(training))


def test_a_twentieth_is_held_out() -> None:
    texts = corpus.sentences()
    assert 0.03 < sum(map(corpus.is_held_out, texts)) / len(texts) < 0.07


def test_the_teacher_reads_every_sentence_whole_and_as_it_is_written() -> None:
    front_end = FrontEnd(
        Pronouncer(), lambda tokens: sum(len(t.phonemes) for t in tokens), 510, sizes=UNCUT
    )
    for text in corpus.sentences()[:60]:
        assert [segment_text(segment) for segment in front_end.segments(text)] == [text]


def test_silence_around_speech_is_cut_down_to_whole_frames() -> None:
    audio = np.zeros(20 * SAMPLES_PER_FRAME + 7, np.float32)
    audio[5 * SAMPLES_PER_FRAME + 10 : 9 * SAMPLES_PER_FRAME] = 0.1
    cut = trimmed(audio)
    assert len(cut) == (2 + 4 + 2) * SAMPLES_PER_FRAME
    assert not cut[: 2 * SAMPLES_PER_FRAME + 10].any()
    assert cut[2 * SAMPLES_PER_FRAME + 10] > 0
    with pytest.raises(ValueError, match="silent"):
        trimmed(np.zeros(2000, np.float32))


@given(st.lists(st.floats(0, 500, width=32), min_size=1, max_size=60))
def test_the_source_begins_every_frame_of_a_pitch_alike(f0_hz: list) -> None:
    rounded = locked(np.array(f0_hz, np.float32))
    assert len(rounded) == len(f0_hz)
    assert (rounded % FRAME_RATE_HZ == 0).all()
    assert np.abs(rounded[::2] - np.maximum(f0_hz[::2], [*f0_hz, 0][1::2])).max() <= 60
    mixer = np.array([1.0] + [0.0] * 9, np.float32)
    track = HarmonicSource(mixer).track(np.repeat(rounded[::2], 2))
    # Between the centres of its two halves a frame has one pitch and no neighbour.
    middle = np.arange(SAMPLES_PER_FRAME // 4, 3 * SAMPLES_PER_FRAME // 4)
    by_pitch: dict = {}
    for frame, hz in enumerate(rounded[::2]):
        found = track._signal(frame * SAMPLES_PER_FRAME + middle)
        np.testing.assert_allclose(found, by_pitch.setdefault(hz, found), atol=1e-6)
