"""Cutting a growing text: never in a sentence, however it is divided into pieces."""

from __future__ import annotations

from typing import List

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.service.sentences import SentenceBuffer

WHOLE = [
    "The price is 3.50 euros and not 4.20 euros today. ",
    "Please ask Prof. Smith or Dr. J. R. Miller of Acme Corp. about it. ",
    "He arrived at 5 p.m. in the U.S. Army car, e.g. on Monday. ",
    "“Where are you going?” she asked, and waited for an answer. ",
    "Wait... there is more to come in this sentence! ",
    "前方路口请向右转，然后直行两百米。",
    "他说：“今天下午三点有雨。”",
    "A line without a stop\n",
    "Take the No. 5 bus to St. James Park and get off there. ",
]


def cut(text: str, sizes: List[int]) -> List[str]:
    """Add `text` in pieces of these sizes, by turns, and take what is whole after each."""
    buffer, parts, at, turn = SentenceBuffer(), [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        buffer.add(text[at : at + size])
        parts.append(buffer.take())
        at, turn = at + size, turn + 1
    parts.append(buffer.take_all())
    return [part for part in parts if part]


@given(
    st.lists(st.sampled_from(WHOLE), min_size=1, max_size=6),
    st.lists(st.integers(1, 12), min_size=1, max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_cuts_are_sentence_ends_whatever_the_pieces(sentences: List[str], sizes: List[int]) -> None:
    text = "".join(sentences)
    parts = cut(text, sizes)
    assert "".join(parts) == text
    ends = {len("".join(sentences[:n])) for n in range(len(sentences) + 1)}
    cuts = [len("".join(parts[:n])) for n in range(len(parts) + 1)]
    assert set(cuts) <= ends


@pytest.mark.parametrize("sentence", [each for each in WHOLE if "\n" not in each])
def test_every_sentence_is_found_when_the_next_has_begun(sentence: str) -> None:
    buffer = SentenceBuffer()
    for character in sentence + "Next":
        buffer.add(character)
    assert buffer.take() == sentence
    assert buffer.take_all() == "Next"


def test_a_short_beginning_joins_what_follows() -> None:
    found = cut("Yes. It is a fine day for a walk. Bye", [3])
    assert found == ["Yes. It is a fine day for a walk. ", "Bye"]


def test_a_text_without_an_end_is_not_cut() -> None:
    buffer = SentenceBuffer()
    for _ in range(20_000):
        buffer.add("a")
    assert (buffer.take(), len(buffer)) == ("", 20_000)
