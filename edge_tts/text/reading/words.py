"""Recognisers of words: abbreviations, titles, Roman numerals, acronyms, compound names."""

from __future__ import annotations

import functools
import re
from typing import List, Optional, Pattern

from edge_tts.text.characters import LATIN
from edge_tts.text.reading import tables
from edge_tts.text.reading.items import Item, Numeral, Spoken, Word
from edge_tts.text.reading.place import Place, starts_word

_WORD = re.compile(f"[{LATIN}]+(?:'[{LATIN}]+)*'?(?![{LATIN}])")
_ROMAN = re.compile(r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![A-Za-z0-9'])")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_NUMBERED = frozenset(
    "chapter part volume vol. act scene book section phase type level class stage grade tier war "
    "bowl appendix article title figure table category generation gen unit episode round group".split()
)
_RULERS = frozenset(
    "henry elizabeth louis george charles edward william james richard john paul napoleon benedict "
    "pius philip catherine frederick alexander nicholas ivan leo gregory clement innocent peter "
    "ferdinand francis joseph mary victor umberto ramses ptolemy robert david olav carl gustav "
    "christian harald juan felipe pope king queen emperor".split()
)
_CHINESE_NUMERAL_BEFORE = re.compile(r"(?:第|世界大战|等级|类型|阶段)$")
_CHINESE_NUMERAL_AFTER = re.compile(r" ?(?:期|级|型|类|代|章|部|世|号|度)")
_SAINT_NEXT = re.compile(r"\.? [A-Z][a-z]")
_CAPITAL_WORD_END = re.compile(r"[A-Z][A-Za-z]+,? $")
_SENTENCE_RESTART = re.compile(r"\s+[A-Z\"“(]|\s*$")
_NUMBER_NEXT = re.compile(r" ?(?:\d|[IVX]+\b|[A-Z]\b)")
_NAME_NEXT = re.compile(r" ?[A-Z]")
_STREET = frozenset(
    "street st ave avenue road rd blvd boulevard drive dr lane ln way highway hwy court ct".split()
)
_COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_ROAD_BEFORE = re.compile(
    r"(?:[A-Z]{1,2}-\d{1,4}|\b(?:St|Ave|Rd|Blvd|Hwy|Route|Street|Avenue|Road)\.?(?: \d{1,4})?) $"
)
_COMPASS_WORD = re.compile(r"([NSEW])\.?(?= (?:[A-Z][a-z]+|\d{1,3}(?:st|nd|rd|th)) (\w+))")
_ONE_COMPASS = re.compile(r"([NSEW])(?![\w.'-])")


def abbreviation(place: Place) -> Optional[Item]:
    """Titles, street types, directions and the other entries of `abbreviations.tsv`."""
    if not starts_word(place.text, place.at) or place.previous == "'":
        return None
    match = _street_or_name(place)
    if match:
        return match
    found = _abbreviations().match(place.text, place.at)
    if not found:
        return None
    written = found.group()
    english, kind = tables.mapping("abbreviations")[written]
    if not _abbreviation_fits(place, kind, found.end()):
        return None
    closes = kind in ("end", "street") and written.endswith(".")
    closes = closes and _SENTENCE_RESTART.match(place.text, found.end()) is not None
    if kind == "end" and written in ("U.S.", "U.K.", "D.C.", "Co.", "Inc."):
        closes = not place.text[found.end() :].strip()
    return Spoken(place.at, found.end(), english, english, closes)


@functools.lru_cache(maxsize=None)
def _abbreviations() -> Pattern[str]:
    written = sorted(tables.mapping("abbreviations"), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, written))})(?![A-Za-z0-9])")


def _abbreviation_fits(place: Place, kind: str, end: int) -> bool:
    if kind == "number":
        return _NUMBER_NEXT.match(place.text, end) is not None
    if kind == "title":
        return _NAME_NEXT.match(place.text, end) is not None
    if kind == "street":
        return _CAPITAL_WORD_END.search(
            place.text, max(0, place.at - 30), place.at
        ) is not None or (
            re.search(r"(?:st|nd|rd|th) $", place.text[max(0, place.at - 4) : place.at]) is not None
        )
    if kind == "word":
        return place.text[end : end + 1] == " " and not place.previous.isdigit()
    return True


_DOUBLE_MEANING = re.compile(r"(St|Dr)(\.?)(?![A-Za-z0-9])")


def _street_or_name(place: Place) -> Optional[Item]:
    """`St.` is Saint before a name and Street after one; `Dr.` Doctor or Drive alike."""
    match = _DOUBLE_MEANING.match(place.text, place.at)
    if match:
        before = _name_before(place)
        after = _SAINT_NEXT.match(place.text, match.end(1)) is not None
        name, street = ("saint", "street") if match.group(1) == "St" else ("doctor", "drive")
        if not before and not after:
            return None if not match.group(2) else Spoken(place.at, match.end(), street, street)
        spoken = street if before else name
        closes = (
            before
            and bool(match.group(2))
            and (_SENTENCE_RESTART.match(place.text, match.end()) is not None)
        )
        return Spoken(place.at, match.end(), spoken, spoken, closes)
    return _compass(place)


