"""How each kind of item is said in Mandarin."""

from __future__ import annotations

from typing import Callable, Dict, Type

from edge_tts.text.reading import addresses, items
from edge_tts.text.reading import chinese_numbers as numbers
from edge_tts.text.reading.amounts import digit_groups, scaled, without_cents
from edge_tts.text.reading.words import spoken_words

_SIGNS = {"": "", "-": "负", "below": "零下", "+": "正", "±": "正负"}
_CURRENCIES = {
    "USD": "美元",
    "EUR": "欧元",
    "GBP": "英镑",
    "AUD": "澳元",
    "CAD": "加元",
    "HKD": "港元",
    "SGD": "新加坡元",
    "TWD": "新台币",
    "CNY": "元",
    "JPY": "日元",
    "KRW": "韩元",
    "INR": "卢比",
    "RUB": "卢布",
    "CHF": "瑞士法郎",
    "BRL": "雷亚尔",
    "THB": "泰铢",
    "VND": "越南盾",
    "PHP": "比索",
    "TRY": "里拉",
}
_PARTS_OF = {"%": "百分之", "‰": "千分之"}
# Electrical sizes are read like part of a name: 五伏二安, but 两千瓦.
_READ_WITH_ER = frozenset(("安", "伏"))
_CARDINAL_CODE_DIGITS = 2


def say_number(number: items.Number, counts: bool = True) -> str:
    """Characters of a signed decimal number; `counts` allows 两 in hundreds and above."""
    words = _SIGNS[number.sign] + numbers.cardinal(number.integer, counts)
    if number.fraction is None:
        return words
    return f"{words}点{numbers.one_by_one(number.fraction)}"


def _count(number: items.Number) -> str:
    """A number before a measure word: 2 alone is 两."""
    is_two = number.fraction is None and number.integer.lstrip("0") == "2"
    return _SIGNS[number.sign] + "两" if is_two else say_number(number)


def _cardinal(item: items.Cardinal) -> str:
    if item.role == "counted":
        return _count(item.number)
    if item.role == "label":
        return numbers.one_by_one(item.number.integer)
    return say_number(item.number, counts=item.role != "ordinal")


def _ordinal(item: items.Ordinal) -> str:
    return "第" + numbers.cardinal(item.digits, counts=False)


def _fraction(item: items.Fraction) -> str:
    top, bottom = (
        numbers.cardinal(side, counts=False) for side in (item.numerator, item.denominator)
    )
    unit = item.unit.chinese if item.unit else ""
    if (item.numerator, item.denominator) == ("24", "7"):
        return "七乘二十四小时"
    if item.style == "pressure":
        return f"{top}比{bottom}{unit}"
    whole = numbers.cardinal(item.whole) + "又" if item.whole else ""
    return f"{whole}{bottom}分之{top}{unit}"


def _range(item: items.Range) -> str:
    return f"{_count(item.low)}到{_count(item.high)}"


def _quantity(item: items.Quantity) -> str:
    if item.unit.chinese == "百万像素" and item.high is None:
        return _count(scaled(item.low, "million")) + "像素"
    part = _PARTS_OF.get(item.unit.chinese)
    both = [item.low] if item.high is None else [item.low, item.high]
    if part:
        return "到".join(_percentage(part, number) for number in both)
    say = say_number if item.unit.chinese in _READ_WITH_ER else _count
    return "到".join(say(number) for number in both) + item.unit.chinese


def _percentage(part: str, number: items.Number) -> str:
    sign = _SIGNS["-" if number.sign == "below" else number.sign]
    return sign + part + say_number(items.Number(number.integer, number.fraction), counts=False)


def _feet(item: items.Feet) -> str:
    return f"{_count(item.feet)}英尺{_count(item.inches)}英寸"


_COMPASS = {"N": "北纬", "S": "南纬", "E": "东经", "W": "西经"}


def _coordinate(item: items.Coordinate) -> str:
    parts = ((item.degrees, "度"), (item.minutes, "分"), (item.seconds, "秒"))
    words = "".join(_count(number) + name for number, name in parts if number)
    return _COMPASS.get(item.compass, "") + words


def _product(item: items.Product) -> str:
    words = "乘".join(say_number(factor) for factor in item.factors)
    return f"{words}{item.unit.chinese}" if item.unit else words


def _money(item: items.Money) -> str:
    both = [item.low] if item.high is None else [item.low, item.high]
    scale = item.scale
    if scale and scale.isascii():
        both, scale = [scaled(number, scale) for number in both], ""
    amounts = "到".join(_count(without_cents(number)) for number in both)
    return amounts + scale + _CURRENCIES[item.currency]


