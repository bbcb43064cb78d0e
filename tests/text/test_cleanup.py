"""Markup, emoji and compatibility forms, with offsets kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.text.cleanup import clean
from edge_tts.text.report import Tally

CASES = {
    "bold": ("a **b** c", "a b c"),
    "emphasis": ("*a* and _b_", "a and b"),
    "product is no emphasis": ("3*4*5", "3*4*5"),
    "identifier is no emphasis": ("snake_case_name", "snake_case_name"),
    "heading": ("## Title", "Title"),
    "quote": ("> said", "said"),
    "bullet": ("- item", "item"),
    "negative is no bullet": ("-5 degrees", "-5 degrees"),
    "numbered": ("1. Spring", "Spring"),
    "numbered zh": ("2、打开", "打开"),
    "enumeration is no marker": ("1、2、3号", "1、2、3号"),
    "year is no marker": ("2026. Next", "2026. Next"),
    "link": ("see [the map](https://a.b/c) now", "see the map now"),
    "language tag is no link": ("[LNGzh](x)", "[LNGzh](x)"),
    "code": ("run `ls`", "run ls"),
    "fence": ("```python", ""),
    "rule": ("---", ""),
    "tag": ('a<break time="0.5s"/>b', "ab"),
    "comparison is no tag": ("a < b > c", "a < b > c"),
    "autolink": ("<https://a.b>", "https://a.b"),
    "entity": ("A&amp;B", "A&B"),
    "terminal colours": ("\x1b[1;31mred\x1b[0m alert", "red alert"),
    "terminal title": ("\x1b]0;title\x07text", "text"),
    "emoji": ("Hi 👩‍👧🏽!", "Hi !"),
    "keycap": ("1️⃣", "1"),
    "full width": ("ＡＢ１２％", "AB12%"),
    "full-width colon in a time": ("３：２５", "3:25"),
    "full-width colon in text": ("注意：好", "注意：好"),
    "ligature": ("ﬁn", "fin"),
    "units": ("5㎞ 26℃ 3㎡", "5km 26°C 3m²"),
    "vulgar fraction": ("1½", "1 1/2"),
    "other digits": ("١٢", "12"),
    "combining accent": ("cafe\u0301", "café"),
    "control": ("a\x00b\u200bc", "abc"),
    "circled": ("①②", "1  2"),
}


@pytest.mark.parametrize("kind", CASES)
def test_clean(kind):
    raw, cleaned = CASES[kind]
    assert clean(raw).text.strip() == cleaned


def test_spans_lead_back_to_the_source():
    cleaned = clean("a **b** ℃")
    at = cleaned.text.index("b")
    assert cleaned.span(at, at + 1) == (4, 5)
    assert cleaned.span(len(cleaned.text) - 2, len(cleaned.text)) == (8, 9)


def test_losses_are_counted_by_kind():
    tally = Tally()
    clean("**a** 😀 <b>x</b> \x01", tally)
    report = tally.report()
    counts = {kind: report.count(kind) for kind in ("markup", "emoji", "tag", "control")}
    assert counts == {"markup": 4, "emoji": 1, "tag": 7, "control": 1}
    assert report.unspeakable == ()


@given(st.text(max_size=200))
def test_offsets_are_ordered_and_inside(text):
    cleaned = clean(text)
    assert len(cleaned.text) == len(cleaned.starts) == len(cleaned.ends)
    assert list(cleaned.starts) == sorted(cleaned.starts)
    assert all(0 <= s < e <= len(text) for s, e in zip(cleaned.starts, cleaned.ends))
