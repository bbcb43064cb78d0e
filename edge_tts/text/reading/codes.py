"""Recognisers of phone numbers, identifiers, codes, versions and addresses."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional

from edge_tts.text.characters import is_han
from edge_tts.text.reading import tables
from edge_tts.text.reading.addresses import HEXADECIMAL
from edge_tts.text.reading.items import (
    Address,
    Cardinal,
    Code,
    Digits,
    Item,
    Number,
    Version,
)
from edge_tts.text.reading.place import Place, starts_word

_PHONES = tuple(
    re.compile(pattern + r"(?![\d-]|\.\d)")
    for pattern in (
        r"(?P<plus>\+)(?P<groups>\d{1,3}[ -]\(?\d{2,4}\)?[ -]\d{3,4}[ -]\d{3,4})",
        r"(?P<groups>\d{1,3}-\d{2,4}-\d{3,4}-\d{3,4})",
        r"(?P<plus>\+)(?=(?:\D{0,2}\d){8})"
        r"(?P<groups>\d{1,3}(?:[ -]?\(\d{1,4}\))?(?:[ -]?\d{2,8}){1,5})",
        r"(?P<plus>\+)(?P<groups>\d{1,3}[ -]?\d{4,14})",
        r"(?P<groups>1[3-9]\d[ -]\d{4}[ -]\d{4})",
        r"(?P<groups>1[3-9]\d{9})",
        r"(?P<groups>\(?0\d{2,3}\)?[ -]?(?:\d{7,8}|\d{3,4}[ -]\d{4})(?:-\d{1,6})?)",
        r"(?P<groups>[48]00[ -]\d{3}[ -]\d{4})",
        r"(?P<groups>[48]00-\d{4}-\d{3})",
        r"(?P<groups>\(?[2-9]\d{2}\)?[ -]\d{3}[ -]\d{4})",
        r"(?P<groups>[2-9]\d{2}\.\d{3}\.\d{4})",
        r"(?P<groups>\d{3}-\d{4})",
        r"(?P<groups>1-[2-9]\d{2}-\d{3}-\d{4})",
        r"(?P<groups>[48]00\d{7})",
        r"(?P<groups>\d{1,6}(?:-\d{1,8}){2,8})",
    )
)
_DIGIT_GROUP = re.compile(r"\d+")
_MIN_PHONE_DIGITS = 3
_MIN_ID_DIGITS = 4
_LONG_ID_DIGITS = 9
# Mainland service numbers: banks and insurers, carriers, railways and citizens' lines.
_HOTLINE = re.compile(r"9[56]\d{3}|100(?:01|10|50|60|86)|123\d\d")
_STREET = (
    "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Way|Parkway|Pkwy|Court|Ct|"
    "Place|Pl|Square|Sq|Highway|Hwy|Terrace|Circle"
)
_HOUSE = re.compile(
    r"(\d{3,5}) (?:(?:[NSEW]|North|South|East|West|NW|NE|SW|SE)\.? )?"
    rf"(?:(?:[A-Z][a-z]{{1,20}}|St\.|\d{{1,3}}(?:st|nd|rd|th)) ){{1,3}}(?:{_STREET})(?![a-z])"
)
_BARE_DIGITS = re.compile(r"\d{2,24}(?![\d.,:%/]\d|\d|%)")
_GROUPED_DIGITS = re.compile(r"\d{2,6}(?: \d{2,6}){1,6}(?![\d.,:%/]\d|\d|%| [A-Za-z]{1,3}\b)")
_HYPHENED_DIGITS = re.compile(r"(?=\d*-?\d{4})\d{2,10}(?:-\d{2,10}){1,4}(?![\d.,:%/-]?\d|%)")
_POSTCODE = re.compile(r"(\d{5})(?:-(\d{4}))?(?![\w-]|\.\d)")
_STATE_BEFORE = re.compile(r"[A-Za-z.],? [A-Z]{2},? $")
_DAY_STAMP = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{4,6})?")
_BUILDING_BEFORE = re.compile(r"(?:[座栋幢]|单元|号楼)$")
# `03月08日`, but `05分` keeps its zero.
_ZERO_DATE = re.compile(r"0([1-9])(?=[月日时点号])")
_MASKED = re.compile(r"(\d{2,8})(?!\d)(?=(\*{2,}\d)?)")
_LIST_HEAD = re.compile(
    r"(?<![\d.,-])(?:\d{3,8}(?:, (?:or |and )?| or | and | ?[、，/和或及] ?))+$"
)
_AFTER_NUMBER = re.compile(r"\d, $")
_LIST_GOES_ON = re.compile(r"\d+(?:[.,;!?。，；！？、)]| ?(?:or|and|[和或及])|$)")
_MODEL_BEFORE = re.compile(r"(?<![A-Za-z])[A-Z]{2,5} $")
_LIST_TAIL = re.compile(r"(?:(?:[、,，/]|[和或及与]) ?\d{3,4}){1,8}(?!\d)")
_DECIMAL = re.compile(r"\d{1,24}\.\d")

_VERSION = re.compile(r"([vV]\.?)?(\d{1,6}(?:\.\d{1,6}){1,6})(?![\d]|\.\d|[A-Za-z]{2})")
_WHOLE_VERSION = re.compile(r"[vV](\d{1,4})(?![\w.])")

_DOMAIN = (
    "com|cn|org|net|io|gov|edu|dev|app|ai|info|co|uk|de|jp|hk|tw|eu|me|tv|us|fr|local|lan|home|xyz|"
    "top|cc|biz"
)
_HOST = rf"(?:[A-Za-z0-9-]{{1,63}}\.){{1,6}}(?:{_DOMAIN})(?![A-Za-z0-9-])"
_PATH = r"(?::\d{1,5})?(?:[/?#][\w\-./?%&=+#~:@]{0,500})?"
_FILE_TYPES = (
    "txt|pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|mp[34]|wav|avi|mov|zip|rar|exe|apk|dmg|csv|html?|json|ya?ml|xml|"
    "js|ts|py|cpp|log|ini|cfg"
)
_ADDRESSES = (
    re.compile(
        rf"[A-Za-z0-9][\w-]{{0,62}}(?:\.[\w-]{{1,32}}){{0,3}}\.(?:{_FILE_TYPES})(?![\w-])", re.ASCII
    ),
    re.compile(r"[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}", re.ASCII),
    re.compile(r"(?:https?|ftp|rtsp|wss?|file)://[\w\-./?%&=+#~:@]{1,500}", re.ASCII),
    re.compile(r"www\.[\w\-./?%&=+#~:@]{1,500}", re.ASCII | re.IGNORECASE),
    re.compile(_HOST + _PATH, re.ASCII | re.IGNORECASE),
)
_IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?:/\d{1,2})?(?![\d.]\d|\d)")
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,4}(?:[:-]{1,2}[0-9A-Fa-f]{1,4}){1,7}(?![\w:])")
_TRAILING = ".,;:?!-"

_FLIGHT = re.compile(r"([A-Z]{2}|[A-Z]\d|\d[A-Z]) ?(\d{3,4})(?![A-Za-z0-9.-])")
_TRAIN = re.compile(r"([GDCZTKYSL])(\d{2,4})(?=次|列车|车次|号|\W*(?:列车|高铁|动车|train))")
_ROAD = re.compile(r"(I|US|SR|CR|M|A|E|G|S|Route|Hwy)-(\d{1,4})([A-Z]?)(?![A-Za-z0-9-])")
_CODE = re.compile(
    r"(?:[A-Za-z]{1,8}[-·]?\d|\d{1,8}-?[A-Za-z])[A-Za-z0-9]{0,24}"
    r"(?:[-·][A-Za-z0-9]{1,12}){0,6}(?![\w])",
    re.ASCII,
)
# `A1-A5`, and pages `P15-20`.
_CODE_RANGE = re.compile(
    r"([A-Z])(\d{1,3})(?:[-–~](?:(?<=P\d-)|(?<=P\d\d-)|\1))(\d{1,3})(?![A-Za-z0-9_-])"
)
_DECIMAL_CODE = re.compile(r"[A-Za-z]{1,8}-?\d{1,4}\.\d{1,4}(?![\w]|\.\d)", re.ASCII)
_HYPHENATED = re.compile(r"[A-Z]{1,6}(?:-[A-Z0-9]{1,8}){1,4}(?![\w-])", re.ASCII)
CODE_PART = re.compile(
    r"(?:[A-Z][a-z]+){2,4}(?![A-Za-z])|\d+\.\d+|\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Za-z]+"
)
_SHORT_NUMBER = re.compile(r"(\d{3,5})(?![\d.,:/%A-Za-z]|[-+~]\d)")


def phone(place: Place) -> Optional[Item]:
    """Written groups of digits, or bare digits beside a word of calling."""
    if place.text[place.at] not in "+(0123456789":
        return None
    for pattern in _PHONES:
        match = pattern.match(place.text, place.at)
        if match and not _is_counted(place, match.end()):
            groups = tuple(_DIGIT_GROUP.findall(match.group("groups")))
            plus = bool(match.groupdict().get("plus"))
            is_phone = plus or not _is_just_named(place)
            return Digits(place.at, match.end(), groups, is_phone=is_phone, plus=plus)
    return None


def _is_counted(place: Place, end: int) -> bool:
    """Whether a unit or measure word follows, so that the digits are an amount after all."""
    start = end + (place.text[end : end + 1] == " ")
    return place.units.match(place.text, start) is not None or place.follows(end, "measure")


def identifier(place: Place) -> Optional[Item]:
    """Bare digits that name rather than count, by cue word, length or leading zero."""
    special = _grouped_digits(place) or _zero_date(place) or _masked(place)
    if special:
        return special
    match = _BARE_DIGITS.match(place.text, place.at)
    if not match or _DECIMAL.match(place.text, place.at):
        return None
    digits, end = match.group(), match.end()
    if place.follows(end, "measure") and digits[0] != "0":
        return None
    is_hotline = place.is_chinese and _HOTLINE.fullmatch(digits)
    start = _list_start(place)
    is_listed = start.at < place.at or not _AFTER_NUMBER.search(
        place.text, max(0, place.at - 3), place.at
    )
    is_called = len(digits) >= _MIN_PHONE_DIGITS and is_listed and start.has_cue("phone", 3)
    if is_hotline or (is_called and not _is_just_named(place)):
        return Digits(place.at, end, (digits,), is_phone=True)
    named = len(digits) >= _MIN_ID_DIGITS and place.has_cue("id", 3)
    named = named or _DAY_STAMP.fullmatch(digits) is not None or _is_stock(place, digits, end)
    if named or digits[0] == "0" or len(digits) >= _LONG_ID_DIGITS:
        return Digits(place.at, end, (digits,), is_phone=False)
    return _label(place, digits, end)


def _zero_date(place: Place) -> Optional[Item]:
    match = _ZERO_DATE.match(place.text, place.at) if place.is_chinese else None
    return Cardinal(place.at, match.end(), Number(match[1])) if match else None


def _masked(place: Place) -> Optional[Item]:
    """The digits of `138****5678`."""
    match = _MASKED.match(place.text, place.at)
    if not match or not (match[2] or place.text[max(0, place.at - 2) : place.at] == "**"):
        return None
    return Digits(place.at, match.end(1), (match[1],), is_phone=False)


def _is_stock(place: Place, digits: str, end: int) -> bool:
    """The code of a share after its name: `工商银行（601398）`."""
    brackets = place.previous + place.text[end : end + 1]
    return place.is_chinese and len(digits) == 6 and brackets in ("()", "（）")


def _list_start(place: Place) -> Place:
    """Where a list of digits begins that this one is in: `call 119, 120 or 110`."""
    if not _LIST_GOES_ON.match(place.text, place.at):
        return place
    head = _LIST_HEAD.search(place.text, max(0, place.at - 48), place.at)
    return replace(place, at=head.start()) if head else place


def _is_just_named(place: Place) -> bool:
    """`客服工号1008`: the nearer word of two tells what the digits are."""
    before = place.text[max(0, place.at - 4) : place.at].rstrip("是为:： ")
    return any(before.endswith(cue) for cue in tables.cues("id")) and is_han(before[-1])


def _grouped_digits(place: Place) -> Optional[Item]:
    """`904 117` of a code, and the postcode in `Boston, MA 02118-1234`."""
    match = _POSTCODE.match(place.text, place.at)
    if match and _STATE_BEFORE.search(place.text, max(0, place.at - 6), place.at):
        groups = tuple(group for group in match.groups() if group)
        return Digits(place.at, match.end(), groups, is_phone=False)
    match = _HYPHENED_DIGITS.match(place.text, place.at)
    if match and (place.previous == "#" or place.has_cue("id", 3)):
        return Digits(place.at, match.end(), tuple(match.group().split("-")), is_phone=False)
    match = _GROUPED_DIGITS.match(place.text, place.at)
    if match and place.has_cue("id", 3) and not place.follows(match.end(), "measure"):
        return Digits(place.at, match.end(), tuple(match.group().split()), is_phone=False)
    return None


def _label(place: Place, digits: str, end: int) -> Optional[Item]:
    """Room, road, bus, flight and train numbers of three digits and more."""
    if len(digits) < _MIN_PHONE_DIGITS:
        return None
    if place.is_chinese:
        before = place.has_cue("room", 2) or place.has_cue("flight", 2)
        # `301、302路`: what is named by the last of a list is named by each.
        listed = _LIST_TAIL.match(place.text, end)
        last = listed.end() if listed else end
        after = any(
            place.follows(last, name) for name in ("roomafter", "routeafter", "digitsafter")
        )
        within = _BUILDING_BEFORE.search(place.text, max(0, place.at - 2), place.at)
        model = len(digits) == 4 and not digits.endswith("00")
        named = model and _MODEL_BEFORE.search(place.text, max(0, place.at - 7), place.at)
        if (before or after or within or named) and place.previous != "第":
            return Digits(place.at, end, (digits,), is_phone=False)
        return None
    is_house = _HOUSE.match(place.text, place.at) is not None
    if is_house or any(
        _list_start(place).has_cue(name, 1) for name in ("room", "route", "flight", "seat")
    ):
        return Cardinal(place.at, end, Number(digits), "label")
    return None


def version(place: Place) -> Optional[Item]:
    """Dotted versions of three parts and more, or any after a `v`."""
    if not starts_word(place.text, place.at):
        return None
    match = _WHOLE_VERSION.match(place.text, place.at)
    if match:
        return Version(place.at, match.end(), "v", (match[1],))
    match = _VERSION.match(place.text, place.at)
    if not match:
        return None
    parts = tuple(match.group(2).split("."))
    if len(parts) < 3 and not match.group(1):
        return None
    said = place.words_before(1) == ["version"]
    return Version(place.at, match.end(), "v" if match[1] and not said else "", parts)


def address(place: Place) -> Optional[Item]:
    """E-mail addresses, URLs, host names and IP addresses."""
    if not starts_word(place.text, place.at):
        return None
    match = _IP.match(place.text, place.at)
    if match and all(int(octet) < 256 for octet in re.split("[:/]", match.group())[0].split(".")):
        return Address(place.at, match.end(), match.group())
    match = _HEXADECIMAL.match(place.text, place.at)
    if match and HEXADECIMAL.fullmatch(match.group()):
        return Address(place.at, match.end(), match.group())
    for pattern in _ADDRESSES:
        match = pattern.match(place.text, place.at)
        if match:
            written = match.group().rstrip(_TRAILING)
            return Address(place.at, place.at + len(written), written)
    return None


def code(place: Place) -> Optional[Item]:
    """Names made of letters and digits."""
    text, at = place.text, place.at
    if not starts_word(text, at):
        return None
    for pattern, style in ((_ROAD, "road"), (_TRAIN, "digits"), (_FLIGHT, "digits")):
        match = pattern.match(text, at)
        if match and (pattern is not _FLIGHT or _is_flight(place, match)):
            return Code(at, match.end(), tuple(CODE_PART.findall(match.group())), style)
    match = _CODE_RANGE.match(text, at)
    if match and int(match[2]) < int(match[3]):
        return Code(at, match.end(2), (match[1], match[2]), "plain")
    match = _DECIMAL_CODE.match(text, at) or _CODE.match(text, at) or _HYPHENATED.match(text, at)
    if not match:
        return None
    parts = tuple(CODE_PART.findall(match.group()))
    return Code(at, match.end(), parts, "plain")


def _is_flight(place: Place, match: "re.Match[str]") -> bool:
    """A space between letters and number needs a word of travel before it."""
    return " " not in match.group() or place.has_cue("flight", 2)