def _year(item: items.Year) -> str:
    return numbers.one_by_one(item.digits) + ("年代" if item.suffix else "")


def _date(item: items.Date) -> str:
    words = f"{numbers.one_by_one(item.year)}年" if item.year else ""
    if item.month:
        words += numbers.cardinal(str(item.month)) + "月"
    for day, joint in ((item.day, ""), (item.last_day, "到")):
        if day:
            words += f"{joint}{numbers.cardinal(str(day))}日"
    return words


def _clock(item: items.Clock) -> str:
    hour = "两" if item.hour == 2 else numbers.cardinal(str(item.hour))
    words = ("" if item.said_half else _half_of_day(item)) + hour + "点"
    if item.minute or item.second is not None:
        words += _two_places(item.minute or 0) + "分"
    if item.second is not None:
        words += _two_places(item.second) + "秒"
    return words


def _two_places(value: int) -> str:
    return ("零" if 0 < value < 10 else "") + numbers.cardinal(str(value))


def _half_of_day(item: items.Clock) -> str:
    if not item.half:
        return ""
    hour = item.hour % 12
    if item.half == "am":
        return "凌晨" if hour < 6 else "上午"
    if item.hour == 12:
        return "中午"
    return "下午" if hour < 6 else "晚上"


def _power(item: items.Power) -> str:
    return f"{say_number(item.base)}的{say_number(item.exponent, counts=False)}次方"


def _clock_range(item: items.ClockRange) -> str:
    return f"{_clock(item.opening)}到{_clock(item.closing)}"


def _duration(item: items.Duration) -> str:
    named = ((item.hours, "小时"), (item.minutes, "分钟"), (item.seconds, "秒"))
    words = ""
    for value, name in named:
        is_exact = name == "秒" and value == 0 and not item.fraction and words
        if value is not None and not is_exact:
            fraction = item.fraction if name == "秒" else ""
            words += _count(items.Number(str(value), fraction or None)) + name
    return words.replace("分钟", "分") if words.endswith("秒") else words


def _digits(item: items.Digits) -> str:
    # Listeners expect 幺 in telephone numbers; in codes a recogniser took it for 要.
    one = "幺" if item.is_phone else "一"
    words = " , ".join(numbers.one_by_one(group, one) for group in digit_groups(item))
    return f"加{words}" if item.plus else words


def _code(item: items.Code) -> str:
    by_digit = item.style == "digits" or len(item.parts) > 4
    return " ".join(_code_part(part, by_digit) for part in item.parts)


def _code_part(part: str, by_digit: bool) -> str:
    if "." in part:
        return _side(part)
    if not part.isdigit():
        short = len(part) <= 2 and part.isascii()
        return " ".join(part.upper()) if short else " ".join(spoken_words(part, False))
    if by_digit and len(part) > 1:
        return numbers.one_by_one(part)
    if part[0] == "0":
        return numbers.one_by_one(part)
    if len(part) <= _CARDINAL_CODE_DIGITS or (part.endswith("00") and len(part) < 5):
        return numbers.cardinal(part, counts=False)
    return numbers.one_by_one(part)


def _post(item: items.Post) -> str:
    letters = " ".join(item.letters)
    return f"{letters} {numbers.cardinal(item.kilometre)}加{numbers.cardinal(item.metre)}"


def _score(item: items.Score) -> str:
    left, right = (_side(side) for side in (item.left, item.right))
    return f"{left}比{right}"


def _side(written: str) -> str:
    integer, _, fraction = written.partition(".")
    return say_number(items.Number(integer, fraction or None), counts=False)


def _version(item: items.Version) -> str:
    words = "点".join(
        numbers.one_by_one(part) if part[0] == "0" or len(part) > 4 else numbers.cardinal(part)
        for part in item.parts
    )
    return f"V {words}" if item.prefix else words


def _address(item: items.Address) -> str:
    return " ".join(
        addresses.say_letters(part) or addresses.CHINESE_SIGNS.get(part) or numbers.one_by_one(part)
        for part in addresses.parts(item.text)
    )


def _numeral(item: items.Numeral) -> str:
    return numbers.cardinal(str(item.value), counts=False) + ("世" if item.is_ordinal else "")


def _spoken(item: items.Spoken) -> str:
    return item.chinese


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
    items.Money: _money,
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
    """Characters and Latin words of `item`; a lone capital is the name of a letter."""
    return _SAY[type(item)](item)
