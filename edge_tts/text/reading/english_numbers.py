"""English number words (American: no `and` after hundred)."""

from __future__ import annotations

from typing import List

_SMALL = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_TENS = (
    "",
    "",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
)
_SCALES = (
    "",
    "thousand",
    "million",
    "billion",
    "trillion",
    "quadrillion",
    "quintillion",
)
_MAX_DIGITS = 3 * len(_SCALES)

_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_FRACTIONS = {2: "half", 4: "quarter"}


def cardinal(digits: str) -> str:
    """Words of a whole number; beyond quintillions, digit by digit."""
    digits = digits.lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return one_by_one(digits)
    if digits == "0":
        return "zero"
    padded = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [int(padded[at : at + 3]) for at in range(0, len(padded), 3)]
    words: List[str] = []
    for place, group in zip(range(len(groups) - 1, -1, -1), groups):
        if group:
            words.append(_below_thousand(group))
            if place:
                words.append(_SCALES[place])
    return " ".join(words)


def _below_thousand(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    words = [f"{_SMALL[hundreds]} hundred"] if hundreds else []
    if rest:
        words.append(below_hundred(rest))
    return " ".join(words)


def below_hundred(value: int) -> str:
    """Words of 0 to 99."""
    if value < 20:
        return _SMALL[value]
    tens, ones = divmod(value, 10)
    return f"{_TENS[tens]} {_SMALL[ones]}" if ones else _TENS[tens]


def ordinal(digits: str) -> str:
    """`21` → twenty first."""
    *head, last = cardinal(digits).split()
    if last in _ORDINALS:
        last = _ORDINALS[last]
    elif last.endswith("y"):
        last = last[:-1] + "ieth"
    else:
        last += "th"
    return " ".join([*head, last])


def one_by_one(digits: str, zero: str = "zero") -> str:
    """Each digit by its name; anything else is left out."""
    names = [zero, *_SMALL[1:10]]
    return " ".join(names[int(digit)] for digit in digits if digit.isdigit())


def year(digits: str) -> str:
    """Four digits the way years are said: twenty twenty six, nineteen oh eight, two thousand."""
    if len(digits) != 4 or digits[0] == "0":
        return cardinal(digits)
    century, rest = int(digits[:2]), int(digits[2:])
    if digits[1:3] == "00":
        return cardinal(digits)
    if rest == 0:
        return f"{below_hundred(century)} hundred"
    tail = f"oh {_SMALL[rest]}" if rest < 10 else below_hundred(rest)
    return f"{below_hundred(century)} {tail}"


def decade(digits: str) -> str:
    """`1980` or `80` → nineteen eighties, eighties."""
    words = year(digits) if len(digits) == 4 else below_hundred(int(digits))
    return words[:-1] + "ies" if words.endswith("y") else words + "s"


def label(digits: str) -> str:
    """A number used as a name: room three oh five, route one oh one, bus four twenty."""
    if digits.startswith("0"):
        return one_by_one(digits)
    if len(digits) == 3 and not digits.endswith("00"):
        rest = int(digits[1:])
        tail = f"oh {_SMALL[rest]}" if rest < 10 else below_hundred(rest)
        return f"{_SMALL[int(digits[0])]} {tail}"
    if len(digits) == 4 and not digits.endswith("000"):
        return year(digits) if digits[1:3] != "00" else one_by_one(digits, "oh")
    return cardinal(digits) if len(digits) <= 4 else one_by_one(digits, "oh")


def fraction(numerator: str, denominator: str) -> str:
    """`3/4` → three quarters; large denominators are `over`."""
    top, bottom = int(numerator), int(denominator)
    if top == bottom:
        return f"{cardinal(numerator)} {cardinal(denominator)}"
    if bottom < 2 or top > bottom or (bottom > 20 and bottom % 25):
        return f"{cardinal(numerator)} over {cardinal(denominator)}"
    part = _FRACTIONS.get(bottom) or ordinal(denominator)
    if top != 1:
        part = "halves" if part == "half" else part + "s"
    return f"{cardinal(numerator)} {part}"
