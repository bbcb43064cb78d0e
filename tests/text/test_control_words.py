"""Control words reach the voices that obey them, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.text.frontend import FrontEnd
from edge_tts.text.normalise import normalise
from edge_tts.text.report import Tally
from edge_tts.voices.cosyvoice.text import model_text

KNOWN = frozenset(
    ("[laughter]", "[breath]", "[vocalized-noise]", "<strong>", "</strong>", "<|en|>", "[mn]")
)


def words(text, control_words=KNOWN, tally=None):
    return [token.text for token in normalise(text, control_words=control_words, tally=tally)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("你好[laughter]今天", ["你", "好", "[laughter]", "今", "天"]),
        ("a <strong>big</strong> dog", ["a", "<strong>", "big", "</strong>", "dog"]),
        ("[vocalized-noise][breath] go", ["[vocalized-noise]", "[breath]", "go"]),
        ("<|en|>Go on.", ["<|en|>", "Go", "on", "."]),
        ("**[laughter]** yes", ["[laughter]", "yes"]),
    ],
)
def test_they_are_words_of_their_own(text, expected):
    assert words(text) == expected


def test_their_spans_are_theirs():
    text = "好[laughter]的，<strong>快</strong>走"
    for token in normalise(text, base=100, control_words=KNOWN):
        start, end = token.span.start - 100, token.span.end - 100
        assert text[start:end] == ("，" if token.text == "," else token.text)


def test_they_do_not_change_how_numbers_are_read():
    plain = words("价格100元")
    assert words("价格[laughter]100元") == [*plain[:2], "[laughter]", *plain[2:]]


@pytest.mark.parametrize("word", ["[laughter]", "<strong>", "<|en|>", "[quick_breath]", "[mn]"])
def test_a_voice_that_knows_none_leaves_them_out_and_says_so(word):
    tally = Tally()
    assert words(f"So {word} it is", frozenset(), tally) == ["So", "it", "is"]
    assert tally.report().count("tag") == len(word)


def test_other_brackets_are_read_as_before():
    assert words("[hello] <b>bold</b>") == words("[hello] <b>bold</b>", frozenset())


def test_the_placeholder_in_a_text_is_no_control_word():
    assert words("a \ufffc b") == words("a b")


@given(st.lists(st.sampled_from([*sorted(KNOWN), "你", "word", " ", "，", "7", "["]), max_size=12))
def test_each_is_kept_once_and_in_order(pieces):
    text = "".join(pieces)
    found = [word for word in words(text) if word in KNOWN]
    assert found == [piece for piece in pieces if piece in KNOWN]


@pytest.mark.parametrize(
    "text",
    ["你好[laughter]今天", "a <strong>big</strong> dog.", "Well [breath] go on.", "[breath]Go on."],
)
def test_the_model_reads_them_where_they_stood(text):
    front_end = FrontEnd(None, len, 60, control_words=KNOWN)
    (segment,) = front_end.segments(text)
    assert model_text(segment.tokens).rstrip("。.") == text.rstrip(".")
