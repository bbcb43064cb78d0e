"""What a stretch of text is, before any language says it.

Numbers stay strings of digits, so that `007`, `128.50` and a 30-digit serial keep their form.
`start` and `end` are offsets into the cleaned text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from edge_tts.text.reading.units import Unit


@dataclass(frozen=True)
class Number:
    """An unsigned or signed decimal number; `fraction` is None without a decimal point."""

    integer: str
    fraction: Optional[str] = None
    sign: str = ""

    @property
    def is_one(self) -> bool:
        """Whether English uses the singular after it."""
        return self.fraction is None and self.integer.lstrip("0") == "1"


@dataclass(frozen=True)
class Item:
    """Anything read as one piece."""

    start: int
    end: int


@dataclass(frozen=True)
class Control(Item):
    """A word that steers the voice."""


@dataclass(frozen=True)
class Cardinal(Item):
    """A plain number: `1,250`, `-5`, `3.14`.

    `role` is `counted` before a Chinese measure word (2 is 两), `ordinal` after 第, `label` for a
    number that names something (room 305), else `plain`.
    """

    number: Number
    role: str = "plain"


@dataclass(frozen=True)
class Ordinal(Item):
    """`2nd`, `21st`; in Chinese 第 is a word of its own and the number a cardinal."""

    digits: str


@dataclass(frozen=True)
class Fraction(Item):
    """`3/4`, `1 1/2`, `3/4 mi`.

    `style` is `rating` for `8/10` beside words of rating, `pressure` for `128/82` of blood.
    """

    whole: str
    numerator: str
    denominator: str
    unit: Optional[Unit] = None
    style: str = ""


@dataclass(frozen=True)
class Range(Item):
    """`5-10`, `3~5`, without a unit."""

    low: Number
    high: Number


@dataclass(frozen=True)
class Quantity(Item):
    """A number or range with a unit; `is_attribute` marks `60-kWh battery`."""

    low: Number
    high: Optional[Number]
    unit: Unit
    is_attribute: bool = False


@dataclass(frozen=True)
class Feet(Item):
    """A height or length in feet and inches: `6'2"`."""

    feet: Number
    inches: Number


@dataclass(frozen=True)
class Coordinate(Item):
    """A latitude or longitude; `compass` is N, S, E, W or empty."""

    degrees: Number
    minutes: Optional[Number]
    seconds: Optional[Number]
    compass: str


@dataclass(frozen=True)
class Product(Item):
    """`1920x1080` and `3 × 4 m` are sizes, `3 × 4` is arithmetic."""

    factors: Tuple[Number, ...]
    unit: Optional[Unit]
    is_arithmetic: bool = False


@dataclass(frozen=True)
class Power(Item):
    """`10^3`, `10^-6`."""

    base: Number
    exponent: Number


@dataclass(frozen=True)
class Money(Item):
    """An amount, or a range of amounts, in a currency; `scale` is `million`, `万` and the like.

    `is_attribute` marks `a $5 fee`.
    """

    low: Number
    high: Optional[Number]
    currency: str
    scale: str = ""
    is_attribute: bool = False


@dataclass(frozen=True)
class Year(Item):
    """Four digits that name a year; `suffix` is `s` in `1980s`."""

    digits: str
    suffix: str = ""


@dataclass(frozen=True)
class Date(Item):
    """Any of the parts may be missing; `month` and `day` count from 1.

    `last_day` ends a range of days in one month: `Dec 24-26`.
    """

    year: str
    month: Optional[int]
    day: Optional[int]
    last_day: Optional[int] = None


@dataclass(frozen=True)
class Clock(Item):
    """A time of day; `half` is `am`, `pm` or empty; `said_half` if the text already says it."""

    hour: int
    minute: Optional[int]
    second: Optional[int] = None
    half: str = ""
    said_half: bool = False


@dataclass(frozen=True)
class ClockRange(Item):
    """`9:00-17:30`."""

    opening: Clock
    closing: Clock


@dataclass(frozen=True)
class Duration(Item):
    """`1h30m`, or `2:05:30` where the words around it speak of lasting.

    `fraction` holds the digits after the point of `1:02:03.5`.
    """

    hours: Optional[int]
    minutes: Optional[int]
    seconds: Optional[int]
    fraction: str = ""


@dataclass(frozen=True)
class Digits(Item):
    """Read one by one, group by group. `is_phone` picks oh for 0 and 幺 for 1."""

    groups: Tuple[str, ...]
    is_phone: bool = True
    plus: bool = False


@dataclass(frozen=True)
class Code(Item):
    """Letters and digits of a name: `A47`, `CA1831`, `I-95`, `12B`, `USB-C`.

    `style` is `plain`, `digits` (flights, trains, plates) or `road`.
    """

    parts: Tuple[str, ...]
    style: str = "plain"


@dataclass(frozen=True)
class Post(Item):
    """A kilometre post: `K1234+500`."""

    letters: str
    kilometre: str
    metre: str


@dataclass(frozen=True)
class Score(Item):
    """`3:2`, `16:9`, or `3-1` where the words around it speak of a match."""

    left: str
    right: str


@dataclass(frozen=True)
class Version(Item):
    """`3.14.15`, `v1.0.0`; `prefix` is what stands before the digits."""

    prefix: str
    parts: Tuple[str, ...]


@dataclass(frozen=True)
class Address(Item):
    """An e-mail address, URL, host name or IP address, read piece by piece."""

    text: str


@dataclass(frozen=True)
class Numeral(Item):
    """A Roman numeral's value; `is_ordinal` after a ruler's name."""

    value: int
    is_ordinal: bool


@dataclass(frozen=True)
class Spoken(Item):
    """An abbreviation or symbol with its reading per language, from a table."""

    english: str
    chinese: str


@dataclass(frozen=True)
class Word(Item):
    """A Latin word or acronym."""

    text: str


@dataclass(frozen=True)
class Hanzi(Item):
    """One Chinese character."""

    text: str


@dataclass(frozen=True)
class Mark(Item):
    """A punctuation mark in the form the voice knows."""

    text: str


@dataclass(frozen=True)
class Dropped(Item):
    """A character read as nothing on purpose, or one that no voice speaks."""

    kind: str
