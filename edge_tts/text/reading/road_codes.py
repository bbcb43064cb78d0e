"""Recognisers of licence plates, kilometre posts and the sizes of tyres."""

from __future__ import annotations

import re
from typing import Optional

from edge_tts.text.reading.codes import CODE_PART
from edge_tts.text.reading.items import Code, Item, Post
from edge_tts.text.reading.place import Place

_PLATE = re.compile(
    r"[京沪津渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z][· -]?"
    r"(?=[A-Z]{0,6}\d)([A-Z0-9]{5,6})(?![A-Za-z0-9])"
)
_POST = re.compile(r"([A-Z]{0,2}K) ?(\d{1,4})\+(\d{1,3})(?!\d)(?: ?m(?![A-Za-z]))?")
_TYRE = re.compile(r"(\d{3})/(\d{2}) ?(Z?R) ?(\d{2})(?![\w.])")


def plate(place: Place) -> Optional[Item]:
    """A mainland Chinese licence plate."""
    match = _PLATE.match(place.text, place.at)
    if not match:
        return None
    parts = (place.text[place.at], place.text[place.at + 1], *CODE_PART.findall(match.group(1)))
    return Code(place.at, match.end(), parts, "digits")


def post(place: Place) -> Optional[Item]:
    """A kilometre post: `K1234+500`."""
    match = _POST.match(place.text, place.at)
    return Post(place.at, match.end(), match[1], match[2], match[3]) if match else None


def tyre(place: Place) -> Optional[Item]:
    """The size of a tyre: `225/55 R18`."""
    match = _TYRE.match(place.text, place.at)
    return Code(place.at, match.end(), match.groups(), "plain") if match else None
