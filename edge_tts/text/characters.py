"""Which class a character belongs to: Han, Latin, mark, emoji, or a script no voice speaks."""

from __future__ import annotations

import functools
import re
import unicodedata

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3007"
LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"

IS_HAN = re.compile(f"[{HAN}]").match
IS_LATIN = re.compile(f"[{LATIN}]").match

_EMOJI = re.compile(
    "[\u20e3\u2600-\u26ff\u2700-\u27bf\u2b00-\u2bff\ufe00-\ufe0f\u200d"
    "\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)


def is_han(char: str) -> bool:
    """Whether `char` is a Chinese character (〇 included)."""
    return IS_HAN(char) is not None


def is_latin(char: str) -> bool:
    """Whether `char` is a letter an English word may hold, accents included."""
    return IS_LATIN(char) is not None


def is_emoji(char: str) -> bool:
    """Whether `char` is a pictograph or one of the invisible parts of one."""
    return _EMOJI.match(char) is not None


@functools.lru_cache(maxsize=4096)
def script_of(char: str) -> str:
    """Name of a letter's script in title case, read from its Unicode name."""
    name = unicodedata.name(char, "UNKNOWN")
    return name.split(" ")[0].split("-")[0].title()
