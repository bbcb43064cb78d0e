"""Recognisers of dates, years, clock times and durations."""

from __future__ import annotations

import re
from typing import Optional, Tuple

from edge_tts.text.reading import tables
from edge_tts.text.reading.items import (
    Clock,
    ClockRange,
    Date,
    Duration,
    Item,
    Mark,
    Ordinal,
    Spoken,
    Year,
)
from edge_tts.text.reading.place import TO, Place, before_final_stop

_MONTH_NUMBER = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}

_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d.]\d|\d)")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)")
_YEAR_MONTH = re.compile(r"(\d{4})[-/](0[1-9]|1[0-2])(?![\d/-])")
_MONTH_NAME = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    "Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_MONTH_FIRST = re.compile(
    rf"({_MONTH_NAME})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?![\d:,.]?\d|[A-Za-z]|%)"
    r"(?:(?:,? |,)(\d{4})(?![\d:,.]?\d|[A-Za-z]))?",
)
_MONTH_YEAR = re.compile(rf"({_MONTH_NAME})\.?,? (\d{{4}})(?![\d:,.]?\d|[A-Za-z])")
_DAY_FIRST = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_MONTH_NAME})(?![a-z])\.?"
    r"(?:,? (\d{4})(?![\d:,.]?\d))?"
)

_MONTH_DAY = re.compile(
    r"(\d{1,2})/(\d{1,2})(?![\d/]| ?(?!(?:at|on|is|in|and|to|or)\b)[A-Za-z]{1,3}\b|\.\d)"
)
_TIME_NEXT = re.compile(r",? (?:at )?(?:1[0-2]|\d)(?::[0-5]\d| ?[AaPp]\.?[Mm])")

_HALF = r"(?: ?([AaPp])(?:\.[Mm]\.|[Mm])(?![A-Za-z0-9]))"
_CLOCK = rf"([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:]|\.\d)(?:{_HALF})?"
_CLOCK_PATTERN = re.compile(_CLOCK)
_CLOCK_RANGE = re.compile(rf"({_CLOCK}){TO}({_CLOCK})")
_HOUR_HALF = re.compile(rf"(1[0-2]|0?[1-9]){_HALF}")
_HOUR_RANGE = re.compile(rf"(1[0-2]|0?[1-9]){_HALF}?{TO}(1[0-2]|0?[1-9]){_HALF}")
_LETTER_DURATION = re.compile(
    r"(?:(\d{1,3}) ?(?:h|hr|hrs)(?![a-z]) ?)?(?:(\d{1,3}) ?(?:m|min|mins|'(?!'))(?![a-z/²³\d]) ?)?"
    r"(?:(\d{1,3}) ?(?:s|sec|secs)(?![a-z]))?"
)
_COLON_DURATION = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?:\.(\d{1,3})(?!\d))?")
_ISO_JOINT = re.compile(r"(?<=\d)T(?=\d\d:\d\d)")
_ISO_ZONE = re.compile(r"(?<=:\d\d)Z(?![A-Za-z0-9])")
_SAID_MINUTES = re.compile("分(?!钟)")
_SAID_HALF = re.compile(r"(?:上午|下午|早上|早晨|中午|晚上|凌晨|傍晚|夜里|清晨|半夜|晚|早)\s?$")

_YEAR = re.compile(r"([12]\d{3})(?![\d:%]|[.,]\d|[A-Za-rt-z])(?:'?(s)(?![A-Za-z]))?")
_DECADE = re.compile(r"([2-9]0)'?s(?![A-Za-z])")
_SHORT_DECADE = re.compile(r"'([2-9]0)s(?![A-Za-z])")
_CHINESE_YEAR = re.compile(r"(\d{4}|\d{2})(?=(?:[-–—~至到]\d{4})?年(?!前|后|内|间|来|多|以|级))")
# People are called by the decade of their birth: `80后`.
_GENERATION = re.compile(r"(?:[5-9]0|[89]5|0[05])(?=后(?![来面方排天续退期]))")
_ORDINAL = re.compile(
    r"(\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:st|nd|rd|th|ST|ND|RD|TH)(?![A-Za-z0-9])"
)


def date(place: Place) -> Optional[Item]:
    """Dates written with digits only, or beginning with the day."""
    text, at = place.text, place.at
    match = _YEAR_FIRST.match(text, at)
    if match and _is_date(match.group(3), match.group(4)):
        return Date(at, match.end(), match[1], int(match[3]), int(match[4]))
    match = _YEAR_LAST.match(text, at)
    if match:
        return _year_last(place, match)
    match = _YEAR_MONTH.match(text, at)
    if match and "1900" <= match.group(1) <= "2100":
        return Date(at, match.end(), match[1], int(match[2]), None)
    match = _MONTH_DAY.match(text, at)
    if match and _is_dated(place, match.end()) and _is_date(match[1], match[2]):
        return Date(at, match.end(), "", int(match[1]), int(match[2]))
    match = _DAY_FIRST.match(text, at)
    if match and 1 <= int(match.group(1)) <= 31:
        return Date(at, match.end(), match[3] or "", _month(match[2]), int(match[1]))
    return None


