"""Decimal numbers and amounts of money in English."""

from __future__ import annotations

from typing import List

from edge_tts.text.reading import english_numbers as numbers
from edge_tts.text.reading import items
from edge_tts.text.reading.amounts import scaled, without_cents

_SIGNS = {"": "", "-": "minus ", "below": "minus ", "+": "plus ", "±": "plus or minus "}
# Code → singular, plural, hundredth singular, hundredth plural.
_CURRENCIES = {
    "USD": ("dollar", "dollars", "cent", "cents"),
    "EUR": ("euro", "euros", "cent", "cents"),
    "GBP": ("pound", "pounds", "penny", "pence"),
    "AUD": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "CAD": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "HKD": ("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"),
    "SGD": ("Singapore dollar", "Singapore dollars", "cent", "cents"),
    "TWD": ("Taiwan dollar", "Taiwan dollars", "cent", "cents"),
    "CNY": ("yuan", "yuan", "", ""),
    "JPY": ("yen", "yen", "", ""),
    "KRW": ("won", "won", "", ""),
    "INR": ("rupee", "rupees", "", ""),
    "RUB": ("ruble", "rubles", "", ""),
    "CHF": ("Swiss franc", "Swiss francs", "", ""),
    "BRL": ("real", "reals", "", ""),
    "THB": ("baht", "baht", "", ""),
    "VND": ("dong", "dong", "", ""),
    "PHP": ("peso", "pesos", "", ""),
    "TRY": ("lira", "lira", "", ""),
}


def say_number(number: items.Number) -> str:
    """Words of a signed decimal number."""
    whole = numbers.cardinal(number.integer) if number.integer else ""
    words = _SIGNS[number.sign] + whole
    if number.fraction is None:
        return words
    return f"{words} point {numbers.one_by_one(number.fraction)}".strip()


def money(item: items.Money) -> str:
    """Words of an amount, or of a range of amounts."""
    one, many, cent, cents = _CURRENCIES[item.currency]
    if item.is_attribute:
        many, cents = one, cent
    both = [item.low] if item.high is None else [item.low, item.high]
    if cent and not item.scale and any(_has_cents(number) for number in both):
        return " to ".join(
            _dollars_and_cents(number, (one, many), (cent, cents)) for number in both
        )
    is_chinese_scale = item.scale != "" and not item.scale.isascii()
    if is_chinese_scale:
        both = [scaled(number, item.scale) for number in both]
    words = " to ".join(say_number(without_cents(number)) for number in both)
    scale = "" if is_chinese_scale else item.scale
    is_one = item.high is None and item.low.is_one and not item.scale
    return " ".join(part for part in (words, scale, one if is_one else many) if part)


def _has_cents(amount: items.Number) -> bool:
    return amount.fraction is not None and len(amount.fraction) == 2


def _dollars_and_cents(
    amount: items.Number, unit: "tuple[str, str]", hundredth: "tuple[str, str]"
) -> str:
    n_whole = int(amount.integer or 0)
    n_cents = int(amount.fraction or 0) if _has_cents(amount) else 0
    parts: List[str] = []
    if n_whole or not n_cents:
        parts.append(f"{numbers.cardinal(amount.integer)} {unit[n_whole != 1]}")
    if n_cents:
        parts.append(f"{numbers.cardinal(str(n_cents))} {hundredth[n_cents != 1]}")
    return _SIGNS[amount.sign] + " and ".join(parts)
