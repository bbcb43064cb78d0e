"""Recognisers of words, and what acronyms and compound names are said as."""

from __future__ import annotations

import functools
import re
from typing import List, Optional, Pattern

from edge_tts.text.characters import LATIN
from edge_tts.text.reading import tables
from edge_tts.text.reading.items import Item, Spoken, Word
from edge_tts.text.reading.place import Place, starts_word

_WORD = re.compile(f"[{LATIN}]+(?:'[{LATIN}]+)*'?(?![{LATIN}])")
# `check-in`, `turn-by-turn`; a part in capitals or of one letter is read on its own.
_SMALL = "a-z\u00df-\u00f6\u00f8-\u00ff"
_COMPOUND = re.compile(
    rf"(?:[eE]|[{LATIN}][{_SMALL}]{{1,24}})"
    rf"(?:-[A-Z]?[{_SMALL}]{{1,24}}){{1,4}}('s)?(?![{LATIN}\d]|[-'][{LATIN}\d])"
)
_DAY = r"(Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)(?:\.|day|nesday|sday|rsday|urday)?"
_WEEKDAYS = re.compile(rf"{_DAY}(?: ?[-–~] ?{_DAY})(?![A-Za-z])")
_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def weekday_range(place: Place) -> Optional[Item]:
    """Opening days: `Mon-Fri`."""
    match = _WEEKDAYS.match(place.text, place.at)
    if not match or not starts_word(place.text, place.at):
        return None
    first, last = (
        next(name for name in _DAY_NAMES if name.startswith(match.group(group)[:3]))
        for group in (1, 2)
    )
    spoken = f"{first} to {last}"
    return Spoken(place.at, match.end(), spoken, spoken)


_NUMBER_NEXT = re.compile(r" \d")


def special_form(place: Place) -> Optional[Item]:
    """Names whose spelling misleads, from `wordforms.tsv`: iPhone, WiFi, C++."""
    if not starts_word(place.text, place.at):
        return None
    match = _special_forms().match(place.text, place.at)
    if not match:
        return None
    forms = tables.mapping("wordforms")[match.group(1)]
    spoken = forms[-1] if _NUMBER_NEXT.match(place.text, match.end()) else forms[0]
    if match.group(2):
        spoken += "'s"
    return Spoken(place.at, match.end(), spoken, spoken)


@functools.lru_cache(maxsize=None)
def _special_forms() -> Pattern[str]:
    written = sorted(tables.mapping("wordforms"), key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, written))})('s)?(?![A-Za-z0-9+#]|-[a-z])")


def compound(place: Place) -> Optional[Item]:
    """Words joined by hyphens, spoken as one phrase."""
    match = _COMPOUND.match(place.text, place.at)
    if not match or not starts_word(place.text, place.at):
        return None
    return Word(place.at, match.end(), match.group())


def word(place: Place) -> Optional[Item]:
    """One Latin word with its apostrophes."""
    match = _WORD.match(place.text, place.at)
    if not match:
        return None
    written = match.group()
    end = match.end()
    if written.endswith("'") and not written[:-1].lower().endswith("s"):
        end -= 1
    return Word(place.at, end, place.text[place.at : end])


_CAMEL = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WHOLE_NAME = re.compile(r"(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O')[A-Z][a-z]+(?:'s)?")
_ACRONYM = re.compile(r"([A-Z]{2,12})('?s|'S)?")
_ONSET = re.compile(
    "(?:[BCDFGHJKLMNPQRSTVWXZ]?|SCHR?|SC[HR]?|SK[RL]?|SPL?R?|STR?|SHR?|S[LMNQW]|BR|BL|CH|CHR|CR|CL|DR|DW|"
    "FR|FL|GR|GL|GH|GN|KN|KR|KL|PR|PL|PH|PS|TH|THR|TR|TW|WH|WR|QU|VR|RH)[AEIOUY]"
)
_CODA = re.compile(
    "[AEIOUY](?:[BCDFGKLMNPRSTXZHWY]?|SS|LL|FF|ZZ|TT|CK|CT|FT|GH|GHT|LD|LF|LK|LM|LP|LT|LTH|MP|MPS|"
    "NG|NGS|NK|NT|NTS|ND|NDS|NCH|RB|RD|RDS|RF|RK|RKS|RL|RM|RN|RP|RS|RST|RT|RTS|RTH|RCH|RSH|SH|SK|SP|ST|STS|TH|TCH|"
    "PT|XT|CH|WN|WL|TS|PS|KS|NS|LS|MS|DS|GS|BS)$"
)
_SPELLED_LENGTH = 3
# `CarPlay` is one word to the ear; more parts are a phrase.
_NAME_PARTS = 2


def spoken_words(written: str, in_capitals: bool) -> List[str]:
    """What a Latin word is said as: itself, its letters, or the parts of a compound name.

    `in_capitals` says that the text around it is all capitals, so that capitals mean nothing.
    """
    match = _ACRONYM.fullmatch(written)
    if match and not _is_word_in_capitals(match.group(1), in_capitals):
        letters = list(match.group(1))
        if match.group(2):
            letters[-1] += "'s"
        return letters
    if match:
        return [_word_in_capitals(match.group(1)) + (match.group(2) or "").lower()]
    parts = [] if _WHOLE_NAME.fullmatch(written) else _CAMEL.split(written)
    is_name = len(parts) == _NAME_PARTS and not any(part.isupper() for part in parts)
    if len(parts) < 2 or (is_name and min(map(len, parts)) > 1):
        return [written]
    return [said for part in parts for said in _camel_part(part)]


def _camel_part(part: str) -> List[str]:
    if len(part) == 1:
        return [part.upper()]
    return spoken_words(part, False) if part.isupper() else [part]


def _word_in_capitals(letters: str) -> str:
    return letters if letters in tables.word_set("acronyms") else letters.lower()


def _is_word_in_capitals(letters: str, in_capitals: bool) -> bool:
    if letters in tables.word_set("acronyms") or letters in tables.word_set("capitals"):
        return True
    if in_capitals and letters in tables.cues("shouted"):
        return True
    if len(letters) <= _SPELLED_LENGTH:
        return False
    return bool(_ONSET.match(letters) and _CODA.search(letters)) or (
        in_capitals and len(letters) > 4
    )
