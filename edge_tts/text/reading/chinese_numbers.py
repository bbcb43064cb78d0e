"""Chinese number words, with 两 and 二 told apart."""

from __future__ import annotations

from typing import List

_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_SCALES = ("", "万", "亿", "万亿", "亿亿")
_MAX_DIGITS = 4 * len(_SCALES)


def cardinal(digits: str, counts: bool = True) -> str:
    """Characters of a whole number; `counts` says 两 for a leading 2 of hundreds and above."""
    digits = digits.lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return one_by_one(digits)
    if digits == "0":
        return "零"
    padded = digits.zfill(-(-len(digits) // 4) * 4)
    groups = [padded[at : at + 4] for at in range(0, len(padded), 4)]
    spoken: List[str] = []
    zero_due = False
    for place, group in zip(range(len(groups) - 1, -1, -1), groups):
        if group == "0000":
            zero_due = True
            continue
        if spoken and (zero_due or group[0] == "0"):
            spoken.append("零")
        spoken.append(_group(group) + _SCALES[place])
        zero_due = False
    return _with_liang("".join(spoken), counts)


def _group(group: str) -> str:
    words = ""
    pending_zero = False
    for place, char in zip((3, 2, 1, 0), group):
        if char == "0":
            pending_zero = bool(words)
            continue
        words += ("零" if pending_zero else "") + _DIGITS[int(char)] + _PLACES[place]
        pending_zero = False
    return words


def _with_liang(words: str, counts: bool) -> str:
    if words.startswith("一十"):
        words = words[1:]
    if not counts:
        return words
    for place in ("千", "万", "亿"):
        words = words.replace("二" + place, "两" + place).replace("十两" + place, "十二" + place)
    return "两" + words[1:] if words.startswith("二百") else words


def one_by_one(digits: str, one: str = "一") -> str:
    """Each digit by its name, with `one` for 1."""
    names = _DIGITS.replace("一", one)
    return "".join(names[int(char)] for char in digits if char.isdigit())
