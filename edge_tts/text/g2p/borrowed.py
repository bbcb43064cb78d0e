"""Letters and English words as they sound inside a Chinese sentence.

A Chinese speaker's English ends where the next syllable begins, and the voice runs the two
together: a recogniser heard H for the A of A区, 挖发 for WiFi. With these sounds it heard A in
A区, and read 0 % instead of 20 and 50 % of two sentences with WiFi wrong (zf_xiaobei).
"""

from __future__ import annotations

from dataclasses import replace
from typing import List, Sequence

from edge_tts.text.boundaries import is_word
from edge_tts.text.tokens import Language, Token

_SOUNDS = {"A": "ei→", "G": "ʤˈi→", "Wi-Fi": "wˈIfˈIː"}


def adapt(tokens: Sequence[Token]) -> List[Token]:
    """The tokens, unpronounced, with the sound of those that stand before a Chinese character."""
    adapted = list(tokens)
    for position, token in enumerate(adapted):
        sound = _SOUNDS.get(token.text) if token.language is Language.EN else None
        if sound and not token.phonemes and _stands_alone(tokens, position):
            adapted[position] = replace(token, phonemes=sound)
    return adapted


def _stands_alone(tokens: Sequence[Token], position: int) -> bool:
    """Whether Chinese follows, and no other letter of the same acronym stands before."""
    following = tokens[position + 1 : position + 2]
    if not following or not is_word(following[0]) or following[0].language is not Language.ZH:
        return False
    preceding = tokens[position - 1] if position else None
    return preceding is None or preceding.language is Language.ZH or not is_word(preceding)
