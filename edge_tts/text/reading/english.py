"""How each kind of item is said in English."""

from __future__ import annotations

from typing import Callable, Dict, List, Type

from edge_tts.text.reading import addresses, items
from edge_tts.text.reading import english_numbers as numbers
from edge_tts.text.reading.amounts import digit_groups
from edge_tts.text.reading.english_money import money, say_number
from edge_tts.text.reading.words import spoken_words

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_FIXED_FRACTIONS = {("24", "7"): "twenty four seven", ("9", "11"): "nine eleven"}


def _cardinal(item: items.Cardinal) -> str:
    if item.role == "label":
        return numbers.label(item.number.integer)
    return say_number(item.number)


def _ordinal(item: items.Ordinal) -> str:
    return numbers.ordinal(item.digits)


def _fraction(item: items.Fraction) -> str:
    if item.style:
        joint = "out of" if item.style == "rating" else "over"
        unit = f" {item.unit.many}" if item.unit else ""
        top, bottom = numbers.cardinal(item.numerator), numbers.cardinal(item.denominator)
        return f"{top} {joint} {bottom}{unit}"
    part = numbers.fraction(item.numerator, item.denominator)
    part = _FIXED_FRACTIONS.get((item.numerator, item.denominator), part)
    if item.unit and not item.whole:
        article = "an" if item.unit.one[0] in "aeiou" or item.unit.one == "hour" else "a"
        return f"{part} of {article} {item.unit.one}"
    if not item.whole:
        return part
    if item.numerator == "1":
        part = "a " + part.split(" ", 1)[1]
    unit = f" {item.unit.many}" if item.unit else ""
    return f"{numbers.cardinal(item.whole)} and {part}{unit}"


def _range(item: items.Range) -> str:
    both = (item.low, item.high)
    if all(
        n.fraction is None and "1900" <= n.integer <= "2099" and len(n.integer) == 4 for n in both
    ):
        return " to ".join(numbers.year(n.integer) for n in both)
    return f"{say_number(item.low)} to {say_number(item.high)}"


def _quantity(item: items.Quantity) -> str:
    words = say_number(item.low)
    last = item.low if item.high is None else item.high
    if item.high is not None:
        words += f" to {say_number(item.high)}"
    singular = item.is_attribute or (item.high is None and last.is_one)
    return f"{words} {item.unit.one if singular else item.unit.many}"


def _feet(item: items.Feet) -> str:
    feet = "foot" if item.feet.is_one else "feet"
    inches = "inch" if item.inches.is_one else "inches"
    return f"{say_number(item.feet)} {feet} {say_number(item.inches)} {inches}"


_COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}


def _coordinate(item: items.Coordinate) -> str:
    parts = ((item.degrees, "degree"), (item.minutes, "minute"), (item.seconds, "second"))
    words = [
        f"{say_number(number)} {name}{'' if number.is_one else 's'}"
        for number, name in parts
        if number
    ]
    return " ".join([*words, _COMPASS.get(item.compass, "")]).strip()


def _product(item: items.Product) -> str:
    words = (" times " if item.is_arithmetic else " by ").join(
        say_number(factor) for factor in item.factors
    )
    return f"{words} {item.unit.many}" if item.unit else words


def _year(item: items.Year) -> str:
    return numbers.decade(item.digits) if item.suffix else numbers.year(item.digits)


def _date(item: items.Date) -> str:
    parts = []
    if item.month:
        parts.append(_MONTHS[item.month - 1])
    if item.day:
        parts.append(numbers.ordinal(str(item.day)))
    if item.last_day:
        parts.append(f"to {numbers.ordinal(str(item.last_day))}")
    if item.year:
        parts.append(numbers.year(item.year))
    return " ".join(parts)


def _clock(item: items.Clock) -> str:
    hour, half = item.hour, item.half
    if item.minute and hour == 0:
        hour, half = 12, half or "am"
    words = [numbers.cardinal(str(hour))]
    if item.minute:
        tail = numbers.cardinal(str(item.minute))
        words.append(tail if item.minute >= 10 else f"oh {tail}")
    elif item.minute == 0 and not half and item.second is None:
        words = [_full_hour(hour)]
    if item.second is not None:
        seconds = "second" if item.second == 1 else "seconds"
        words.append(f"and {numbers.cardinal(str(item.second))} {seconds}")
    if half:
        words.append(f"{half[0].upper()} M")
    return " ".join(words)


