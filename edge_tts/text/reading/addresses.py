"""The pieces of an e-mail address, URL or IP address, and how they are said."""

from __future__ import annotations

import re
from typing import List

from edge_tts.text.reading import tables
from edge_tts.text.reading.words import spoken_words

ENGLISH_SIGNS = {
    ".": "dot",
    "@": "at",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    ":": "colon",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "%": "percent",
    "+": "plus",
    "~": "tilde",
}
CHINESE_SIGNS = {
    ".": "点",
    "@": "at",
    "/": "斜杠",
    "-": "杠",
    "_": "下划线",
    ":": "冒号",
    "?": "问号",
    "=": "等于",
    "&": "和",
    "#": "井号",
    "%": "百分号",
    "+": "加",
    "~": "波浪线",
}
HEXADECIMAL = re.compile(
    r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"
    r"|(?=[0-9A-Fa-f]{1,4}:|::)(?=[^:]*(?::[^:]+){7}$|.{0,34}::)[0-9A-Fa-f:]{3,39}"
)
"""Hardware addresses and IP addresses of version 6, read character by character."""
_PART = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]")
_SCHEME = re.compile(r"^[a-z]+://")
_VOWEL = re.compile("[aeiouyAEIOUY]")


def parts(written: str) -> List[str]:
    """Runs of letters, runs of digits and single signs; nobody says the `https://`."""
    if HEXADECIMAL.fullmatch(written):
        return list(written)
    return _PART.findall(_SCHEME.sub("", written).rstrip("/"))


def say_letters(part: str) -> str:
    """A run of letters, spelled unless it can be a word; empty for anything else."""
    if not part.isalpha():
        return ""
    if part.lower() in tables.cues("spelledparts") or len(part) == 1 or not _VOWEL.search(part):
        return " ".join(part.upper())
    return " ".join(spoken_words(part, False))
