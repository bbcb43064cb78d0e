"""Recognisers of punctuation and of signs: spoken, a pause, or dropped on purpose."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Optional, Pattern

from edge_tts.text.characters import HAN, LATIN, script_of
from edge_tts.text.reading import keys, tables
from edge_tts.text.reading.items import Dropped, Item, Mark, Spoken
from edge_tts.text.reading.numerics import after_unit
from edge_tts.text.reading.place import Place
from edge_tts.text.reading.quotes import quotation_mark

_MARKS = {
    ",": ",",
    "，": ",",
    "、": ",",
    "|": ",",
    "¦": ",",
    ".": ".",
    "。": ".",
    "!": "!",
    "！": "!",
    "?": "?",
    "？": "?",
    ":": ":",
    "：": ":",
    ";": ";",
    "；": ";",
    "…": "…",
    "—": "—",
    "–": "—",
    "―": "—",
    "(": "(",
    "（": "(",
    "[": "(",
    "{": "(",
    ")": ")",
    "）": ")",
    "]": ")",
    "}": ")",
    "“": "“",
    "”": "”",
    "„": "“",
    "«": "“",
    "»": "”",
    '"': '"',
    "《": "“",
    "》": "”",
    "〈": "“",
    "〉": "”",
    "「": "“",
    "」": "”",
    "『": "“",
    "』": "”",
    "【": "“",
    "】": "”",
    "〔": "(",
    "〕": ")",
}
_JOINED_BY_POINT = re.compile(
    r"(?<=[a-z0-9])\.(?=[a-z]{2})|(?<![^\s(“，、；：])\.(?=[A-Za-z]{2,5}(?![A-Za-z]))"
)
_AND = re.compile(r"'n'?(?= )")
_LETTERS_TO = re.compile(
    r".{0,3}?(?<![A-Za-z])(?:[A-Z]|X{1,3}[SL])–(?=(?:[A-Z]|X{1,3}[SL])(?![\w-]))"
)
_NAME_PLUS = re.compile(r"(?:[A-Za-z]|[A-Z]\d{1,3})\+(?![A-Za-z0-9+ ])")
_CODE_TO = re.compile(r".{0,4}?(?<![A-Za-z])([A-Z])\d{1,3}[-–~](?=(?:\1|(?<=P\d-)|(?<=P\d\d-))\d)")
_RHESUS = re.compile(r"R[hH]([-+])")
_BREADCRUMB = re.compile(rf"(?<=[{HAN}{LATIN}][{HAN}{LATIN}]) ?> ?(?=[{HAN}{LATIN}]{{2}})")
_DISCOUNT_BEFORE = re.compile(r"满\d{1,5}$")
_RATED_BEFORE = re.compile(r"\d ?[次转滴下拍]$")
_GRADE = re.compile(r"(?<![A-Za-z])(?:AB|[A-FO])-(?=[\s,.;:)!?]|$)")
_INNER_POINT = re.compile(r"(?<=[A-Za-z])\.(?=\d)")
_ELLIPSIS = re.compile(r"\.{2,200}|…{1,200}|。{2,200}|·{3,200}")
_DASH = re.compile(r"[—–―-]{2,200}|(?<=\s)[-–](?=\s)")
_REPEATED = re.compile(r"([^\w\s])\1{0,200}")
# Signs that join what stands beside them and have no sound of their own.
_JOINERS = frozenset("-/_.·'~*`\\¿¡")
_NUMERIC_BEFORE = re.compile(
    r"[\d年月日号点时分秒元度米%里周天层楼AMPMampm]\s?$|\d(?:st|nd|rd|th)$"
)
_NUMERIC_AFTER = re.compile(
    r"\s?(?:[\d$¥€£]|(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.? \d)"
)
_FRACTION_BEFORE = re.compile(r"\d/\d{1,2} ?$")
_FRACTION_NEXT = re.compile(r" ?\d{1,2}/\d")
_HAN_AROUND = re.compile(f"[{HAN}]")
_WORDS_AROUND = re.compile(f"[{LATIN}{HAN}]")
_DIGITS = re.compile(r"\d{1,9}")
_DIGITS_END = re.compile(r"\d{1,9}$")
_PRICED = "元块角分万千百亿"
_PRICED_AMOUNT = re.compile(
    r"\d[\d.]{0,8} ?(?:[A-Za-z]|[公千毫]?[克升斤米]|[只个件次人天杯份分小公度包袋盒瓶])"
)
_AMOUNT_NEXT = re.compile(r"\d[\d.]{0,8} ?[A-Za-z]")
_AMOUNT_BEFORE = re.compile(r"\d ?[A-Za-zμ]{1,4}(?:/[A-Za-zμ]{1,4})?$")
_PRODUCT = re.compile(rf".?[\dA-Za-z{HAN}] ?\* ?\d|\d \* ?\d")
_REFERENCE = re.compile(r"#(?:\d|[A-Z]{1,4}-?\d)")
_MINUS = re.compile(r"(?<=[\d ])- ?\d[\d.+×*÷-]{0,40} ?=")
_OUT_OF = re.compile(r"(?<=\d\.\d)/(?=(?:5|10|100)(?![\d./]))")
_CHINESE_RATE = re.compile(
    r"(?:公里|千米|海里|米|公升|毫升|升|公斤|千克|克|吨|转|帧|度|兆|瓦|元|块|次|字|人)/"
    r"(?=百公里|公里|小时|分|秒|天|日|周|月|年|人|次|升|毫升|晚|位|间|张|件|平方|立方|千克|公斤|斤|吨|克)"
)
_SAID_APPROXIMATE = re.compile(r"(?:约|大概|about|around) ?$")
_APPROXIMATE = re.compile(r"[~≈∼] ?(?=[$¥€£]?\d)")


def mark(place: Place) -> Optional[Item]:
    """Punctuation, in the few forms a voice knows; a repeated mark is one mark."""
    for pattern, form in ((_ELLIPSIS, "…"), (_DASH, "—")):
        match = pattern.match(place.text, place.at)
        if match and not (form == "—" and _joins_numbers(place, match.end())):
            return Mark(place.at, match.end(), form)
    if place.text[place.at] == ">" and _BREADCRUMB.match(
        place.text, place.at - (place.previous == " ")
    ):
        return Mark(place.at, place.at + 1, ",")
    if _INNER_POINT.match(place.text, place.at) or _JOINED_BY_POINT.match(place.text, place.at):
        return None
    form_of = _MARKS.get(place.text[place.at]) or quotation_mark(place.text, place.at)
    if form_of is None or (form_of == "—" and _joins_numbers(place, place.at + 1)):
        return None
    match = _REPEATED.match(place.text, place.at)
    end = match.end() if match and form_of in "!?,.:;" else place.at + 1
    return Mark(place.at, end, form_of)


def sign(place: Place) -> Optional[Item]:
    """Signs with a name in `symbols.tsv`, and the ones whose sound depends on their neighbours."""
    at, text = place.at, place.text
    if text[at] == "/":
        return _slash(place)
    if place.previous == " " and _AND.match(text, at):
        return Spoken(at, text.index(" ", at), "and", "and")
    beside = _beside_letters(place) or _beside_numbers(place)
    key = Spoken(at, at + 1, *beside) if beside else keys.numbered(place) or keys.star_key(place)
    if key is not None:
        return key
    if (
        text[at] in _JOINERS
        and not text.startswith("->", at)
        and not (text[at] == "\\" and text[at + 1 : at + 2].isalnum())
    ):
        return _joiner(place)
    match = _signs().match(text, at)
    if not match:
        return None
    english, chinese = tables.mapping("symbols")[match.group()]
    return Spoken(at, match.end(), english, chinese)


def _beside_letters(place: Place) -> "Optional[tuple[str, str]]":
    """The signs of grades and blood types, and the point within a name: `node.js`."""
    at, text = place.at, place.text
    if text[at] == "." and _JOINED_BY_POINT.match(text, at):
        return "dot", "点"
    if text[at] in "-+" and _RHESUS.search(text, max(0, at - 2), at + 1):
        return ("positive", "阳性") if text[at] == "+" else ("negative", "阴性")
    if text[at] == "-" and _GRADE.search(text, max(0, at - 3), at + 2):
        return "negative" if place.has_cue("blood", 4) else "minus", "负"
    if text[at] == "+" and place.previous.isupper() and place.has_cue("blood", 4):
        return "positive", "阳性"
    if text[at] == "+" and _NAME_PLUS.search(text, max(0, at - 4), at + 2):
        return "plus", "plus"
    return None


def _beside_numbers(place: Place) -> "Optional[tuple[str, str]]":
    """English and Chinese of a sign that means a relation between what stands beside it."""
    at, text = place.at, place.text
    is_discount = _DISCOUNT_BEFORE.search(text, max(0, at - 6), at)
    if text[at] == "-" and (_MINUS.match(text, at) or is_discount):
        return "minus", "减"
    if _means_to(place):
        return "to", "到"
    is_relation = text[at] == "≈" and place.previous.strip().isalnum()
    if (
        not is_relation
        and _APPROXIMATE.match(text, at)
        and not _SAID_APPROXIMATE.search(text[max(0, at - 8) : at])
    ):
        return "about", "约"
    if text[at] == "#" and not (_REFERENCE.match(text, at) and place.previous != "*"):
        named = "井" if text.startswith("号", at + 1) else "井号"
        return "pound", "号" if place.previous.isdigit() else named
    if text[at] == "*" and place.previous != "*" and _PRODUCT.match(text, max(0, at - 2)):
        return "times", "乘"
    return None


def _means_to(place: Place) -> bool:
    at, text = place.at, place.text
    if text[at] in "-–—~" and _joins_numbers(place, at + 1):
        return True
    is_wave = text[at] == "~" and _HAN_AROUND.match(place.previous) is not None
    return is_wave and _HAN_AROUND.match(text, at + 1) is not None


def _joins_numbers(place: Place, end: int) -> bool:
    if place.text[place.at] == "–" and _LETTERS_TO.match(place.text, max(0, place.at - 4)):
        return True
    before = place.text[max(0, place.at - 3) : place.at]
    if _CODE_TO.match(place.text, max(0, place.at - 5)):
        return True
    if _falls(place, end) and not _between_fractions(place, end):
        return False
    return bool(_NUMERIC_BEFORE.search(before) and _NUMERIC_AFTER.match(place.text, end))


def _between_fractions(place: Place, end: int) -> bool:
    """`1/4-1/2`, `5/30-6/2`: the digits beside the hyphen are parts of what it joins."""
    before = _FRACTION_BEFORE.search(place.text, max(0, place.at - 6), place.at)
    return before is not None and _FRACTION_NEXT.match(place.text, end) is not None


def _falls(place: Place, end: int) -> bool:
    """Whether a hyphen stands between a larger and a smaller number, as in `747-8`."""
    left = _DIGITS_END.search(place.text[max(0, place.at - 9) : place.at])
    right = _DIGITS.match(place.text, end)
    if not left or not right or place.text[place.at] == "~":
        return False
    return int(left.group()) > int(right.group())


def _joiner(place: Place) -> Item:
    char, previous = place.text[place.at], place.previous
    following = place.text[place.at + 1 : place.at + 2]
    if char == "-" and _HAN_AROUND.match(previous) and _HAN_AROUND.match(following):
        return Mark(place.at, place.at + 1, ",")
    return Dropped(place.at, place.at + 1, "joiner")


def _slash(place: Place) -> Item:
    """`$5/kWh` and `5元/次` are rates; between words a slash is silent."""
    at, text, previous = place.at, place.text, place.previous
    following = text[at + 1 : at + 2]
    if _OUT_OF.match(text, at):
        return Spoken(at, at + 1, "out of", ",满分")
    if _CHINESE_RATE.search(text, max(0, at - 2), at + 4) or (
        previous in _PRICED and previous and _PRICED_AMOUNT.match(text, at + 1)
    ):
        return Spoken(at, at + 1, "per", "每")
    is_dose = any(
        amount.search(text, max(0, at - 10), at) for amount in (_AMOUNT_BEFORE, _RATED_BEFORE)
    )
    is_rate = is_dose or previous.isdigit() or (previous != "" and previous in _PRICED)
    unit = place.units.match(text, at + 1) if is_rate else None
    found = place.units.find(unit.group()) if unit else None
    if unit and found:
        return Spoken(at, after_unit(text, unit), f"per {found.one}", f"每{found.chinese}")
    if previous.isdigit() and following.isdigit() and not _AMOUNT_NEXT.match(text, at + 1):
        return Spoken(at, at + 1, "slash", "斜杠")
    if is_rate and _WORDS_AROUND.match(following) and not following.isupper():
        return Spoken(at, at + 1, "per", "每")
    return Dropped(at, at + 1, "joiner")


@functools.lru_cache(maxsize=None)
def _signs() -> Pattern[str]:
    written = sorted(tables.mapping("symbols"), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, written)))


def unspeakable(place: Place) -> Item:
    """What no rule reads: letters of another script, or a symbol without a name."""
    char = place.text[place.at]
    category = unicodedata.category(char)
    if category[0] in "LMN":
        script = script_of(char)
        kind = "control" if script == "Combining" else f"script:{script}"
        return Dropped(place.at, place.at + 1, kind)
    return Dropped(place.at, place.at + 1, "symbol")
