"""Recognisers of abbreviations and titles, told apart by what stands beside them."""

from __future__ import annotations

import functools
import re
from typing import Optional, Pattern

from edge_tts.text.reading import tables
from edge_tts.text.reading.items import Item, Spoken
from edge_tts.text.reading.place import Place, before_final_stop, starts_word

_SAINT_NEXT = re.compile(r"\.? [A-Z](?:[a-z]|'[A-Z]|\. )")
_CAPITAL_WORD_END = re.compile(r"[A-Z][A-Za-z]+,? $")
_JUNIOR_END = re.compile(r"\b(?:Jr|Sr)\. $")
_NUMBER_NEXT = re.compile(r" ?(?:\d|[IVX]+\b|[A-Z]\b|[A-Z]{1,4}-?\d)")
_NAME_NEXT = re.compile(r" ?[A-Z]|(?: and| &) (?:Mrs|Ms|Mr|Dr|Prof)\b")
_YEAR_NEXT = re.compile(r" \d{3,4}(?!\d)")
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_TIME_NEXT = re.compile(
    rf"(?:\.,?|,)? (?:\d{{1,2}}(?::\d\d| ?[AaPp]\.?[Mm]| ?[-–] ?\d)|(?:{_MONTHS})[a-z]*\.? \d)"
    r"|(?: ?[&/] ?| and )Sun\b"
)
_NEXT = {"number": _NUMBER_NEXT, "year": _YEAR_NEXT, "weekday": _TIME_NEXT, "title": _NAME_NEXT}
_PATH_NEXT = re.compile(r"\w+/")
_DOUBLE_MEANING = re.compile(r"(St|Dr)(\.?)(?![A-Za-z0-9])")
_NUMBERED_STREET_END = re.compile(r"\d(?:st|nd|rd|th) $")
_NAME_END = re.compile(r"([A-Z][A-Za-z'-]{0,30}) $")
# These are followed by a name more often than by a new sentence.
_RARELY_LAST = frozenset(("U.S.", "U.K.", "D.C.", "Co.", "Inc.", "Jr.", "Sr."))
_DOTTED = re.compile(r"(?:[A-Z]\.){1,8}[A-Z](?![A-Za-z.])|(?:[A-Z]\.){2,8}(?![A-Za-z])")
_SMALL_DOTTED = re.compile(r"(?:[a-z]\.){2,5}(?![A-Za-z0-9])")
_INITIAL = re.compile(r"(?!I\.)([A-Z])\.(?= ?[A-Z](?:\.|[a-z]{1,30}))")
_NEXT_WORD = re.compile(r" ?([A-Z][a-z]{0,30})")
_INITIAL_BEFORE = re.compile(
    r"(?:^|[^A-Za-z])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|Sen|Gov|Gen|Rep|Rev|Capt|Lt|Sgt|Col)\. ?$"
)
_COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_ROAD_BEFORE = re.compile(
    r"(?:[A-Z]{1,2}-\d{1,4}"
    r"|\b(?:St|Ave|Rd|Blvd|Hwy|Route|Street|Avenue|Road|Highway|Interstate)\.?(?: \d{1,4})?) $"
)
_COMPASS_WORD = re.compile(r"([NSEW])\.?(?= (?:[A-Z][a-z]+|\d{1,3}(?:st|nd|rd|th)) (\w+))")
_ONE_COMPASS = re.compile(r"([NSEW])(?![\w'-]|\.\w)")


def abbreviation(place: Place) -> Optional[Item]:
    """Titles, street types, directions and the other entries of `abbreviations.tsv`."""
    if not starts_word(place.text, place.at) or place.previous == "'":
        return None
    if place.previous == "/" and _PATH_NEXT.match(place.text, place.at):
        return None
    item = _street_or_name(place) or _compass(place) or _initials(place)
    if item:
        return item
    found = _abbreviations().match(place.text, place.at)
    if not found:
        return _small_initials(place)
    written = found.group()
    english, kind = tables.mapping("abbreviations")[written]
    if not _abbreviation_fits(place, kind, found.end()):
        return None
    end = found.end()
    if kind in ("end", "street") and not (written in _RARELY_LAST and place.text[end:].strip()):
        end = before_final_stop(place.text, end)
    # `No.1` is 第一 in a Chinese text.
    return Spoken(place.at, end, english, "第" if english == "number" else english)


