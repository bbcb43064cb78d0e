"""A position in the text and what its neighbourhood says about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List

from edge_tts.text.characters import HAN
from edge_tts.text.reading import tables
from edge_tts.text.reading.items import Number
from edge_tts.text.reading.units import UnitTable
from edge_tts.text.tokens import Language

_REACH = 48
_CHINESE_REACH = 12
_WORD = re.compile(r"[A-Za-z©#][A-Za-z.'’]*|'s")
_HAN_END = re.compile(f"[{HAN}]")

NUMBER = r"(?:[1-9]\d{0,2}(?:,\d{3}){1,8}(?!\d)|\d{1,24}(?!\d))(?:\.\d{1,24}(?!\d))?"
BARE = r"\d{1,24}(?!\d)(?:\.\d{1,24}(?!\d))?"
TO = r" ?[-–—~] ?"


@dataclass(frozen=True)
class Place:
    """Offset `at` in the cleaned `text`, the language digits have there, and the unit table."""

    text: str
    at: int
    language: Language
    units: UnitTable

    @property
    def is_chinese(self) -> bool:
        """Whether digits here are read in Chinese."""
        return self.language is Language.ZH

    @property
    def previous(self) -> str:
        """The character before, or an empty string."""
        return self.text[self.at - 1 : self.at] if self.at else ""

    def words_before(self, count: int) -> List[str]:
        """Up to `count` English words before, lower case, nearest last, in the same sentence."""
        window = self.text[max(0, self.at - _REACH) : self.at]
        window = re.split(r"[!?。！？]|\.\s(?=[A-Z])", window)[-1]
        return [word.lower() for word in _WORD.findall(window)][-count:] if count else []

    def has_cue(self, name: str, count: int = 4) -> bool:
        """Whether a word of the cue class stands among the `count` words before."""
        cues = tables.cues(name)
        if any(word in cues or word.rstrip(".'") in cues for word in self.words_before(count)):
            return True
        window = self.text[max(0, self.at - _CHINESE_REACH) : self.at]
        window = re.split("[，。！？；,]", window)[-1]
        return bool(_HAN_END.search(window)) and any(cue in window for cue in cues)

    def has_cue_after(self, end: int, name: str, reach: int = 32) -> bool:
        """Whether a word of the cue class follows `end` within `reach` characters."""
        cues = tables.cues(name)
        window = re.split("[.!?。！？]", self.text[end : end + reach])[0]
        if any(word.lower() in cues for word in _WORD.findall(window)):
            return True
        return bool(_HAN_END.search(window)) and any(cue in window for cue in cues)

    def follows(self, end: int, name: str) -> bool:
        """Whether the text at `end` begins with a Chinese word of the cue class."""
        following = self.text[end : end + 4].lstrip(" ")
        return any(following.startswith(cue) for cue in tables.cues(name))


def number(written: str, sign: str = "") -> Number:
    """A `Number` from digits with optional separators and decimal point."""
    integer, _, fraction = written.replace(",", "").partition(".")
    return Number(integer, fraction or None, sign)


_RESTART = re.compile(
    r"\s+(?!(?:Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
    r"|[A-Z]{2,}\b)[A-Z\"“(]|\s*$"
)


def before_final_stop(text: str, end: int) -> int:
    """`end` without the abbreviation's period, where that period also ends the sentence."""
    if text[end - 1] == "." and _RESTART.match(text, end):
        return end - 1
    return end


def starts_word(text: str, at: int) -> bool:
    """Whether no letter or digit of the Latin script touches `at` from the left."""
    return at == 0 or not (text[at - 1].isascii() and text[at - 1].isalnum())
