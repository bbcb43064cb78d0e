"""Whether a plus or minus before a number is its sign."""

from __future__ import annotations

import re

from edge_tts.text.characters import HAN
from edge_tts.text.reading.place import Place

# After the end of a first date, time or amount a hyphen means "to": `5月1日-7日`.
_COUNTED_BEFORE = re.compile(r"\d ?[年月日号点时分秒元度米里周天层楼级]$")
_BEFORE_SIGN = re.compile(rf"[\s(（\[<>=≤≥:：，,、。;；/~至到是为零约{HAN}]")
_NAME_END = re.compile(
    f"[{HAN}](?<![为是到至了约零在达负由从得升降温额数值分差度低高加减跌比前后拔长于成剩有余化])"
)
_BARE_AFTER = re.compile(r"\d{1,3}(?![\d.%/]|[楼层℃°])")
_MARK_NEXT = re.compile(r"[A-Z](?![A-Za-z])")


def may_be_signed(place: Place) -> bool:
    """Whether a plus or minus here is a sign, not a hyphen or a range."""
    if _COUNTED_BEFORE.search(place.text, max(0, place.at - 3), place.at):
        return False
    if place.is_chinese and place.text[place.at] == "-" and _is_series(place):
        return False
    return not place.previous or _BEFORE_SIGN.match(place.previous) is not None


def _is_series(place: Place) -> bool:
    """`歼-20`, `长征-5`: a hyphen between a name and a bare number; but `气温-5` and `得了-5分`."""
    if not _NAME_END.search(place.text, max(0, place.at - 1), place.at):
        return False
    bare = _BARE_AFTER.match(place.text, place.at + 1)
    if not bare:
        return False
    if place.units.match(place.text, bare.end()) and not _MARK_NEXT.match(place.text, bare.end()):
        return False
    return not place.follows(bare.end(), "measure")