def _full_hour(hour: int) -> str:
    if hour in (0, 24):
        return "midnight"
    words = numbers.cardinal(str(hour))
    return f"{words} o'clock" if hour <= 12 else f"{words} hundred"


def _power(item: items.Power) -> str:
    if item.exponent.integer in ("2", "3") and not item.exponent.sign:
        return f"{say_number(item.base)} {'squared' if item.exponent.integer == '2' else 'cubed'}"
    return f"{say_number(item.base)} to the power of {say_number(item.exponent)}"


def _clock_range(item: items.ClockRange) -> str:
    return f"{_clock(item.opening)} to {_clock(item.closing)}"


def _duration(item: items.Duration) -> str:
    parts: List[str] = []
    for value, name in ((item.hours, "hour"), (item.minutes, "minute"), (item.seconds, "second")):
        is_exact = name == "second" and value == 0 and not item.fraction and parts
        if value is None or is_exact:
            continue
        fraction = item.fraction if name == "second" else ""
        words = say_number(items.Number(str(value), fraction or None))
        parts.append(f"{words} {name}{'s' if value != 1 or fraction else ''}")
    return " ".join(parts)


def _digits(item: items.Digits) -> str:
    zero = "oh" if item.is_phone else "zero"
    words = " , ".join(numbers.one_by_one(group, zero) for group in digit_groups(item))
    return f"plus {words}" if item.plus else words


def _code(item: items.Code) -> str:
    by_digit = item.style == "digits" or len(item.parts) > 4
    return " ".join(_code_part(part, by_digit) for part in item.parts)


def _code_part(part: str, by_digit: bool) -> str:
    if "." in part:
        return say_number(_plain(part))
    if not part.isdigit():
        if len(part) <= 2 and part.isascii():
            return " ".join(part.upper())
        return " ".join(spoken_words(part, False))
    if by_digit and len(part) > 1:
        return numbers.one_by_one(part)
    return numbers.label(part)


def _post(item: items.Post) -> str:
    letters = " ".join(item.letters)
    kilometre, metre = numbers.cardinal(item.kilometre), numbers.cardinal(item.metre)
    return f"{letters} {kilometre} plus {metre}"


def _score(item: items.Score) -> str:
    left, right = (say_number(_plain(side)) for side in (item.left, item.right))
    return f"{left} to {right}"


def _plain(written: str) -> items.Number:
    integer, _, fraction = written.partition(".")
    return items.Number(integer, fraction or None)


def _version(item: items.Version) -> str:
    words = " point ".join(
        numbers.one_by_one(part) if part[0] == "0" or len(part) > 4 else numbers.cardinal(part)
        for part in item.parts
    )
    return f"version {words}" if item.prefix == "v" else words


def _address(item: items.Address) -> str:
    return " ".join(
        addresses.say_letters(part) or addresses.ENGLISH_SIGNS.get(part) or _address_digits(part)
        for part in addresses.parts(item.text)
    )


def _address_digits(digits: str) -> str:
    short = len(digits) <= 2 and digits[0] != "0"
    return numbers.cardinal(digits) if short else numbers.one_by_one(digits)


def _numeral(item: items.Numeral) -> str:
    digits = str(item.value)
    return f"the {numbers.ordinal(digits)}" if item.is_ordinal else numbers.cardinal(digits)


def _spoken(item: items.Spoken) -> str:
    return item.english


_SAY: Dict[Type[items.Item], Callable[..., str]] = {
    items.Cardinal: _cardinal,
    items.Ordinal: _ordinal,
    items.Fraction: _fraction,
    items.Range: _range,
    items.Quantity: _quantity,
    items.Feet: _feet,
    items.Coordinate: _coordinate,
    items.Product: _product,
    items.Power: _power,
    items.Money: money,
    items.Year: _year,
    items.Date: _date,
    items.Clock: _clock,
    items.ClockRange: _clock_range,
    items.Duration: _duration,
    items.Digits: _digits,
    items.Code: _code,
    items.Post: _post,
    items.Score: _score,
    items.Version: _version,
    items.Address: _address,
    items.Numeral: _numeral,
    items.Spoken: _spoken,
}


def say(item: items.Item) -> str:
    """Space-separated words of `item`; a lone capital is the name of a letter."""
    return _SAY[type(item)](item)
