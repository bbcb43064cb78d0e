"""Recognisers of numbers, ranges, fractions, quantities and money."""

from __future__ import annotations

import re
from typing import Optional, Tuple

from edge_tts.text.reading.amounts import without_cents
from edge_tts.text.reading.items import (
    Cardinal,
    Digits,
    Fraction,
    Item,
    Number,
    Power,
    Product,
    Quantity,
    Range,
)
from edge_tts.text.reading.place import NUMBER, TO, Place, number
from edge_tts.text.reading.signs import may_be_signed
from edge_tts.text.reading.units import Unit

_SIGN = re.compile(r"[-+±−](?=\d|\.\d)")
_NUMBER = re.compile(NUMBER)
_POINT_FIRST = re.compile(r"\.(\d{1,24})(?![\d.])")
_RANGE_TO = re.compile(rf"{TO}([-+]?)({NUMBER})")
_POWER = re.compile(rf"({NUMBER})\^(-?)(\d{{1,3}})(?![\d.^])")
# `第1、2车道`: the rest of the list is ordinal too.
_ORDINAL_BEFORE = re.compile(r"第(?:\d{1,3}[、,，和及或至到~-])*$")
_CHAINED = re.compile(r"[A-Z][/×]$")
_EQUALS_NEXT = re.compile(r" ?=")
_FRACTION = re.compile(
    r"(?:(\d{1,4}) )?(\d{1,3})(?:/| / )(\d{1,3}|[1-9]\d{0,2}0{3,8})(?![\d/]|\.\d)"
)
_RATING_SCALES = frozenset(("5", "10", "100"))
_STARS_NEXT = re.compile(r" ?(?:stars?|points?)\b")
_FACTOR = re.compile(rf" ?(?:[x×X]|\*(?!\*)) ?({NUMBER})(?![A-Za-z]{{2}})")
# `5W-30` is a grade of oil.
_GRADE_NEXT = re.compile(r"-\d")
_INCHES_NEXT = re.compile(r" in(?=[;,.)]|$)")
_OPERATOR_NEXT = re.compile(r" ?[=+÷]")
_MAX_FACTORS = 4
_LONG_DIGITS = re.compile(r"\d{25,400}")
_MONEY_NEXT = re.compile(r" ?(?:[美欧日港]?元|块|英镑)")
_BELOW_ZERO = re.compile(r"(?:[至到~][-+]?\d{1,3}(?:\.\d{1,2})?)? ?(?:度|℃|°|摄氏|华氏)")


def signed(place: Place) -> Optional[Item]:
    """A number with a sign, alone or with a unit."""
    sign = _SIGN.match(place.text, place.at)
    if not sign or not may_be_signed(place):
        return None
    return _measured(place, sign.end(), sign.group().replace("−", "-")) or _cardinal(
        place, sign.end(), sign.group()
    )


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


_ABBREVIATED = re.compile(r"\.(?=[,;:)]| [a-z(&]| \d)")
_DESCRIBED = re.compile(
    r"\.? (?!(?:and|or|to|in|at|of|from|for|is|was|per|on|away|ago|later|we|you|they|he|she|it|"
    r"that|which|who|before|after|until|between|by|with|will|has|had|are|were|left|ahead|above|below|above|than|as|but)\b)"
    r"[a-z]| [A-Z]"
)


def after_unit(text: str, unit: "re.Match[str]") -> int:
    """End of a unit with the period of its abbreviation: `a 12 oz. coffee`."""
    is_word = unit.group().isascii() and unit.group().isalpha() and len(unit.group()) > 1
    return unit.end() + (is_word and _ABBREVIATED.match(text, unit.end()) is not None)


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
    describes = joint == "-" or is_attribute(place, match.end())
    return unit, after_unit(place.text, match), describes


def is_attribute(place: Place, end: int) -> bool:
    """`a 2.0L turbo`: after an article the unit is singular before what it describes."""
    is_counted = place.previous == " " and place.words_before(1)[-1:] in (["a"], ["an"], ["the"])
    return is_counted and _DESCRIBED.match(place.text, end) is not None


def _unit_fits(
    place: Place, unit: Unit, match: "re.Match[str]", written: str, n_spaces: int
) -> bool:
    symbol = match.group()
    if not symbol[0].isalpha() or len(symbol) > 1:
        return True
    is_name = place.has_cue("seat", 2) or (not place.is_chinese and place.has_cue("route", 2))
    if symbol.isupper() and not n_spaces and is_name:
        return False
    if _GRADE_NEXT.match(place.text, match.end()):
        return False
    if not unit.needs:
        return True
    if "." in written or place.has_cue(unit.needs, 6):
        return True
    chained = _CHAINED.search(place.text, max(0, place.at - 2), place.at) is not None
    return (chained and unit.needs == "electric") or place.has_cue_after(
        match.end(), unit.needs, 16
    )


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
        if place.text.startswith("^", factor.end()):
            break
        factors.append(number(factor.group(1)))
        is_arithmetic = factor.group().strip()[0] in "×*"
        end = factor.end()
    if len(factors) == 1:
        return None
    found = _unit(place, end, "")
    if found:
        return Product(place.at, found[1], tuple(factors), found[0])
    inch = place.units.find("inch") if _INCHES_NEXT.match(place.text, end) else None
    if inch:
        return Product(place.at, end + len(" in"), tuple(factors), inch)
    is_size = all(len(factor.integer) > 2 for factor in factors)
    if is_size and not _OPERATOR_NEXT.match(place.text, end):
        is_arithmetic = False
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
    is_size = place.text[match.end() : match.end() + 1].isupper() and int(numerator) > int(
        denominator
    )
    if is_size and not found:
        return None
    end, unit = (found[1], found[0]) if found else (match.end(), None)
    style = "" if whole else _fraction_style(place, match, unit)
    return Fraction(place.at, end, whole or "", numerator, denominator, unit, style)


def _fraction_style(place: Place, match: "re.Match[str]", unit: Optional[Unit]) -> str:
    numerator, denominator = int(match[2]), int(match[3])
    if numerator > denominator > 20 and (unit is not None or place.has_cue("pressure", 4)):
        return "pressure"
    is_scale = match[3] in _RATING_SCALES and numerator <= denominator and not unit
    is_rated = place.has_cue("rating", 4) or _STARS_NEXT.match(place.text, match.end())
    return "rating" if is_scale and is_rated else ""


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
    if place.is_chinese and _MONEY_NEXT.match(place.text, match.end()):
        value = without_cents(value)
    if sign == "-" and place.is_chinese and _BELOW_ZERO.match(place.text, match.end()):
        value = number(match.group(), "below")
    after_ordinal = _ORDINAL_BEFORE.search(place.text, max(0, at - 12), at) is not None
    plain = not place.follows(match.end(), "measure") or place.follows(match.end(), "notmeasure")
    role = "ordinal" if after_ordinal else ("plain" if plain else "counted")
    return Cardinal(place.at, match.end(), value, role)