def _is_dated(place: Place, end: int) -> bool:
    """Whether `12/24` follows a word of time, or a time of day follows it."""
    dated = place.words_before(1)[-1:]
    return bool(dated and dated[0] in tables.cues("dated")) or bool(
        _TIME_NEXT.match(place.text, end)
    )


def _year_last(place: Place, match: "re.Match[str]") -> Optional[Item]:
    """`3/5/2026` is March 5; `31/12/2025` and dotted dates begin with the day."""
    first, second = match.group(1), match.group(3)
    if match.group(2) == "." or int(first) > 12:
        first, second = second, first
    if not _is_date(first, second) or not "1900" <= match.group(4) <= "2199":
        return None
    return Date(place.at, match.end(), match[4], int(first), int(second))


def _is_date(month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _month(name: str) -> int:
    return _MONTH_NUMBER[name[:3].lower()]


def month_name(place: Place) -> Optional[Item]:
    """Dates beginning with an English month name: `March 3, 2026`, `Mar. 2026`."""
    match = _MONTH_YEAR.match(place.text, place.at)
    if match:
        return Date(place.at, match.end(), match[2], _month(match[1]), None)
    match = _MONTH_FIRST.match(place.text, place.at)
    if match and 1 <= int(match.group(2)) <= 31:
        return Date(place.at, match.end(), match[3] or "", _month(match[1]), int(match[2]))
    return None


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
    if not match or not (match[4] or place.has_cue("lasting") or int(match[1]) > 24):
        return None
    fraction = match[4] or ""
    first, second, third = _whole_numbers(match.groups()[:3])
    if third is None:
        return Duration(place.at, match.end(), None, first, second, fraction)
    return Duration(place.at, match.end(), first or None, second, third, fraction)


def _whole_numbers(parts: Tuple[Optional[str], ...]) -> Tuple[Optional[int], ...]:
    return tuple(None if part is None else int(part) for part in parts)


def year(place: Place) -> Optional[Item]:
    """Years and decades, told from counts by the words around them."""
    if place.is_chinese:
        return _chinese_year(place)
    match = _DECADE.match(place.text, place.at)
    if match and (place.has_cue("decade", 1) or place.previous == "'"):
        return Year(place.at, match.end(), match[1], "s")
    match = _YEAR.match(place.text, place.at)
    if not match:
        return None
    digits, plural = match.groups()
    if plural or _names_year(place, digits, match.end()):
        return Year(place.at, match.end(), digits, plural or "")
    return None


def _names_year(place: Place, digits: str, end: int) -> bool:
    if not "1000" <= digits <= "2099" or _counts_things(place, end):
        return False
    if place.units.match(place.text, end + (place.text[end : end + 1] == " ")):
        return False
    is_recent = digits >= "1900"
    return is_recent or place.has_cue("year", 1) or place.has_cue_after(end, "year", 4)


_PLURAL = re.compile(r"[ -]([a-z]{2,20})")


def _counts_things(place: Place, end: int) -> bool:
    match = _PLURAL.match(place.text, end)
    if not match:
        return False
    word = match.group(1)
    if word in tables.cues("counted"):
        return True
    return word.endswith("s") and word not in tables.cues("uncounted")


def _chinese_year(place: Place) -> Optional[Item]:
    match = _CHINESE_YEAR.match(place.text, place.at)
    generation = _GENERATION.match(place.text, place.at)
    if generation:
        return Year(place.at, generation.end(), generation.group())
    if match:
        digits = match.group(1)
        long = len(digits) == 4 and "1200" <= digits <= "2199"
        if long or (len(digits) == 2 and (digits[0] == "0" or digits >= "60")):
            return Year(place.at, match.end(), digits)
        return None
    match = _YEAR.match(place.text, place.at)
    if match and "1900" <= match[1] <= "2099" and _names_chinese_year(place, match.end(1)):
        return Year(place.at, match.end(1), match[1])
    return None


def _names_chinese_year(place: Place, end: int) -> bool:
    """`2024款`, `在2024建成`, but not `在2000米处` or `在2024人中`."""
    in_title = place.previous == "《" and place.text.startswith("》", end)
    if in_title or place.follows(end, "yearafter"):
        return True
    is_round = place.text[end - 2 : end] == "00"
    if place.previous not in ("在", "于", "自") or is_round or place.follows(end, "measure"):
        return False
    return place.units.match(place.text, end) is None and not place.text.startswith("多", end)


def apostrophe_decade(place: Place) -> Optional[Item]:
    """`'90s`."""
    match = _SHORT_DECADE.match(place.text, place.at)
    return Year(place.at, match.end(), match[1], "s") if match else None


def ordinal(place: Place) -> Optional[Item]:
    """`2nd`, `21st`."""
    match = _ORDINAL.match(place.text, place.at)
    return Ordinal(place.at, match.end(), match[1].replace(",", "")) if match else None
