"""Number words are right for every number, not just for the ones in the tables."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from edge_tts.text.reading import chinese_numbers, english_numbers

ENGLISH_VALUES = {english_numbers.cardinal(str(n)): n for n in range(20)}
ENGLISH_VALUES.update({english_numbers.cardinal(str(n)): n for n in range(20, 100, 10)})
ENGLISH_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def english_value(words: str) -> int:
    total = group = 0
    for word in words.split():
        if word == "hundred":
            group *= 100
        elif word in ENGLISH_SCALES:
            total, group = total + group * ENGLISH_SCALES[word], 0
        else:
            group += ENGLISH_VALUES[word]
    return total + group


CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")}
CHINESE_PLACES = {"十": 10, "百": 100, "千": 1000}


def chinese_value(words: str) -> int:
    words = words.replace("两", "二")
    total = 0
    for part, scale in re.findall("([^万亿]+)(亿|万)?", words):
        section, digit = 0, 0
        for char in part:
            if char in CHINESE_PLACES:
                section, digit = section + (digit or 1) * CHINESE_PLACES[char], 0
            else:
                digit = CHINESE_DIGITS[char]
        total += (section + digit) * {"亿": 10**8, "万": 10**4, "": 1}[scale]
    return total


@given(st.integers(0, 10**15 - 1))
def test_english_words_mean_their_number(value):
    assert english_value(english_numbers.cardinal(str(value))) == value


@given(st.integers(0, 10**12 - 1), st.booleans())
def test_chinese_words_mean_their_number(value, counts):
    words = chinese_numbers.cardinal(str(value), counts)
    assert chinese_value(words) == value
    assert "零零" not in words
    assert not words.startswith("一十")


def test_beyond_the_scales_digits_are_named():
    assert english_numbers.cardinal("1" * 30) == " ".join(["one"] * 30)
    assert chinese_numbers.cardinal("1" * 30) == "一" * 30


def test_years_and_labels():
    years = {year: english_numbers.year(year) for year in ("1066", "1905", "2000", "2019")}
    assert years == {
        "1066": "ten sixty six",
        "1905": "nineteen oh five",
        "2000": "two thousand",
        "2019": "twenty nineteen",
    }
    assert english_numbers.label("305") == "three oh five"
    assert english_numbers.label("007") == "zero zero seven"
