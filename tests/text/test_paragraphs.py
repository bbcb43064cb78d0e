"""Cutting input into paragraphs: complete, bounded, streaming, never inside an item."""

from __future__ import annotations

from typing import Iterator, List

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.text.paragraphs import Break, paragraphs

TEXT = st.text(st.sampled_from("ab 。.,，!?\n\r\t中文12:/“”"), max_size=400)


def parts(text: object, **sizes: int) -> List[str]:
    return [paragraph.text for paragraph in paragraphs(text, **sizes)]  # type: ignore[arg-type]


@given(TEXT, st.integers(1, 60), st.integers(20, 90), st.integers(1, 50), st.booleans())
def test_paragraphs_joined_are_the_input(
    text: str, usual: int, limit: int, piece: int, is_live: bool
) -> None:
    pieces = [text[i : i + piece] for i in range(0, len(text), piece)]
    source = iter(pieces) if is_live else text
    found = list(paragraphs(source, opening_chars=5, usual_chars=usual, limit_chars=limit))
    assert "".join(paragraph.text for paragraph in found) == text
    for paragraph in found:
        assert text.startswith(paragraph.text, paragraph.base)
        assert 0 < len(paragraph.text) <= limit + 2


def test_blank_lines_and_line_ends_are_told_apart() -> None:
    found = list(paragraphs("One\nTwo\r\n\r\n  \nThree"))
    assert [paragraph.end for paragraph in found] == [Break.LINE, Break.BLANK, Break.BLANK]
    assert [paragraph.text.strip() for paragraph in found] == ["One", "Two", "Three"]


@pytest.mark.parametrize(
    "text",
    [
        "Meet Dr. Wu and Prof. Lee at 9 a.m. in the U.S. office on Elm St. near the park today",
        "The value is 98.6 and v1.0.0 at https://example.com/a.b?c=d&e=f in the new release notes",
        "价格是12.50元或者1,250.75元，网址是www.example.com，电话是400-820-8820，时间是3:25到4:30之间",
    ],
)
def test_items_with_dots_are_never_cut(text: str) -> None:
    assert parts(text, opening_chars=1, usual_chars=1) == [text]


def test_a_long_paragraph_is_released_sentence_by_sentence() -> None:
    text = "The first sentence is here. " * 20
    found = parts(text)
    assert len(found) > 3
    assert all(part.rstrip().endswith("here.") for part in found)


def test_wrapped_running_text_is_one_paragraph() -> None:
    text = (
        "This is a mail that somebody wrote with a program which wraps its\n"
        "lines at seventy columns, so that a line end is no end of anything"
    )
    assert parts(text) == [text]


@pytest.mark.parametrize(
    "text",
    ["milk\nbread\neggs", "Chapter one\nthe beginning", "- a long item of a list " * 2 + "\n- b"],
)
def test_short_lines_and_list_items_stay_apart(text: str) -> None:
    assert len(parts(text)) == text.count("\n") + 1


def test_a_live_stream_is_read_only_as_far_as_needed() -> None:
    def pieces() -> Iterator[str]:
        yield "Hello there.\n"
        raise AssertionError("read too far")

    assert next(paragraphs(pieces())).text == "Hello there.\n"


def test_a_live_stream_of_words_is_cut_at_the_first_certain_sentence_end() -> None:
    consumed = []

    def pieces() -> Iterator[str]:
        text = "We are now arriving at the central station. Please mind the gap. Thank you"
        for word in text.split():
            consumed.append(word)
            yield word + " "

    first = next(paragraphs(pieces()))
    assert first.text == "We are now arriving at the central station. "
    assert consumed[-1] == "Please"


@pytest.mark.parametrize("character", ["a", "中", "1", "\n", "!", "。"])
def test_a_megabyte_of_one_character_is_bounded_and_complete(character: str) -> None:
    found = parts(character * 100_000)
    assert "".join(found) == character * 100_000
    assert max(map(len, found)) <= 2001


@pytest.mark.parametrize("text", ["alpha 12.5 km beta, " * 300, "数字12.5和3:25，" * 400])
def test_a_forced_cut_falls_beside_no_digit(text: str) -> None:
    found = parts(text)
    assert len(found) > 1
    for left, right in zip(found, found[1:]):
        assert not (left.strip()[-1].isdigit() or right.strip()[0].isdigit())
