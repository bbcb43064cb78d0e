"""Recognisers of multiples (`2x faster`) and of scales written as a letter (`5k people`)."""

from __future__ import annotations

import re
from typing import Optional

from edge_tts.text.characters import HAN
from edge_tts.text.reading import tables
from edge_tts.text.reading.amounts import scaled
from edge_tts.text.reading.items import Cardinal, Item, Quantity
from edge_tts.text.reading.place import BARE, Place, number
from edge_tts.text.reading.units import Unit

_COMPARED = (
    "faster|slower|more|less|better|cheaper|bigger|larger|smaller|higher|longer|stronger|"
    "the|as|a|per|daily|speed|zoom|optical|magnification"
)
_TIMES = re.compile(rf"({BARE}) ?[x×X](?=[ -](?:{_COMPARED})\b|[{HAN}])")
_CHINESE_GROUP = re.compile(rf"({BARE})([MKk])(?=用户|人|次|粉丝|下载|播放|阅读|点赞|条|台|辆|份)")
_TIMES_UNIT = Unit("times", "times", "倍")
_GROUPED = re.compile(rf"({BARE}) ?([mMkK]|bn|B) ([a-z]{{3,20}})\b")
_SCALES = {"m": "million", "k": "thousand", "bn": "billion", "b": "billion"}


def times(place: Place) -> Optional[Item]:
    """`2x faster`, `10×光学变焦`."""
    match = _TIMES.match(place.text, place.at)
    if not match:
        return None
    return Quantity(place.at, match.end(), number(match[1]), None, _TIMES_UNIT)


def grouped(place: Place) -> Optional[Item]:
    """`1.2m barrels`, `3M downloads`, `5k people`: a scale before what is counted."""
    if place.is_chinese:
        return _chinese_group(place)
    match = _GROUPED.match(place.text, place.at)
    if not match or match[3] not in tables.cues("grouped"):
        return None
    scale = _SCALES[match[2].lower()]
    return Quantity(place.at, match.start(3) - 1, number(match[1]), None, Unit(scale, scale, scale))


def _chinese_group(place: Place) -> Optional[Item]:
    """`1M用户` is 一百万用户."""
    match = _CHINESE_GROUP.match(place.text, place.at)
    if not match:
        return None
    value = scaled(number(match[1]), _SCALES[match[2].lower()])
    return Cardinal(place.at, match.end(), value)
