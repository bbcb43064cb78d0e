"""The sounds of General American in Kokoro's notation, and how stress is written.

One letter stands for each diphthong (A I O W Y as in face, price, goat, mouth, choice) and each
affricate; ᵊ is a vowel shorter than schwa, ᵻ the vowel of an unstressed -es; ɾ is the flap of
"water". The stress mark stands directly before the vowel it belongs to.
"""

from __future__ import annotations

import re

PRIMARY, SECONDARY = "ˈ", "ˌ"
VOWELS = frozenset("AIOQWYaiuæɑɐɔəɛɜɪʊʌᵊᵻ")
FULL_VOWELS = VOWELS - frozenset("əᵊᵻɐ")
CONSONANTS = frozenset("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθʔ")
SYMBOLS = VOWELS | CONSONANTS | {PRIMARY, SECONDARY, " "}
"""Every symbol English pronunciation may give; all are in the vocabulary of the voice."""

# A /t/ between one of these and an unstressed vowel is a flap.
FLAP_CONTEXT = frozenset("AIOWYiuæɑəɛɪɹʊʌɔɜ")

_STRESS_MARK = re.compile(f"[{PRIMARY}{SECONDARY}]")
_FIRST_VOWEL = re.compile("[" + "".join(sorted(VOWELS)) + "]")


def unknown_symbols(phonemes: str) -> str:
    """The symbols of `phonemes` that English pronunciation never gives, in order."""
    return "".join(symbol for symbol in phonemes if symbol not in SYMBOLS)


def has_stress(phonemes: str) -> bool:
    """Whether any syllable is marked."""
    return _STRESS_MARK.search(phonemes) is not None


def unstressed(phonemes: str) -> str:
    """The same sounds without stress marks."""
    return _STRESS_MARK.sub("", phonemes)


def demoted(phonemes: str) -> str:
    """Primary stress becomes secondary; what was secondary is dropped."""
    return phonemes.replace(SECONDARY, "").replace(PRIMARY, SECONDARY)


def with_stress(phonemes: str, mark: str) -> str:
    """`mark` on the first vowel of a word that carries no stress; other words are unchanged."""
    if has_stress(phonemes):
        return phonemes
    return _FIRST_VOWEL.sub(lambda vowel: mark + vowel.group(), phonemes, count=1)


def starts_with_vowel(phonemes: str) -> bool:
    """Whether the first sound is a vowel, stress marks and spaces aside."""
    sounds = unstressed(phonemes).lstrip()
    return sounds[:1] in VOWELS and sounds != ""