@functools.lru_cache(maxsize=None)
def _abbreviations() -> Pattern[str]:
    written = sorted(tables.mapping("abbreviations"), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, written))})(?:(?![A-Za-z0-9])|(?<=\\.)(?=\\d))")


def _abbreviation_fits(place: Place, kind: str, end: int) -> bool:
    if kind in _NEXT:
        return _NEXT[kind].match(place.text, end) is not None
    if kind == "street":
        window = place.text[max(0, place.at - 30) : place.at]
        if _JUNIOR_END.search(window):
            return True
        return bool(_CAPITAL_WORD_END.search(window) or _NUMBERED_STREET_END.search(window))
    if kind == "word":
        return place.text[end : end + 1] == " " and not place.previous.isdigit()
    return True


def _street_or_name(place: Place) -> Optional[Item]:
    """`St.` is Saint before a name and Street after one; `Dr.` Doctor or Drive alike."""
    match = _DOUBLE_MEANING.match(place.text, place.at)
    if not match:
        return None
    before = _name_before(place)
    after = _SAINT_NEXT.match(place.text, match.end(1)) is not None
    name, street = ("saint", "street") if match.group(1) == "St" else ("doctor", "drive")
    if not before and not after and not match.group(2):
        return None
    if after and not before:
        return Spoken(place.at, match.end(), name, name)
    return Spoken(place.at, before_final_stop(place.text, match.end()), street, street)


def _name_before(place: Place) -> bool:
    """Whether a name or a numbered street stands before."""
    window = place.text[max(0, place.at - 32) : place.at]
    if _NUMBERED_STREET_END.search(window):
        return True
    match = _NAME_END.search(window)
    return match is not None and match.group(1).lower() not in tables.cues("notnames")


def _compass(place: Place) -> Optional[Item]:
    match = _COMPASS_WORD.match(place.text, place.at)
    if match and match.group(2).lower() in tables.cues("streets"):
        spoken = _COMPASS[match.group(1)]
        return Spoken(place.at, match.end(), spoken, spoken)
    match = _ONE_COMPASS.match(place.text, place.at)
    if match and _ROAD_BEFORE.search(place.text, max(0, place.at - 24), place.at):
        spoken = _COMPASS[match.group(1)]
        return Spoken(place.at, match.end(), spoken, spoken)
    return None


def _small_initials(place: Place) -> Optional[Item]:
    """`b.i.d.`, `r.p.m.`: letters, whose periods end no sentence."""
    match = _SMALL_DOTTED.match(place.text, place.at)
    if not match:
        return None
    letters = " ".join(match.group().replace(".", "").upper())
    return Spoken(place.at, before_final_stop(place.text, match.end()), letters, letters)


def _initials(place: Place) -> Optional[Item]:
    """`J.K. Rowling`, `A.P.I.`: the periods end no sentence."""
    match = _DOTTED.match(place.text, place.at)
    if match:
        letters = " ".join(match.group().replace(".", ""))
        is_last = match.group().endswith(".") and not place.text[match.end() :].strip()
        return Spoken(place.at, match.end() - is_last, letters, letters)
    match = _INITIAL.match(place.text, place.at)
    following = _NEXT_WORD.match(place.text, match.end()) if match else None
    if not match or (following and following.group(1).lower() in tables.cues("sentencestarters")):
        return None
    window = place.text[max(0, place.at - 32) : place.at]
    is_series = following is not None and place.text[following.end() :].startswith(".")
    begins = is_series or not place.words_before(1) or _INITIAL_BEFORE.search(window)
    if not begins and not _NAME_END.search(window):
        return None
    return Spoken(place.at, match.end(), match[1], match[1])
