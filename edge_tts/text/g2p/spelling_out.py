"""Words that are read letter by letter, and words cut where their spelling shows a seam."""

from __future__ import annotations

import re
import unicodedata
from typing import List

from edge_tts.text.g2p.english_sounds import PRIMARY, SECONDARY

LETTER_NAMES = {
    **{"a": "ˈA", "b": "bˈi", "c": "sˈi", "d": "dˈi", "e": "ˈi", "f": "ˈɛf", "g": "ʤˈi"},
    **{"h": "ˈAʧ", "i": "ˈI", "j": "ʤˈA", "k": "kˈA", "l": "ˈɛl", "m": "ˈɛm", "n": "ˈɛn"},
    **{"o": "ˈO", "p": "pˈi", "q": "kjˈu", "r": "ˈɑɹ", "s": "ˈɛs", "t": "tˈi", "u": "jˈu"},
    **{"v": "vˈi", "w": "dˈʌbᵊlju", "x": "ˈɛks", "y": "wˈI", "z": "zˈi"},
}
_FOLDED = {
    **{"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "th", "þ": "th"},
    **{"ı": "i", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-", "ŋ": "ng"},
}
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-_/]+|(?<=\.)")
_VOWEL_LETTERS = frozenset("aeiouy")


def fold(word: str) -> str:
    """`word` in the letters of English: accents and full-width forms removed, ligatures opened."""
    decomposed = unicodedata.normalize("NFKD", word)
    folded = []
    for character in decomposed:
        plain = _FOLDED.get(character.lower(), character)
        folded.append(plain.upper() if character.isupper() and plain != character else plain)
    kept = "".join(folded)
    return "".join(character for character in kept if character.isascii())


def spell(letters: str) -> str:
    """The names of `letters` as one word with the main stress on the last: GPS → ʤˌipˌiˈɛs."""
    names = [LETTER_NAMES[letter] for letter in letters.lower() if letter in LETTER_NAMES]
    return "".join(name.replace(PRIMARY, SECONDARY) for name in names[:-1]) + "".join(names[-1:])


def is_spelled(word: str) -> bool:
    """Whether an unknown capital word (perhaps with a plural s) is read letter by letter.

    True when it has no vowel letter to read it by, or is at most three letters long.
    """
    stem = word[:-1] if word.endswith("s") else word
    if not (stem.isascii() and stem.isalpha() and stem.isupper()):
        return False
    return len(stem) <= 3 or not _VOWEL_LETTERS & set(stem.lower())


def is_pronounceable(word: str) -> bool:
    """Whether lower-case `word` has a vowel letter to be read by."""
    return bool(_VOWEL_LETTERS & set(word.lower()))


def parts(word: str) -> List[str]:
    """`word` cut at hyphens and where its case changes: `CarPlay` → `Car`, `Play`."""
    return [part for part in _SEAM.split(word) if part.strip("'.-")]
