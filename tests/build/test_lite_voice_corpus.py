import numpy as np
import pytest

from edge_tts.build.lite_voice import corpus
from edge_tts.build.lite_voice.teacher import UNCUT, trimmed
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.voices.cosyvoice.text import segment_text


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


def test_silence_around_speech_is_cut_down_to_a_margin() -> None:
    speech = np.full(24_000, 0.1, np.float32)
    silence = np.zeros(12_000, np.float32)
    assert len(trimmed(np.concatenate([silence, speech, silence]))) == 24_000 + 2 * 1440 - 1
    with pytest.raises(ValueError, match="silent"):
        trimmed(silence)
