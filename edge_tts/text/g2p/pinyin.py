"""Mandarin syllables and their phonemes in the convention Kokoro-82M v1.0 was trained on.

The transcription is that of misaki's first Chinese front end (Apache-2.0), itself after
pinyin-to-ipa (MIT) and Duanmu, The Phonology of Standard Chinese (2007): IPA without non-syllabic
marks, the tone an arrow after the main vowel, the neutral tone unmarked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Dict, NamedTuple, Tuple

NEUTRAL = 5

_TONE_ARROWS: Dict[int, str] = {1: "→", 2: "↗", 3: "↓", 4: "↘", NEUTRAL: ""}

_INITIALS: Dict[str, str] = {
    "zh": "ꭧ",
    "ch": "ꭧʰ",
    "sh": "ʂ",
    "b": "p",
    "p": "pʰ",
    "m": "m",
    "f": "f",
    "d": "t",
    "t": "tʰ",
    "n": "n",
    "l": "l",
    "g": "k",
    "k": "kʰ",
    "h": "x",
    "j": "ʨ",
    "q": "ʨʰ",
    "x": "ɕ",
    "r": "ɻ",
    "z": "ʦ",
    "c": "ʦʰ",
    "s": "s",
}

# Final -> (up to and including the vowel that bears the tone, the rest).
_FINALS: Dict[str, Tuple[str, str]] = {
    "a": ("a", ""),
    "ai": ("ai", ""),
    "an": ("a", "n"),
    "ang": ("a", "ŋ"),
    "ao": ("au", ""),
    "e": ("ɤ", ""),
    "ei": ("ei", ""),
    "en": ("ə", "n"),
    "eng": ("ə", "ŋ"),
    "i": ("i", ""),
    "ia": ("ja", ""),
    "ian": ("jɛ", "n"),
    "iang": ("ja", "ŋ"),
    "iao": ("jau", ""),
    "ie": ("je", ""),
    "in": ("i", "n"),
    "ing": ("i", "ŋ"),
    "iong": ("jʊ", "ŋ"),
    "iu": ("jou", ""),
    "o": ("wo", ""),
    "ong": ("ʊ", "ŋ"),
    "ou": ("ou", ""),
    "u": ("u", ""),
    "ua": ("wa", ""),
    "uai": ("wai", ""),
    "uan": ("wa", "n"),
    "uang": ("wa", "ŋ"),
    "ueng": ("wə", "ŋ"),
    "ui": ("wei", ""),
    "un": ("wə", "n"),
    "uo": ("wo", ""),
    "ü": ("y", ""),
    "üan": ("ɥɛ", "n"),
    "üe": ("ɥe", ""),
    "ün": ("y", "n"),
}

_APICAL = ("ɨ", "")
_APICAL_INITIALS = frozenset(("zh", "ch", "sh", "r", "z", "c", "s"))

# Syllables that are not an initial and a final.
_WHOLE: Dict[str, Tuple[str, str]] = {
    "er": ("ɚ", ""),
    "o": ("ɔ", ""),
    "yo": ("jɔ", ""),
    "ê": ("ɛ", ""),
    "m": ("m", ""),
    "n": ("n", ""),
    "ng": ("ŋ", ""),
    "hm": ("hm", ""),
    "hng": ("hŋ", ""),
}

# Spellings of a final that stands without an initial.
_BARE_FINALS: Dict[str, str] = {
    "yi": "i",
    "ya": "ia",
    "ye": "ie",
    "yao": "iao",
    "you": "iu",
    "yan": "ian",
    "yin": "in",
    "yang": "iang",
    "ying": "ing",
    "yong": "iong",
    "yu": "ü",
    "yue": "üe",
    "yuan": "üan",
    "yun": "ün",
    "wu": "u",
    "wa": "ua",
    "wo": "uo",
    "wai": "uai",
    "wei": "ui",
    "wan": "uan",
    "wen": "un",
    "wang": "uang",
    "weng": "ueng",
}


class Syllable(NamedTuple):
    """A toneless pinyin spelling (`v` is written `ü`) and its tone, 1 to 4 or `NEUTRAL`."""

    base: str
    tone: int


def parse_syllable(pinyin: str) -> Syllable:
    """Read tone-number pinyin such as `zhong1`, `lü4`, `lv4` or `de5`; no number means neutral.

    Raises ValueError when it is not a Mandarin syllable.
    """
    spelling = pinyin.strip().lower().replace("u:", "ü").replace("v", "ü")
    base, tone = spelling, NEUTRAL
    if spelling[-1:].isdigit():
        base, tone = spelling[:-1], int(spelling[-1]) or NEUTRAL
    if tone not in _TONE_ARROWS:
        raise ValueError(f"{pinyin!r}: a tone is a number from 1 to 5")
    _body(base)
    return Syllable(base, tone)


@lru_cache(maxsize=4096)
def syllable_phonemes(syllable: Syllable) -> str:
    """Phonemes of one syllable, for example ("zhong", 1) -> `ꭧʊ→ŋ`."""
    voiced, coda = _body(syllable.base)
    return voiced + _TONE_ARROWS[syllable.tone] + coda


def _body(base: str) -> Tuple[str, str]:
    if base in _WHOLE:
        return _WHOLE[base]
    initial, final = _split(base)
    if final == "i" and initial in _APICAL_INITIALS:
        vowel, coda = _APICAL
    elif final in _FINALS:
        vowel, coda = _FINALS[final]
    else:
        raise ValueError(f"{base!r} is not a Mandarin syllable")
    return _INITIALS.get(initial, "") + vowel, coda


def _split(base: str) -> Tuple[str, str]:
    """Initial and final, the final in full spelling (`ü` kept apart from `u`)."""
    if base in _BARE_FINALS:
        return "", _BARE_FINALS[base]
    initial = base[:2] if base[:2] in _INITIALS else base[:1]
    if initial not in _INITIALS:
        return "", base
    final = base[len(initial) :]
    if initial in "jqx" and final.startswith("u"):
        final = "ü" + final[1:]
    return initial, final
