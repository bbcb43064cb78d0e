"""Recognisers of numbers, ranges, fractions, quantities and money."""

from __future__ import annotations

import re
from typing import Optional, Tuple

from edge_tts.text.characters import HAN
from edge_tts.text.reading.items import (
    Cardinal,
    Digits,
    Feet,
    Fraction,
    Item,
    Number,
    Power,
    Product,
    Quantity,
    Range,
    Score,
)
from edge_tts.text.reading.place import BARE, NUMBER, TO, Place, before_final_stop, number
from edge_tts.text.reading.units import Unit

_SIGN = re.compile(r"[-+±−](?=\d|\.\d)")
_NUMBER = re.compile(NUMBER)
_POINT_FIRST = re.compile(r"\.(\d{1,24})(?![\d.])")
_RANGE_TO = re.compile(rf"{TO}([-+]?)({NUMBER})")
# After the end of a first date, time or amount a hyphen means "to": `5月1日-7日`.
_COUNTED_BEFORE = re.compile(r"\d ?[年月日号点时分秒元度米里周天层楼级]$")
_POWER = re.compile(rf"({NUMBER})\^(-?)(\d{{1,3}})(?![\d.^])")
_EQUALS_NEXT = re.compile(r" ?=")
_BEFORE_SIGN = re.compile(rf"[\s(（\[<>=≤≥:：，,、。;；/~至到是为零约{HAN}]")
_FRACTION = re.compile(r"(?:(\d{1,4}) )?(\d{1,3})(?:/| / )(\d{1,3})(?![\d/]|\.\d)")
_SCORE = re.compile(r"(\d{1,3}) ?[:-] ?(\d{1,3})(?![\d:%]|[-/.]\d)")
_RATIO = re.compile(r"(\d{1,4}(?:\.\d{1,4})?):(\d{1,4}(?:\.\d{1,4})?)(?![\d:])")
_FEET_INCHES = re.compile(
    r"(\d{1,5})(?:' ?| ?ft\.? | feet )(\d{1,2}(?:\.\d)?)(?:\"|''| ?in(?:\.|ch|ches)?(?![\w]))"
)
_INCHES = re.compile(
    rf"({BARE})(?:{TO}({BARE}))? in(?:\.(?= [a-z])|(?=\.? of (?:rain|snow|ice|water)\b))"
)
_FACTOR = re.compile(rf" ?[x×*X] ?({NUMBER})(?![A-Za-z]{{2}})")
# `5W-30` is a grade of oil.
_GRADE_NEXT = re.compile(r"-\d")
_MAX_FACTORS = 4
_LONG_DIGITS = re.compile(r"\d{25,400}")
_BELOW_ZERO = re.compile(r"(?:[至到~][-+]?\d{1,3}(?:\.\d{1,2})?)? ?(?:度|℃|°|摄氏|华氏)")


def may_be_signed(place: Place) -> bool:
    """Whether a plus or minus here is a sign, not a hyphen or a range."""
    if _COUNTED_BEFORE.search(place.text, max(0, place.at - 3), place.at):
        return False
    return not place.previous or _BEFORE_SIGN.match(place.previous) is not None


def signed(place: Place) -> Optional[Item]:
    """A number with a sign, alone or with a unit."""
    sign = _SIGN.match(place.text, place.at)
    if not sign or not may_be_signed(place):
        return None
    return _measured(place, sign.end(), sign.group().replace("−", "-")) or _cardinal(
        place, sign.end(), sign.group()
    )


def inches(place: Place) -> Optional[Item]:
    """`6'2"`, `14 ft 6 in.` and `0.5 in of rain`; elsewhere `in` is the word."""
    match = _FEET_INCHES.match(place.text, place.at)
    if match and place.previous != "°":
        end = before_final_stop(place.text, match.end())
        return Feet(place.at, end, Number(match[1]), number(match[2]))
    match = _INCHES.match(place.text, place.at)
    unit = place.units.find("inch") if match else None
    if not match or unit is None:
        return None
    high = number(match[2]) if match[2] else None
    return Quantity(place.at, match.end(), number(match[1]), high, unit)


def measured(place: Place) -> Optional[Item]:
    """A number, range or product with a unit."""
    return _measured(place, place.at, "")


def _measured(place: Place, at: int, sign: str) -> Optional[Item]:
    match = _NUMBER.match(place.text, at)
    if not match:
        return None
    product = _product(place, match)
    if product:
        return product
    low, end = number(match.group(), sign), match.end()
    high_match = _RANGE_TO.match(place.text, end)
    if high_match:
        found = _unit(place, high_match.end(), high_match.group(2))
        if found:
            high = number(high_match.group(2), high_match.group(1))
            return _quantity(place, low, high, found)
    found = _unit(place, end, match.group())
    if not found:
        return None
    return _ranged_quantity(place, low, found) or _quantity(place, low, None, found)


def _ranged_quantity(place: Place, low: Number, found: "_FoundUnit") -> Optional[Item]:
    """`5%-10%`, `-5°C~3°C`: the same unit written twice."""
    high = _RANGE_TO.match(place.text, found[1])
    again = _unit(place, high.end(), high.group(2)) if high else None
    if not high or not again or again[0] != found[0]:
        return None
    return _quantity(place, low, number(high.group(2), high.group(1)), again)


_FoundUnit = Tuple[Unit, int, bool]