def _name_before(place: Place) -> bool:
    """A capitalised word that is not merely the first of its sentence, or an ordinal, stands before."""
    window = place.text[max(0, place.at - 32) : place.at]
    if re.search(r"\d(?:st|nd|rd|th) $", window):
        return True
    match = re.search(r"([A-Z][A-Za-z'-]+) $", window)
    if not match:
        return False
    return match.group(1).lower() not in _NOT_NAMES


_NOT_NAMES = frozenset(
    "the a an at to see visit call ask meet near in on by for from with and or but is was this that "
    "please contact hello hi dear thank thanks yes no when if with of take turn pass leave enter".split()
)


def _compass(place: Place) -> Optional[Item]:
    match = _COMPASS_WORD.match(place.text, place.at)
    if match and match.group(2).lower() in _STREET:
        spoken = _COMPASS[match.group(1)]
        return Spoken(place.at, match.end(), spoken, spoken)
    match = _ONE_COMPASS.match(place.text, place.at)
    if match and _ROAD_BEFORE.search(place.text, max(0, place.at - 24), place.at):
        spoken = _COMPASS[match.group(1)]
        return Spoken(place.at, match.end(), spoken, spoken)
    return None


def roman(place: Place) -> Optional[Item]:
    """Roman numerals after a word that is numbered, a ruler's name, or beside Chinese counters."""
    match = _ROMAN.match(place.text, place.at)
    if not match or not match.group() or not starts_word(place.text, place.at):
        return None
    numeral = match.group()
    before = place.text[max(0, place.at - 6) : place.at].rstrip()
    chinese = _CHINESE_NUMERAL_BEFORE.search(before) or (
        len(numeral) > 1 and _CHINESE_NUMERAL_AFTER.match(place.text, match.end())
    )
    if chinese:
        return Numeral(place.at, match.end(), _roman_value(numeral), False)
    word = (place.words_before(1) or [""])[0]
    if place.previous != " " or not word:
        return None
    is_pronoun = numeral == "I" and re.match(r" (?!and\b)[a-z]", place.text[match.end() :])
    if word in _NUMBERED and not is_pronoun:
        return Numeral(place.at, match.end(), _roman_value(numeral), False)
    if len(numeral) == 1 and (numeral != "V" or word not in _RULERS):
        return None
    capital = re.search(r"[A-Z][a-z]+ $", place.text[max(0, place.at - 24) : place.at])
    if not capital or numeral in ("C", "L", "XL", "CC", "LL", "CI", "CV", "XX", "LX"):
        return None
    return Numeral(place.at, match.end(), _roman_value(numeral), word in _RULERS)


def _roman_value(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    return sum(
        -value if any(later > value for later in values[at + 1 : at + 2]) else value
        for at, value in enumerate(values)
    )


_DAY = r"(Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)(?:\.|day|nesday|sday|rsday|urday)?"
_WEEKDAYS = re.compile(rf"{_DAY}(?: ?[-–~] ?{_DAY})(?![A-Za-z])")
_DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


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


def special_form(place: Place) -> Optional[Item]:
    """Names whose spelling misleads, from `wordforms.tsv`: iPhone, WiFi, C++."""
    if not starts_word(place.text, place.at):
        return None
    match = _special_forms().match(place.text, place.at)
    if not match:
        return None
    spoken = tables.mapping("wordforms")[match.group(1)][0]
    if match.group(2):
        spoken += "'s"
    return Spoken(place.at, match.end(), spoken, spoken)


@functools.lru_cache(maxsize=None)
def _special_forms() -> Pattern[str]:
    written = sorted(tables.mapping("wordforms"), key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, written))})('s)?(?![A-Za-z0-9+#]|-[a-z])")


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


_CAMEL = re.compile(f"[A-Z]+(?![a-z])|[A-Z]?[a-zß-öø-ÿ']+|[A-Z]|[{LATIN}']+")
_WHOLE_NAME = re.compile(r"(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O')[A-Z][a-z]+(?:'s)?")
_ACRONYM = re.compile(r"([A-Z]{2,12})('?s)?")
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
        return [written if written.upper() in tables.word_set("acronyms") else written.lower()]
    if _WHOLE_NAME.fullmatch(written) or written[1:] == written[1:].lower():
        return [written]
    parts = _CAMEL.findall(written)
    return [said for part in parts for said in _camel_part(part)]


def _camel_part(part: str) -> List[str]:
    if len(part) == 1 and part.islower():
        return [part.upper()]
    return [part] if len(part) == 1 else spoken_words(part, False)


def _is_word_in_capitals(letters: str, in_capitals: bool) -> bool:
    if letters in tables.word_set("acronyms") or letters in tables.word_set("capitals"):
        return True
    if len(letters) <= _SPELLED_LENGTH:
        return False
    return bool(_ONSET.match(letters) and _CODA.search(letters)) or (
        in_capitals and len(letters) > 4
    )
