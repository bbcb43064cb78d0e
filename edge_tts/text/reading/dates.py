"""Recognisers of dates and years."""

from __future__ import annotations

import re
from typing import Optional

from edge_tts.text.reading import tables
from edge_tts.text.reading.items import Date, Digits, Item, Year
from edge_tts.text.reading.place import TO, Place

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
_DAY_END = r"(?:st|nd|rd|th)?(?![\d:,.]?\d|[A-Za-z]|%)"
_TO_DAY = rf"(?:{TO}(\d{{1,2}}){_DAY_END}(?! ?(?:[AaPp]\.?[Mm]\b|[-/]\d)))?"
_MONTH_FIRST = re.compile(
    rf"({_MONTH_NAME})\.? (\d{{1,2}}){_DAY_END}{_TO_DAY}"
    r"(?:(?:,? |,)(\d{4})(?![\d:,.]?\d|[A-Za-z]))?",
)
_MONTH_YEAR = re.compile(rf"({_MONTH_NAME})\.?,? (\d{{4}})(?![\d:,.]?\d|[A-Za-z])")
_DAY_FIRST = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th)?(?:{TO}(\d{{1,2}})(?:st|nd|rd|th)?)? "
    rf"(?:of )?({_MONTH_NAME})(?![a-z])\.?"
    r"(?:,? (\d{4})(?![\d:,.]?\d))?"
)
_MONTH_DAY = re.compile(
    r"(\d{1,2})/(\d{1,2})(?![\d/]| ?(?!(?:at|on|is|in|and|to|or)\b)[A-Za-z]{1,3}\b|\.\d)"
)
_SHORT_YEAR = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{2})(?![\d/]|\.\d)")
_WEEKDAY_NEXT = re.compile(r" ?[(（]?(?:周|星期|礼拜)")
_CHINESE_DATED = re.compile(
    r"(?:(?<![大小等少多高低优处属位由])于|[自从至]|截止|日期|有效期|时间) ?[:：]?$"
)
_TO_DATE = re.compile(rf"{TO}(\d{{1,2}})/(\d{{1,2}})(?![\d/])")
_FROM_DATE = re.compile(rf"(\d{{1,2}})/(\d{{1,2}}){TO}$")
_MEASURED_PARTS = frozenset(("2", "3", "4", "8"))
_TIME_NEXT = re.compile(r",? (?:at |@ ?)?(?:1[0-2]|\d)(?::[0-5]\d| ?[AaPp]\.?[Mm])")
_NAMED_DAY = re.compile(
    r"(\d{1,2})(?:·|\.(?=\d{1,2}(?:国际|全国)?(?:节|晚会|假期|长假|大促|事件|地震|运动|事变|惨案|打假|妇女节|劳动节|消费者)))"
    r"(\d{1,2})(?![\d·.])"
)
_WHOLE_BEFORE = re.compile(r"\d[米秒块]$")
_DECIMALS = re.compile(r"\d{2}(?![\d.]|[米秒厘分元块度公千A-Za-z])")
_YEAR_TO = re.compile(r"[-–—~至到](?:19|20)\d\d(?!\d|[.,]\d)")
_YEAR_FROM = re.compile(r"(?:19|20)\d\d[-–—~至到]$")
_ERA = re.compile(r" (?:BCE?|CE|AD|B\.C\.|A\.D\.)(?![A-Za-z])")
_YEAR = re.compile(r"([12]\d{3})(?![\d:%]|[.,]\d|[A-Za-rt-z])(?:'?(s)(?![A-Za-z]))?")
_DECADE = re.compile(r"([2-9]0)'?s(?![A-Za-z])")
_SHORT_DECADE = re.compile(r"'([2-9]0)s(?![A-Za-z])")
_CHINESE_YEAR = re.compile(
    r"(\d{4}|\d{2})(?=(?:[-–—~至到、和]\d{4}){0,3}年(?!前|后|内|间|来|多|以|级))"
)
# People are called by the decade of their birth: `80后`.
_GENERATION = re.compile(
    r"(?:[5-9]0|[89]5|0[05])(?=(?:[、，,和/]\d[05]){0,4}后(?![来面方排天续退期]))"
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
    match = _SHORT_YEAR.match(text, at)
    if match and _is_date(match[1], match[2]):
        century = "19" if match[3] >= "70" else "20"
        return Date(at, match.end(), century + match[3], int(match[1]), int(match[2]))
    match = _MONTH_DAY.match(text, at)
    if match and _is_date(match[1], match[2]) and _is_dated(place, match):
        return Date(at, match.end(), "", int(match[1]), int(match[2]))
    return _day_first(place)


def after_unit_digits(place: Place) -> Optional[Item]:
    """`9秒83`, `1米75`: the decimals after the unit are read digit by digit."""
    match = _DECIMALS.match(place.text, place.at) if place.is_chinese else None
    if not match or not _WHOLE_BEFORE.search(place.text, max(0, place.at - 2), place.at):
        return None
    return Digits(place.at, match.end(), (match.group(),), is_phone=False)


def named_day(place: Place) -> Optional[Item]:
    """`9·11事件`, `3.15晚会`: days that name an event are read digit by digit in Chinese."""
    match = _NAMED_DAY.match(place.text, place.at) if place.is_chinese else None
    if not match or not _is_date(match[1], match[2]):
        return None
    return Digits(place.at, match.end(), (match[1] + match[2],), is_phone=False)


def _day_first(place: Place) -> Optional[Item]:
    """`3 March 2026`, `24-26 December`."""
    match = _DAY_FIRST.match(place.text, place.at)
    if not match:
        return None
    first, last, name, year_digits = match.groups()
    if not 1 <= int(first) <= 31 or (last and not int(first) < int(last) <= 31):
        return None
    last_day = int(last) if last else None
    return Date(place.at, match.end(), year_digits or "", _month(name), int(first), last_day)


def _is_dated(place: Place, match: "re.Match[str]") -> bool:
    """Whether `12/24` stands beside a word of time, a time of day, a weekday or another date."""
    text, at, end = place.text, place.at, match.end()
    dated = place.words_before(1)[-1:]
    if (dated and dated[0].rstrip(".'") in tables.cues("dated")) or _TIME_NEXT.match(text, end):
        return True
    other = _TO_DATE.match(text, end) or _FROM_DATE.search(text, max(0, at - 9), at)
    if other:
        return not (_is_measure(match) and _is_measure(other))
    if not place.is_chinese:
        return False
    is_dated = _WEEKDAY_NEXT.match(text, end) or (
        not _is_measure(match) and _CHINESE_DATED.search(text, max(0, at - 6), at)
    )
    return bool(is_dated) or (int(match[1]) >= int(match[2]) and not place.has_cue("pressure", 3))


def _is_measure(parts: "re.Match[str]") -> bool:
    """`1/4-1/2 cup` are amounts, `5/1-5/7` dates."""
    return parts[2] in _MEASURED_PARTS and int(parts[1]) < int(parts[2])


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
        name, first, last, year_digits = match.groups()
        last_day = int(last) if last else None
        return Date(place.at, match.end(), year_digits or "", _month(name), int(first), last_day)
    return None


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
    if _ERA.match(place.text, end):
        return True
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
    in_title = place.previous + place.text[end : end + 1] in ("《》", "〔〕", "()", "[]")
    is_ranged = _YEAR_TO.match(place.text, end) or _YEAR_FROM.search(
        place.text, max(0, place.at - 5), place.at
    )
    if is_ranged and not _counted_after(place, end):
        return True
    if in_title or place.follows(end, "yearafter"):
        return True
    is_round = place.text[end - 2 : end] == "00"
    if place.previous not in ("在", "于", "自") or is_round or place.follows(end, "measure"):
        return False
    return place.units.match(place.text, end) is None and not place.text.startswith("多", end)


def _counted_after(place: Place, end: int) -> bool:
    """Whether a unit or a measure word follows a number, or the range that it begins."""
    other = _YEAR_TO.match(place.text, end)
    last = other.end() if other else end
    return place.follows(last, "measure") or place.units.match(place.text, last) is not None


def apostrophe_decade(place: Place) -> Optional[Item]:
    """`'90s`."""
    match = _SHORT_DECADE.match(place.text, place.at)
    return Year(place.at, match.end(), match[1], "s") if match else None
