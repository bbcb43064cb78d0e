"""Letters and English words as they sound inside a Chinese sentence.

A Chinese speaker says these in syllables of Mandarin, and the voice, which runs English into the
next syllable, is understood better so: a recogniser heard H for the A of A区, 我给 for OK and
挖发 for WiFi. Error over one or two sentences each (zf_xiaobei), English sounds and these: OK 40
and 0 %, APP 43 and 14 %, WiFi 35 and 0 %, CA 11 and 6 %. Letters that gained nothing stay English.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, List, Sequence, Tuple

from edge_tts.text.boundaries import is_word
from edge_tts.text.tokens import Language, Token

_WORDS = {"okay": "ou→kʰei→", "Wi-Fi": "wˈIfˈIː", "A": "ei→", "G": "ʤˈi→"}
_ACRONYM_LETTERS = {"A": "ei→", "C": "sei→", "F": "ˈɛf→", "K": "kʰei→", "P": "pʰi→"}
"""Only acronyms made of these alone (APP, CA, KFC) were measured to gain."""


def adapt(tokens: Sequence[Token]) -> List[Token]:
    """The tokens, unpronounced, with the sounds of those that Chinese characters surround."""
    adapted = list(tokens)
    for start, end in _items(tokens):
        sounds = _sounds([token.text for token in tokens[start:end]])
        free = all(not token.phonemes for token in tokens[start:end])
        if sounds and free and _is_among_chinese(tokens, start, end):
            adapted[start:end] = [
                replace(token, phonemes=sound) for token, sound in zip(tokens[start:end], sounds)
            ]
    return adapted


def _items(tokens: Sequence[Token]) -> Iterator[Tuple[int, int]]:
    """Ranges of the English words that stand alone, and of the letters of one acronym."""
    start = 0
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and _is_same_acronym(tokens[end - 1], tokens[end]):
            end += 1
        if tokens[start].language is Language.EN:
            yield start, end
        start = end


def _is_same_acronym(left: Token, right: Token) -> bool:
    letters = len(left.text) == len(right.text) == 1 and (left.text + right.text).isupper()
    return letters and left.span == right.span and left.language is right.language is Language.EN


def _sounds(texts: Sequence[str]) -> List[str]:
    if len(texts) == 1:
        return [_WORDS[texts[0]]] if texts[0] in _WORDS else []
    known = all(text in _ACRONYM_LETTERS for text in texts)
    return (
        [" " * (at > 0) + _ACRONYM_LETTERS[text] for at, text in enumerate(texts)] if known else []
    )


def _is_among_chinese(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether no English word stands on either side, and a Chinese character on the right one.

    An acronym may also end a phrase that Chinese begins.
    """
    before = tokens[start - 1] if start else None
    after = tokens[end] if end < len(tokens) else None
    if any(near and is_word(near) and near.language is Language.EN for near in (before, after)):
        return False
    if after and is_word(after):
        return True
    return end - start > 1 and before is not None and is_word(before)
