"""Recognisers of scores and ratios."""

from __future__ import annotations

import re
from typing import Optional

from edge_tts.text.reading.items import Item, Score
from edge_tts.text.reading.place import Place

_SCORE = re.compile(r"(\d{1,3}) ?[:–-] ?(\d{1,3})(?![\d:%]|[-/.]\d)")
_RATIO = re.compile(r"(\d{1,4}(?:\.\d{1,4})?):(\d{1,4}(?:\.\d{1,4})?)(?![\d:])")
_FALLING = re.compile(r"(\d{1,3})[–-](\d{1,3})(?![\d:%\'\"]|[-–/.]\d| ?=|[A-Za-z])")
_NAME_BEFORE = re.compile(r"(?<![A-Za-z])(?:[A-Z0-9]{2,8})[ -]$|[-–/.+#A-Za-z]$")
_SET_BEFORE = re.compile(r"\d[-–]\d{1,2}[,、，(（ ]{1,2}$")
_IDIOMS = frozenset((("24", "7"), ("10", "4"), ("9", "11")))


def cued_score(place: Place) -> Optional[Item]:
    """`3-1` or `10:12` beside words about a match or a ratio."""
    match = _SCORE.match(place.text, place.at)
    if not match:
        return None
    is_score = place.has_cue("score") or place.has_cue_after(match.end(), "score", 8)
    if is_score or (":" in match.group() and place.has_cue("ratio", 3)):
        return Score(place.at, match.end(), match[1], match[2])
    return None


def ratio(place: Place) -> Optional[Item]:
    """`16:9`, `3:2`: digits around a colon that are no time of day."""
    match = _RATIO.match(place.text, place.at)
    return Score(place.at, match.end(), match[1], match[2]) if match else None


def falling(place: Place) -> Optional[Item]:
    """`112-108`: no range falls. Names (`Boeing 747-8`) and addresses (`3-1号`) are no scores."""
    match = _FALLING.match(place.text, place.at)
    if not match or (match[1], match[2]) in _IDIOMS or int(match[1]) <= int(match[2]):
        return None
    if len(match[1]) != len(match[2]) and max(len(match[1]), len(match[2])) > 2:
        return None
    if any(place.has_cue(name, 2) for name in ("room", "id")):
        return None
    if place.text[match.end() : match.end() + 1] in tuple("号室栋楼层座单弄"):
        return None
    is_set = _SET_BEFORE.search(place.text, max(0, place.at - 9), place.at)
    if not is_set and _NAME_BEFORE.search(place.text, max(0, place.at - 24), place.at):
        return None
    return Score(place.at, match.end(), match[1], match[2])
