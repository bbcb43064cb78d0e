"""`say-as`: a text read as the class of thing its author says it is."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, NoReturn, Optional

from edge_tts.errors import InputError
from edge_tts.text.characters import is_latin
from edge_tts.text.normalise import normalise, read_item
from edge_tts.text.reading import items
from edge_tts.text.tokens import Language, Span, Token, TokenKind

_DECIMAL = re.compile(r"([+-]?)(\d[\d,]*)(?:\.(\d+))?")
_ORDINAL = re.compile(r"第?(\d{1,15})(?:st|nd|rd|th|\.)?")
_DATE_PARTS = re.compile(r"\d+")
_SIGNS = {"+": "+", "-": "-", "": ""}

_AS_WRITTEN = ("time", "duration", "currency", "unit", "fraction", "address", "name")
"""Classes that the front end reads from the way they are written."""


def say_as(kind: str, detail: str, text: str, language: Language) -> List[Token]:
    """Tokens of `text` read as `kind`, spans within `text`. Raises InputError
    `input.ssml_invalid` where it cannot be that, or `kind` is unknown."""
    kind = kind.lower()
    if kind in _AS_WRITTEN or (kind == "date" and not detail):
        return normalise(text, language=language)
    reader = _READERS.get(kind)
    if reader is None:
        known = ", ".join(sorted([*_READERS, *_AS_WRITTEN]))
        _fail(f"interpret-as={kind[:40]!r} is not known; known: {known}")
    return reader(text, detail, language)


def _characters(text: str, detail: str, language: Language) -> List[Token]:
    tokens: List[Token] = []
    for at, character in enumerate(text):
        span = Span(at, at + 1)
        if character.isdecimal():
            digit = items.Digits(at, at + 1, (str(int(character)),), is_phone=False)
            tokens += read_item(digit, language, span)
        elif is_latin(character):
            tokens.append(Token(character.upper(), TokenKind.WORD, Language.EN, span))
        else:
            tokens += normalise(character, language=language, base=at)
    return tokens


def _digits(text: str, detail: str, language: Language) -> List[Token]:
    return _grouped(text, language, is_phone=False)


def _telephone(text: str, detail: str, language: Language) -> List[Token]:
    return _grouped(text, language, is_phone=True)


def _grouped(text: str, language: Language, *, is_phone: bool) -> List[Token]:
    groups = tuple(_DATE_PARTS.findall(text))
    if not groups:
        _fail(f"{text[:40]!r} holds no digits")
    plus = text.strip().startswith("+")
    return _item(items.Digits(0, len(text), groups, is_phone, plus), text, language)


def _cardinal(text: str, detail: str, language: Language) -> List[Token]:
    match = _DECIMAL.fullmatch(text.strip())
    if match is None:
        _fail(f"{text[:40]!r} is no number")
    sign, integer, fraction = match.groups()
    number = items.Number(integer.replace(",", ""), fraction, _SIGNS[sign])
    return _item(items.Cardinal(0, len(text), number), text, language)


def _ordinal(text: str, detail: str, language: Language) -> List[Token]:
    match = _ORDINAL.fullmatch(text.strip())
    if match is None:
        _fail(f"{text[:40]!r} is no whole number")
    digits = match.group(1)
    if language is Language.EN:
        return _item(items.Ordinal(0, len(text), digits), text, language)
    first = Token("第", TokenKind.WORD, Language.ZH, Span(0, len(text)))
    number = items.Cardinal(0, len(text), items.Number(digits), "ordinal")
    return [first, *_item(number, text, language)]


def _date(text: str, detail: str, language: Language) -> List[Token]:
    order, parts = detail.strip().lower(), _DATE_PARTS.findall(text)
    if sorted(order) != sorted(set(order)) or set(order) - set("ymd") or len(parts) != len(order):
        _fail(f"{text[:40]!r} is no date of the format {detail[:10]!r}, such as ymd, mdy or md")
    named = dict(zip(order, parts))
    month, day = _within(named.get("m"), 12), _within(named.get("d"), 31)
    return _item(items.Date(0, len(text), named.get("y", ""), month, day), text, language)


def _within(digits: Optional[str], highest: int) -> Optional[int]:
    if digits is None:
        return None
    if len(digits) > 2 or not 1 <= int(digits) <= highest:
        _fail(f"{digits[:10]} is no month or day from 1 to {highest}")
    return int(digits)


def _item(item: items.Item, text: str, language: Language) -> List[Token]:
    return list(read_item(item, language, Span(0, len(text))))


def _fail(problem: str) -> NoReturn:
    raise InputError(f"say-as: {problem}", code="input.ssml_invalid")


_READERS: Dict[str, Callable[[str, str, Language], List[Token]]] = {
    "characters": _characters,
    "spell-out": _characters,
    "digits": _digits,
    "telephone": _telephone,
    "cardinal": _cardinal,
    "number": _cardinal,
    "ordinal": _ordinal,
    "date": _date,
}
