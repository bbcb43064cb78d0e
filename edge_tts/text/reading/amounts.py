"""Arithmetic on written numbers that both languages need."""

from __future__ import annotations

from decimal import Decimal
from typing import Tuple

from edge_tts.text.reading.items import Digits, Number

_POWERS = {
    "百": 2,
    "千": 3,
    "万": 4,
    "亿": 8,
    "万亿": 12,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
}
# Bare phone numbers are heard in these groups.
_GROUPINGS = {13: (2, 3, 4, 4), 11: (3, 4, 4), 10: (3, 3, 4), 8: (4, 4), 7: (3, 4)}


def scaled(number: Number, scale: str) -> Number:
    """`3.2` with scale `million` as the number 3200000."""
    digits = f"{number.integer or 0}.{number.fraction or 0}"
    value = Decimal(digits).scaleb(_POWERS[scale]).normalize()
    integer, _, fraction = f"{value:f}".partition(".")
    return Number(integer, fraction or None, number.sign)


def without_cents(amount: Number) -> Number:
    """`35.00` is said as 35."""
    is_whole = amount.fraction in ("0", "00")
    return Number(amount.integer, None, amount.sign) if is_whole else amount


def digit_groups(item: Digits) -> Tuple[str, ...]:
    """The written groups, or the usual ones for a phone number written without any."""
    sizes = _GROUPINGS.get(len(item.groups[0]))
    if not item.is_phone or len(item.groups) > 1 or sizes is None:
        return item.groups
    groups, at = [], 0
    for size in sizes:
        groups.append(item.groups[0][at : at + size])
        at += size
    return tuple(groups)
