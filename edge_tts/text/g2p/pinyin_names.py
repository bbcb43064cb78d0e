"""Chinese names in Latin letters, as an English speaker who knows pinyin says them."""

from __future__ import annotations

from functools import lru_cache
from typing import List, Optional

from edge_tts.text.g2p.english_sounds import PRIMARY, SECONDARY

MAX_NAME_LETTERS = 24
_INITIALS = {
    **{"b": "b", "p": "p", "m": "m", "f": "f", "d": "d", "t": "t", "n": "n", "l": "l"},
    **{"g": "ɡ", "k": "k", "h": "h", "j": "ʤ", "q": "ʧ", "x": "ʃ", "zh": "ʤ", "ch": "ʧ"},
    **{"sh": "ʃ", "r": "ɹ", "z": "z", "c": "ts", "s": "s", "": ""},
}
_FINALS = {
    **{"a": "ɑ", "ai": "I", "an": "ɑn", "ang": "ɑŋ", "ao": "W", "e": "ʌ", "ei": "A", "en": "ʌn"},
    **{"eng": "ʌŋ", "er": "ɑɹ", "o": "ɔ", "ong": "ʊŋ", "ou": "O", "u": "u", "ua": "wɑ"},
    **{"uai": "wI", "uan": "wɑn", "uang": "wɑŋ", "ui": "wA", "un": "wʌn", "uo": "wɔ"},
    **{"i": "i", "ia": "jɑ", "ian": "jɛn", "iang": "jɑŋ", "iao": "jW", "ie": "jɛ", "in": "ɪn"},
    **{"ing": "ɪŋ", "iong": "jʊŋ", "iu": "jO", "ue": "wɛ"},
}
_WHOLE = {
    **{"yi": "i", "ya": "jɑ", "yan": "jɛn", "yang": "jɑŋ", "yao": "jW", "ye": "jɛ", "yin": "jɪn"},
    **{"ying": "jɪŋ", "yong": "jʊŋ", "you": "jO", "yu": "ju", "yuan": "juɑn", "yue": "juɛ"},
    **{"yun": "jun", "wu": "wu", "wa": "wɑ", "wai": "wI", "wan": "wɑn", "wang": "wɑŋ"},
    **{"wei": "wA", "wen": "wʌn", "weng": "wʌŋ", "wo": "wɔ"},
}
_BUZZED = ("zh", "ch", "sh", "r")  # their i is r-coloured, as in English "sir"
_HISSED = ("z", "c", "s")
_FRONT_ONLY = ("j", "q", "x")  # before these u is the front ü, and only i and ü follow
_FRONT_FINALS = frozenset(final for final in _FINALS if final[0] == "i") | {"u", "uan", "ue", "un"}
_NEVER_FRONT = frozenset({"zh", "ch", "sh", "r", "z", "c", "s", "g", "k", "h", "f"})
_TYPICAL_ENDINGS = ("ang", "eng", "ong", "iao", "uai", "uan", "ian", "uo", "jia", "jie")
_FOREIGN_ENDINGS = ("e", "er")
_STANDALONE = frozenset({"a", "ai", "an", "ang", "ao", "e", "en", "er", "ou"})


def pinyin_name(word: str) -> Optional[str]:
    """Phonemes of `word` if it is a capitalised Chinese name of two or more syllables; else None.

    Many foreign words happen to fall into pinyin syllables, so a name must have a sound that is
    common in Chinese and rare elsewhere. An apostrophe parts syllables, as in Xi'an.
    """
    if not 4 <= len(word) <= MAX_NAME_LETTERS or not word[0].isupper():
        return None
    syllables: List[str] = []
    for piece in word.lower().split("'"):
        cut = _syllables(piece)
        if not cut:
            return None
        syllables += cut
    if len(syllables) < 2 or not _is_chinese(syllables):
        return None
    marks = [SECONDARY] + [""] * (len(syllables) - 2) + [PRIMARY]
    return "".join(_stressed(syllable, mark) for syllable, mark in zip(syllables, marks))


def _is_chinese(syllables: List[str]) -> bool:
    typical = any(s.startswith(("zh", "x", "q")) or s.endswith(_TYPICAL_ENDINGS) for s in syllables)
    return typical and not syllables[-1].endswith(_FOREIGN_ENDINGS)


def _syllables(word: str) -> Optional[List[str]]:
    """Cut into the fewest syllables, each the longest that lets the rest be cut too."""
    if not word:
        return []
    for length in range(min(6, len(word)), 0, -1):
        if _syllable(word[:length]) is not None:
            rest = _syllables(word[length:])
            if rest is not None:
                return [word[:length], *rest]
    return None


@lru_cache(maxsize=512)
def _syllable(spelling: str) -> Optional[str]:
    if spelling in _WHOLE:
        return _WHOLE[spelling]
    initial = spelling[:2] if spelling[:2] in _INITIALS else spelling[:1]
    if initial not in _INITIALS:
        initial = ""
    final = spelling[len(initial) :]
    if final not in _FINALS or (not initial and final not in _STANDALONE):
        return None
    if initial in _FRONT_ONLY:
        return _front(initial, final)
    if final.startswith("i") and initial in _NEVER_FRONT:
        return _apical(initial, final)
    return _INITIALS[initial] + _FINALS[final]


def _front(initial: str, final: str) -> Optional[str]:
    if final not in _FRONT_FINALS:
        return None
    sound = "ɪn" if final == "un" else _FINALS[final].replace("ju", "u")
    return _INITIALS[initial] + (sound[1:] if sound[:1] == "j" else sound)


def _apical(initial: str, final: str) -> Optional[str]:
    if final != "i":
        return None
    if initial in _BUZZED:
        return _INITIALS[initial] + "ɜɹ"
    return _INITIALS[initial] + "ʌ" if initial in _HISSED else None


def _stressed(syllable: str, mark: str) -> str:
    sound = _syllable(syllable) or ""
    for i, symbol in enumerate(sound):
        if symbol not in "bpmfdtnlɡkhʤʧʃɹzsjw":
            return sound[:i] + mark + sound[i:]
    return sound
