"""Recogniser of Roman numerals, only where they are numerals."""

from __future__ import annotations

import re
from typing import Optional

from edge_tts.text.characters import is_han
from edge_tts.text.reading import tables
from edge_tts.text.reading.items import Item, Numeral
from edge_tts.text.reading.place import Place, starts_word

_ROMAN = re.compile(r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![A-Za-z0-9'])")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_CHINESE_BEFORE = re.compile(r"(?:第|世界大战|等级|类型|阶段)$")
_CHINESE_AFTER = re.compile(r" ?(?:期|级|型|类|代|章|部|世|号|度)")
_CHINESE_RULER = re.compile(
    "(?:亨利|路易|伊丽莎白|爱德华|查理|乔治|保罗|威廉|理查|拿破仑|尼古拉|彼得|亚历山大|本笃)$"
)
_PRONOUN_NEXT = re.compile(r" (?!and\b)[a-z]")
_CAPITAL_WORD_END = re.compile(r"[A-Z][a-z]+ $")
# Clothing sizes and initials look like numerals.
_LOOK_ALIKES = frozenset(("C", "L", "XL", "XXL", "LI", "LX", "XX"))


def roman(place: Place) -> Optional[Item]:
    """A numeral after a word that is numbered, a ruler's name, or beside a Chinese counter."""
    match = _ROMAN.match(place.text, place.at)
    if not match or not match.group() or not starts_word(place.text, place.at):
        return None
    numeral, end = match.group(), match.end()
    word = (place.words_before(1) or [""])[0] if place.previous == " " else ""
    is_ruler = word in tables.cues("rulers") or _CHINESE_RULER.search(place.text[: place.at][-5:])
    if not (
        _is_chinese_numeral(place, numeral, end)
        or _is_numbered(place, numeral, word, end)
        or _is_sequel(place, numeral, bool(is_ruler))
    ):
        return None
    return Numeral(place.at, end, _roman_value(numeral), bool(is_ruler))


def _is_chinese_numeral(place: Place, numeral: str, end: int) -> bool:
    before = place.text[max(0, place.at - 6) : place.at].rstrip()
    if _CHINESE_BEFORE.search(before):
        return True
    if len(numeral) > 1 and numeral not in _LOOK_ALIKES and is_han(place.previous):
        return True
    return len(numeral) > 1 and _CHINESE_AFTER.match(place.text, end) is not None


def _is_numbered(place: Place, numeral: str, word: str, end: int) -> bool:
    """`Chapter I`, but not `In this chapter I show`."""
    is_pronoun = numeral == "I" and word != "war" and _PRONOUN_NEXT.match(place.text, end)
    return word in tables.cues("numbered") and not is_pronoun


def _is_sequel(place: Place, numeral: str, is_ruler: bool) -> bool:
    """`Rocky II`, `George V`."""
    if (len(numeral) == 1 and not (numeral == "V" and is_ruler)) or numeral in _LOOK_ALIKES:
        return False
    window = place.text[max(0, place.at - 24) : place.at]
    return _CAPITAL_WORD_END.search(window) is not None


def _roman_value(numeral: str) -> int:
    values = [_VALUES[letter] for letter in numeral]
    return sum(
        -value if any(later > value for later in values[at + 1 : at + 2]) else value
        for at, value in enumerate(values)
    )
