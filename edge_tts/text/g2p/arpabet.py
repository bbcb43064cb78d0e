"""ARPAbet, the notation of CMUdict and of models trained on it, in Kokoro's notation.

The choices among weak vowels follow what misaki's lexicon writes for words that CMUdict also has.
"""

from __future__ import annotations

from typing import List, Sequence

from edge_tts.text.g2p.english_sounds import CONSONANTS, FLAP_CONTEXT, PRIMARY, SECONDARY

_CONSONANTS = {
    **{"B": "b", "CH": "ʧ", "D": "d", "DH": "ð", "F": "f", "G": "ɡ", "HH": "h", "JH": "ʤ"},
    **{"K": "k", "L": "l", "M": "m", "N": "n", "NG": "ŋ", "P": "p", "R": "ɹ", "S": "s"},
    **{"SH": "ʃ", "T": "t", "TH": "θ", "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ"},
}
_VOWELS = {
    **{"AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "EH": "ɛ", "ER": "ɜɹ"},
    **{"EY": "A", "IH": "ɪ", "IY": "i", "OW": "O", "OY": "Y", "UH": "ʊ", "UW": "u"},
}
ARPABET = frozenset({*_CONSONANTS, "UW", *(name + degree for name in _VOWELS for degree in "012")})
"""The 70 phonemes of the network: consonants, vowels with their stress, and UW also without."""

_UNSTRESSED = {"AH": "ə", "ER": "əɹ"}
_STRESS = {"0": "", "1": PRIMARY, "2": SECONDARY, "": ""}
# CMUdict writes IH0 for a vowel that is a clear ɪ only in these places, and else a schwa.
_CLEAR_BEFORE = frozenset({"NG", "K", "V", "SH", "JH", "S"})
_CLEAR_INITIAL_BEFORE = frozenset({"K", "N", "G", "NG", "S", "M"})
_BEFORE_SYLLABIC_L = CONSONANTS - frozenset("ɹwjl")
_BEFORE_SYLLABIC_N = frozenset("tdszʒv")
_WEAK = frozenset("əiɪᵻᵊ")


def to_kokoro(arpabet: Sequence[str]) -> str:
    """Phonemes such as `["W", "AO1", "T", "ER0"]` as `wˈɔɾəɹ`."""
    sounds = [_sound(arpabet, i) for i in range(len(arpabet))]
    return "".join(_flap(_shorten(sounds)))


def _sound(arpabet: Sequence[str], i: int) -> str:
    phoneme = arpabet[i]
    if phoneme in _CONSONANTS:
        return _CONSONANTS[phoneme]
    name = phoneme.rstrip("012")
    stress = _STRESS[phoneme[len(name) :]]
    if phoneme == "IH0":
        return _unstressed_i(arpabet, i)
    if phoneme == "EH0" and i == 0:
        return "ɪ"
    if phoneme == "AH0" and i == 0 and arpabet[1:2] == ["N"]:
        return "ʌ"
    sound = _VOWELS.get(name, "")
    return stress + sound if stress else _UNSTRESSED.get(name, sound)


def _unstressed_i(arpabet: Sequence[str], i: int) -> str:
    after = arpabet[i + 1] if i + 1 < len(arpabet) else ""
    if after in ("D", "Z") and i + 2 == len(arpabet):
        return "ᵻ"
    clear = after in (_CLEAR_INITIAL_BEFORE if i == 0 else _CLEAR_BEFORE)
    return "ɪ" if clear or not after else "ə"


def _shorten(sounds: List[str]) -> List[str]:
    """A schwa that only carries a following l or n becomes the shorter ᵊ."""
    for i in range(1, len(sounds) - 1):
        before, after, then = sounds[i - 1], sounds[i + 1], sounds[i + 2 : i + 3]
        if sounds[i] != "ə":
            continue
        carries_l = after == "l" and not then and before in _BEFORE_SYLLABIC_L
        carries_n = after == "n" and before in _BEFORE_SYLLABIC_N and set(then) <= CONSONANTS
        if carries_l or carries_n:
            sounds[i] = "ᵊ"
    return sounds


def _flap(sounds: List[str]) -> List[str]:
    for i in range(1, len(sounds) - 1):
        weak_after = sounds[i + 1][:1] in _WEAK and sounds[i + 1 : i + 3] != ["ᵊ", "n"]
        if sounds[i] == "t" and sounds[i - 1][-1:] in FLAP_CONTEXT and weak_after:
            sounds[i] = "ɾ"
    return sounds
