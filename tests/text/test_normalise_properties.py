"""What holds for every text: spans, coverage, termination."""

from __future__ import annotations

import sys
from typing import List

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.text.normalise import normalise
from edge_tts.text.report import Tally
from edge_tts.text.tokens import Language, Token, TokenKind

MARKS = set(',.!?:;—…"()“”')

WRITTEN = (
    "12 3.5 1,250 -5 2026 3/4 7:45 PM 9:00-17:30 $12.50 ¥99 5-10 km km/h ℃ °F % 第 个 度 元 "
    "年 月 京A·12345 K1234+500 CA1831 v1.0.0 192.168.1.1 a@b.com https://x.cn/a?b=1 Dr. "
    "St. U.S. a.m. e.g. Henry VIII II I iPhone WiFi GPS ** __ ` # > - * [a](b) <b> </b> "
    "[LNGzh] [LNGen] … —— ! ？ ， 。 《 》 你好 前方 米 "
    "请 the turn left in 😀 \t \u200b é ½ ② Ⅷ １２ "
    "ａｂ Привет あ مرحبا ' \" ( ) & + = ~ → @ ^ \\ |"
)
FRAGMENTS = st.sampled_from(WRITTEN.split(" "))
TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(FRAGMENTS, max_size=24).map(" ".join),
    st.lists(FRAGMENTS, max_size=24).map("".join),
    st.text(alphabet="0123456789.,:/-+%$¥~ apmkKvVx", max_size=60),
)
LANGUAGES = st.sampled_from([None, Language.ZH, Language.EN])


@settings(max_examples=600, deadline=None)
@given(TEXTS, LANGUAGES, st.integers(0, 10_000))
def test_spans_are_ordered_and_inside_the_text(text, language, base):
    tokens = normalise(text, language=language, base=base)
    last_start = base
    for token in tokens:
        assert base <= token.span.start < token.span.end <= base + len(text)
        assert token.span.start >= last_start
        last_start = token.span.start


@settings(max_examples=600, deadline=None)
@given(TEXTS, LANGUAGES)
def test_every_character_is_covered_or_counted(text, language):
    tally = Tally()
    tokens = normalise(text, language=language, tally=tally)
    covered = {at for token in tokens for at in range(token.span.start, token.span.end)}
    missing = [at for at, char in enumerate(text) if at not in covered and not char.isspace()]
    assert len(missing) <= tally.report().total


@settings(max_examples=400, deadline=None)
@given(TEXTS, LANGUAGES)
def test_tokens_keep_the_contract(text, language):
    for token in normalise(text, language=language):
        assert token.text
        assert token.text == token.text.strip()
        assert not token.phonemes
        if token.kind is TokenKind.PUNCTUATION:
            assert token.text in MARKS
        else:
            assert not any(char.isdigit() for char in token.text if char.isascii())
            assert token.language is Language.EN or len(token.text) == 1


def words(tokens: List[Token]) -> List[str]:
    return [token.text.lower() for token in tokens if token.kind is TokenKind.WORD]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 10**9), max_size=6), LANGUAGES)
def test_a_spoken_form_is_its_own_spoken_form(numbers, language):
    written = " ; ".join(map(str, numbers))
    spoken = words(normalise(written, language=language))
    glue = "" if language is Language.ZH else " "
    assert words(normalise(glue.join(spoken))) == spoken


HUGE = {
    "letters": "a" * 2_000,
    "capitals": "A" * 2_000,
    "camel": "aB" * 2_000,
    "digits": "7" * 4_000,
    "grouped digits": "1,234," * 2_000,
    "dots": "1." * 4_000,
    "hyphens": "1-" * 4_000,
    "slashes": "1/" * 4_000,
    "colons": "1:" * 4_000,
    "at signs": "a@" * 4_000,
    "stars": "*a" * 4_000,
    "brackets": "[" * 4_000,
    "angles": "<a " * 4_000,
    "underscores": "_a" * 4_000,
    "spaces": " " * 10_000,
    "combining": "a\u0301\u0302" * 2_000,
    "marks": "!?" * 4_000,
    "apostrophes": "a'" * 4_000,
    "initials": "A." * 4_000,
    "codes": "A1" * 4_000,
    "han digits": "第1章" * 2_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_work_grows_in_line_with_the_text(name):
    """Counted in interpreter calls, which do not depend on the machine."""
    text = HUGE[name]
    quarter = calls_of(text[: len(text) // 4])
    assert calls_of(text) <= 6 * quarter + 1000


def calls_of(text: str) -> int:
    count = 0

    def count_call(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        normalise(text)
    finally:
        sys.setprofile(None)
    return count
