"""Recognisers of dates, years, clock times and durations."""

from __future__ import annotations

import re
from typing import Optional, Tuple

from edge_tts.text.reading.items import (
    Clock,
    ClockRange,
    Duration,
    Item,
    Mark,
    Ordinal,
    Spoken,
)
from edge_tts.text.reading.place import TO, Place, before_final_stop, starts_word

_HALF = r"(?: ?([AaPp])(?:\.[Mm]\.?|[Mm])(?![A-Za-z0-9]))"
_CLOCK = rf"([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:]|\.\d)(?:{_HALF})?"
_CLOCK_PATTERN = re.compile(_CLOCK)
_CLOCK_RANGE = re.compile(rf"({_CLOCK}){TO}({_CLOCK})")
_HOUR_HALF = re.compile(rf"(1[0-2]|0?[1-9]){_HALF}")
_HOUR_RANGE = re.compile(rf"(1[0-2]|0?[1-9]){_HALF}?{TO}(1[0-2]|0?[1-9]){_HALF}")
_LETTER_DURATION = re.compile(
    r"(?:(\d{1,3}) ?(?:h|hr|hrs)(?![a-z]) ?)?(?:(\d{1,3}) ?(?:m|min|mins|'(?!'))(?![a-z/²³\d]) ?)?"
    r"(?:(\d{1,3}) ?(?:s|sec|secs)(?![a-z]))?"
)
_HALF_FIRST = re.compile(r"([AP])\.?M\.? ?((?:1[0-2]|0?\d):[0-5]\d)(?![\d:]|\.\d| ?[AaPp]\.?[Mm])")
_HALF_NEXT = re.compile(r" ?[AaPp]\.?[Mm]")
_COLON_DURATION = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\.(\d{1,3})(?!\d))?")
_ISO_JOINT = re.compile(r"(?<=\d)T(?=\d\d:\d\d)")
_ISO_ZONE = re.compile(r"(?<=:\d\d)Z(?![A-Za-z0-9])")
_SAID_MINUTES = re.compile("分(?!钟)")
_SAID_HALF = re.compile(r"(?:上午|下午|早上|早晨|中午|晚上|凌晨|傍晚|夜里|清晨|半夜|晚|早)\s?$")

_ORDINAL = re.compile(
    r"(\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:st|nd|rd|th|ST|ND|RD|TH)(?![A-Za-z0-9])"
)


def clock(place: Place) -> Optional[Item]:
    """Clock times and opening hours."""
    match = _CLOCK_RANGE.match(place.text, place.at)
    if match:
        opening, closing = match.groups()[1:5], match.groups()[6:10]
        first = _clock(place, (place.at, match.end(1)), opening)
        last = _clock(place, (match.start(6), match.end()), closing)
        return ClockRange(place.at, last.end, first, last)
    match = _CLOCK_PATTERN.match(place.text, place.at)
    if match:
        return _clock(place, (place.at, _after_said_minutes(place, match)), match.groups())
    return _hours(place)


def _after_said_minutes(place: Place, match: "re.Match[str]") -> int:
    """The end of a clock time, the 分 of `8:08分` included."""
    is_said = place.is_chinese and _SAID_MINUTES.match(place.text, match.end())
    return match.end() + 1 if is_said else match.end()


def iso_joint(place: Place) -> Optional[Item]:
    """The `T` and the `Z` of `2026-11-30T22:54:01Z`."""
    if _ISO_JOINT.match(place.text, place.at):
        return Mark(place.at, place.at + 1, ",")
    if _ISO_ZONE.match(place.text, place.at):
        return Spoken(place.at, place.at + 1, "U T C", "U T C")
    return None


def _hours(place: Place) -> Optional[Item]:
    match = _HOUR_RANGE.match(place.text, place.at)
    if match:
        opening = Clock(place.at, match.start(3), int(match[1]), None, None, _half(match[2]))
        closing = Clock(match.start(3), match.end(), int(match[3]), None, None, _half(match[4]))
        return ClockRange(place.at, match.end(), opening, closing)
    match = _HOUR_HALF.match(place.text, place.at)
    if match:
        end = before_final_stop(place.text, match.end())
        return Clock(place.at, end, int(match[1]), None, None, _half(match[2]))
    return None


def _clock(place: Place, span: Tuple[int, int], parts: Tuple[Optional[str], ...]) -> Clock:
    hour, minute, second, half = parts
    said = _SAID_HALF.search(place.text, max(0, span[0] - 4), span[0]) is not None
    return Clock(
        span[0],
        before_final_stop(place.text, span[1]) if half else span[1],
        int(hour or 0),
        int(minute or 0),
        int(second) or None if second else None,
        _half(half),
        said,
    )


def _half(letter: Optional[str]) -> str:
    return f"{letter.lower()}m" if letter else ""


def duration(place: Place) -> Optional[Item]:
    """`1h30m`, `45m 10s`; `2:05:30` beside a word of lasting."""
    match = _LETTER_DURATION.match(place.text, place.at)
    if match and sum(1 for part in match.groups() if part) > 1:
        end = match.start() + len(match.group().rstrip())
        hours, minutes, seconds = _whole_numbers(match.groups())
        return Duration(place.at, end, hours, minutes, seconds)
    match = _COLON_DURATION.match(place.text, place.at)
    if not match or not (match[4] or _is_lasting(place, match)):
        return None
    fraction = match[4] or ""
    first, second, third = _whole_numbers(match.groups()[:3])
    if third is None:
        return Duration(place.at, match.end(), None, first, second, fraction)
    minutes = second if first or second else None
    return Duration(place.at, match.end(), first or None, minutes, third, fraction)


def _is_lasting(place: Place, match: "re.Match[str]") -> bool:
    if int(match[1]) > 24 or place.has_cue("lasting"):
        return True
    is_at = place.words_before(1) == ["at"]
    if match[3] and not int(match[1]) and not is_at:
        return _HALF_NEXT.match(place.text, match.end()) is None
    return match[3] is not None and not is_at and place.has_cue("racing", 5)


def half_first(place: Place) -> Optional[Item]:
    """`PM 3:20`."""
    match = _HALF_FIRST.match(place.text, place.at)
    if not match or not starts_word(place.text, place.at):
        return None
    hour, minute = (int(part) for part in match[2].split(":"))
    return Clock(place.at, match.end(), hour, minute, None, _half(match[1]))


def _whole_numbers(parts: Tuple[Optional[str], ...]) -> Tuple[Optional[int], ...]:
    return tuple(None if part is None else int(part) for part in parts)


def ordinal(place: Place) -> Optional[Item]:
    """`2nd`, `21st`."""
    match = _ORDINAL.match(place.text, place.at)
    return Ordinal(place.at, match.end(), match[1].replace(",", "")) if match else None
