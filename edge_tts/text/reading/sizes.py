"""Recognisers of feet and inches and of geographical coordinates."""

from __future__ import annotations

import re
from typing import Optional

from edge_tts.text.reading.items import (
    Coordinate,
    Duration,
    Feet,
    Item,
    Number,
    Product,
    Quantity,
)
from edge_tts.text.reading.numerics import is_attribute
from edge_tts.text.reading.place import BARE, TO, Place, before_final_stop, number

_FEET_INCHES = re.compile(
    r"(\d{1,5})(?:' ?| ?ft\.? | feet )(\d{1,2}(?:\.\d)?)(?:\"|''| ?in(?:\.|ch|ches)?(?![\w]))"
)
_INCHES = re.compile(
    rf"({BARE})(?:{TO}({BARE}))?"
    r"(?: in(?:\.(?= [a-z])|(?=\.? of (?:rain|snow|ice|water)\b))|-in(?:\.|ch)?(?=[ ,;)]))"
)
_DECIMAL_INCHES = re.compile(r"(\d{1,6}\.\d{1,4})() in(?=[;,.)]|$)")
_INCH_MARKS = re.compile(rf"({BARE})(?:{TO}({BARE}))?\"(?![A-Za-z0-9])")
_FEET_PRODUCT = re.compile(r"(\d{1,4})'? ?[xX×] ?(\d{1,4})'(?![\w'])")
_MINUTES_SECONDS = re.compile(r"(\d{1,3})'(?:([0-5]?\d)(?:\"|''))?(?![\w'])")
_QUOTE_REACH = 400
_COORDINATE = re.compile(
    r"(\d{1,3}(?:\.\d{1,8})?)° ?(?:([0-5]?\d(?:\.\d{1,4})?)' ?"
    r"(?:([0-5]?\d(?:\.\d{1,4})?)(?:\"|''))?)? ?([NSEW](?![\w]))?"
)


def inches(place: Place) -> Optional[Item]:
    """`6'2"`, `14 ft 6 in.`, `0.5 in of rain` and `65"`; elsewhere `in` is the word."""
    if place.previous == "°":
        return None
    if place.is_chinese and not place.has_cue("height", 2):
        minutes = _minutes_and_seconds(place)
        if minutes:
            return minutes
    match = _FEET_INCHES.match(place.text, place.at)
    if match:
        end = before_final_stop(place.text, match.end())
        return Feet(place.at, end, Number(match[1]), number(match[2]))
    foot, inch = place.units.find("ft"), place.units.find("inch")
    match = _FEET_PRODUCT.match(place.text, place.at)
    if match and foot:
        return Product(place.at, match.end(), (Number(match[1]), Number(match[2])), foot)
    match = (
        _INCHES.match(place.text, place.at)
        or _DECIMAL_INCHES.match(place.text, place.at)
        or _inch_marks(place)
    )
    if not match or inch is None:
        return None
    high = number(match[2]) if match[2] else None
    describes = "-in" in match.group() or is_attribute(place, match.end())
    return Quantity(place.at, match.end(), number(match[1]), high, inch, describes)


def _inch_marks(place: Place) -> "Optional[re.Match[str]]":
    """`65"`, unless the mark closes a quotation."""
    match = _INCH_MARKS.match(place.text, place.at)
    return None if match and _is_quoted(place) else match


def _is_quoted(place: Place) -> bool:
    """Whether a straight quotation mark before is still open."""
    is_open = False
    at = place.text.find('"', max(0, place.at - _QUOTE_REACH))
    while 0 <= at < place.at:
        is_inch = not is_open and place.text[at - 1 : at].isdigit()
        is_open = is_open if is_inch else not is_open
        at = place.text.find('"', at + 1)
    return is_open


def _minutes_and_seconds(place: Place) -> Optional[Item]:
    """`3'20"` of a Chinese text."""
    match = _MINUTES_SECONDS.match(place.text, place.at)
    if not match or not match[2]:
        return None
    return Duration(place.at, match.end(), None, int(match[1]), int(match[2]))


def coordinate(place: Place) -> Optional[Item]:
    """`40°42'46"N`, `37.7749° N`; a bare `40°` is an angle or a temperature."""
    match = _COORDINATE.match(place.text, place.at)
    if not match or not (match[2] or match[4]):
        return None
    minutes, seconds = (number(part) if part else None for part in match.groups()[1:3])
    end = place.at + len(match.group().rstrip())
    return Coordinate(place.at, end, number(match[1]), minutes, seconds, match[4] or "")
