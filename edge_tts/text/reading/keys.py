"""`#` and `*`: keys of a telephone, a gate's number, or nothing."""

from __future__ import annotations

import re
from typing import Optional

from edge_tts.text.reading import chinese_numbers
from edge_tts.text.reading.items import Item, Spoken
from edge_tts.text.reading.place import Place

_NUMBERED = re.compile(r"#(\d{1,6})(?![\d#*])号?")
_DIALLING = re.compile(r"(?:按|输入|拨|键)[^，。,.]{0,4}$")
_STAR_KEY = re.compile(r"\* ?(?:号|键|key\b|button\b)")
_PRESSED = re.compile(r"(?:\b(?:[Pp]ress|[Dd]ial)\b[^.!?\n]{0,64}|按|输入) ?$")


def numbered(place: Place) -> Optional[Item]:
    """A gate or pump in a Chinese sentence: `#5` is 五号, but `按#5` is two keys."""
    match = _NUMBERED.match(place.text, place.at) if place.is_chinese else None
    if not match or _DIALLING.search(place.text, max(0, place.at - 8), place.at):
        return None
    number = chinese_numbers.cardinal(match[1], counts=False)
    return Spoken(place.at, match.end(), f"number {match[1]}", f"{number}号")


def star_key(place: Place) -> Optional[Item]:
    """The star of `*#06#`, `press *` and `*号键`, not one that only decorates."""
    text, at = place.text, place.at
    if text[at] != "*":
        return None
    following = text[at + 1 : at + 2]
    dialled = following in ("#", "*") or following.isdigit() or place.previous in ("#", "*")
    pressed = _PRESSED.search(text, max(0, at - 80), at) is not None
    if (dialled and following) or pressed or _STAR_KEY.match(text, at):
        return Spoken(at, at + 1, "star", "星" if following == "号" else "星号")
    return None
