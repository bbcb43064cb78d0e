"""Recogniser of amounts of money."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional

from edge_tts.text.reading.items import Item, Money, Number
from edge_tts.text.reading.numerics import is_attribute
from edge_tts.text.reading.place import NUMBER, TO, Place, number, starts_word
from edge_tts.text.reading.signs import may_be_signed

_CURRENCY = {
    "US$": "USD",
    "HK$": "HKD",
    "NT$": "TWD",
    "AU$": "AUD",
    "A$": "AUD",
    "CA$": "CAD",
    "C$": "CAD",
    "S$": "SGD",
    "R$": "BRL",
    "RMB": "CNY",
    "CN¥": "CNY",
    "JP¥": "JPY",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "CNY",
    "₩": "KRW",
    "₹": "INR",
    "₽": "RUB",
    "₫": "VND",
    "฿": "THB",
    "₱": "PHP",
    "₺": "TRY",
}
_SIGNS = "|".join(re.escape(sign) for sign in sorted(_CURRENCY, key=len, reverse=True))
_CODES = "USD|HKD|TWD|AUD|CAD|SGD|BRL|CNY|RMB|JPY|EUR|GBP|KRW|INR|RUB|CHF|THB"
_SCALE = r"(?: ?(million|billion|trillion|thousand|mn|bn|[MBKk](?![A-Za-z0-9])|万亿|[万亿千百]))?"
_MONEY_SIGN = re.compile(
    rf"([-+]?)({_SIGNS}) ?([-+]?)({NUMBER})(?:{TO}(?:{_SIGNS})?({NUMBER}))?{_SCALE}(?![A-Za-z])"
)
# `€2.500,00`, with the comma before the cents.
_EUROPEAN = re.compile(r"([€£$]) ?(\d{1,3}(?:\.\d{3}){0,4}),(\d{2})(?!\d|,\d|\.\d)")
_MONEY_CODE = re.compile(rf"({NUMBER})(?:{TO}({NUMBER}))?{_SCALE} ?({_CODES}|[€£₩₹])(?![A-Za-z])")
_CODE_MONEY = re.compile(rf"({_CODES}) ?({NUMBER})(?:{TO}({NUMBER}))?{_SCALE}(?![A-Za-z])")
# `¥35元` says its currency twice.
_SAID_AGAIN = re.compile(r" ?(?:[美欧日港]元|英镑|元|圆)")
_SCALE_WORDS = {"mn": "million", "M": "million", "bn": "billion", "B": "billion"}
_SCALE_WORDS.update({"K": "thousand", "k": "thousand"})


def european(place: Place) -> Optional[Item]:
    """`€2.500,00`."""
    match = _EUROPEAN.match(place.text, place.at)
    if not match:
        return None
    amount = Number(match[2].replace(".", ""), match[3])
    return Money(place.at, match.end(), amount, None, _CURRENCY[match[1]])


def money(place: Place) -> Optional[Item]:
    """`$12.50`, `¥128.50`, `€3.2 million`, `5-10 USD`, `-$5`."""
    if not starts_word(place.text, place.at):
        return None
    match = _MONEY_SIGN.match(place.text, place.at)
    if match:
        sign, symbol, inner, low, high, scale = match.groups()
        if sign and not may_be_signed(place):
            return None
        amount = _money(match, number(low, sign or inner), high, _CURRENCY[symbol], scale)
        amount = replace(amount, is_attribute=is_attribute(place, amount.end))
        again = _SAID_AGAIN.match(place.text, amount.end) if place.is_chinese else None
        return replace(amount, end=again.end()) if again else amount
    match = _MONEY_CODE.match(place.text, place.at)
    if match:
        low, high, scale, code = match.groups()
        return _money(match, number(low), high, _CURRENCY.get(code, code), scale)
    match = _CODE_MONEY.match(place.text, place.at)
    if match:
        code, low, high, scale = match.groups()
        return _money(match, number(low), high, _CURRENCY.get(code, code), scale)
    return None


def _money(
    match: "re.Match[str]", low: Number, high: Optional[str], currency: str, scale: Optional[str]
) -> Money:
    scale = _SCALE_WORDS.get(scale or "", scale or "")
    return Money(match.start(), match.end(), low, number(high) if high else None, currency, scale)