def _unit(place: Place, at: int, written: str) -> Optional[_FoundUnit]:
    """The unit after a number: unit, end, and whether a hyphen joins it (`60-kWh`)."""
    joint = place.text[at : at + 1]
    start = at + 1 if joint in (" ", "-") and joint else at
    match = place.units.match(place.text, start)
    if not match:
        return None
    unit = place.units.find(match.group())
    if unit is None or (joint == "-" and len(match.group()) < 2):
        return None
    if not _unit_fits(place, unit, match, written, start - at):
        return None
    return unit, match.end(), joint == "-"


def _unit_fits(
    place: Place, unit: Unit, match: "re.Match[str]", written: str, n_spaces: int
) -> bool:
    symbol = match.group()
    if not symbol[0].isalpha() or len(symbol) > 1:
        return True
    if symbol.isupper() and not n_spaces and place.has_cue("seat", 2):
        return False
    if _GRADE_NEXT.match(place.text, match.end()):
        return False
    if not unit.needs:
        return True
    if "." in written or place.has_cue(unit.needs, 6):
        return True
    chained = place.text[max(0, place.at - 1) : place.at] in ("/", "×")
    return chained or place.has_cue_after(match.end(), unit.needs, 16)


def _quantity(place: Place, low: Number, high: Optional[Number], found: _FoundUnit) -> Quantity:
    unit, end, hyphen = found
    if high is not None:
        high = _below_zero(place, high, unit)
    return Quantity(place.at, end, _below_zero(place, low, unit), high, unit, hyphen)


def _below_zero(place: Place, value: Number, unit: Optional[Unit]) -> Number:
    is_temperature = unit is not None and unit.chinese in ("摄氏度", "华氏度", "度")
    if value.sign == "-" and place.is_chinese and is_temperature:
        return Number(value.integer, value.fraction, "below")
    return value


def _product(place: Place, match: "re.Match[str]") -> Optional[Item]:
    factors, end = [number(match.group())], match.end()
    is_arithmetic = False
    while len(factors) < _MAX_FACTORS:
        factor = _FACTOR.match(place.text, end)
        if not factor:
            break
        factors.append(number(factor.group(1)))
        is_arithmetic = factor.group().strip()[0] in "×*"
        end = factor.end()
    if len(factors) == 1:
        return None
    found = _unit(place, end, "")
    if found:
        return Product(place.at, found[1], tuple(factors), found[0])
    return Product(place.at, end, tuple(factors), None, is_arithmetic)


def fraction(place: Place) -> Optional[Item]:
    """`3/4`, `1 1/2`, and the always-open `24/7`."""
    match = _FRACTION.match(place.text, place.at)
    if not match or int(match.group(3)) == 0:
        return None
    whole, numerator, denominator = match.groups()
    if whole and int(numerator) >= int(denominator):
        return None
    found = _unit(place, match.end(), "")
    end, unit = (found[1], found[0]) if found else (match.end(), None)
    return Fraction(place.at, end, whole or "", numerator, denominator, unit)


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


def number_range(place: Place) -> Optional[Item]:
    """`5-10`, `3~5` without a unit of the table."""
    low = _NUMBER.match(place.text, place.at)
    high = _RANGE_TO.match(place.text, low.end()) if low else None
    if not low or not high or high.group(1):
        return None
    if _EQUALS_NEXT.match(place.text, high.end()):
        return None
    following = place.text[high.end() : high.end() + 2]
    if following[:1].isascii() and following[:1].isalpha():
        return None
    if following[:1] == "-" and following[1:].isdigit():
        return None
    first, last = number(low.group()), number(high.group(2))
    falls = "~" not in high.group() and float(first.integer) > float(last.integer)
    if falls and not _is_opening_hours(place, first, last):
        return None
    return Range(place.at, high.end(), first, last)


def _is_opening_hours(place: Place, first: Number, last: Number) -> bool:
    """`open 9-5`."""
    both_hours = int(first.integer) <= 12 and int(last.integer) <= 12
    return both_hours and place.has_cue("opening", 2)


def power(place: Place) -> Optional[Item]:
    """`10^3`."""
    match = _POWER.match(place.text, place.at)
    if not match:
        return None
    return Power(place.at, match.end(), number(match[1]), Number(match[3], None, match[2]))


def cardinal(place: Place) -> Optional[Item]:
    """Any number not taken for something else; beyond 24 digits one by one."""
    match = _LONG_DIGITS.match(place.text, place.at)
    if match:
        return Digits(place.at, match.end(), (match.group(),), is_phone=False)
    return _cardinal(place, place.at, "")


def point_first(place: Place) -> Optional[Item]:
    """`.5`, with nothing before the point."""
    match = _POINT_FIRST.match(place.text, place.at)
    if match and not place.previous.isalnum():
        return Cardinal(place.at, match.end(), Number("", match[1]))
    return None


def _cardinal(place: Place, at: int, sign: str) -> Optional[Item]:
    match = _NUMBER.match(place.text, at)
    if not match:
        return None
    value = number(match.group(), sign)
    if sign == "-" and place.is_chinese and _BELOW_ZERO.match(place.text, match.end()):
        value = number(match.group(), "below")
    after_ordinal = place.text[max(0, at - 1) : at] == "第"
    plain = not place.follows(match.end(), "measure") or place.follows(match.end(), "notmeasure")
    role = "ordinal" if after_ordinal else ("plain" if plain else "counted")
    return Cardinal(place.at, match.end(), value, role)
