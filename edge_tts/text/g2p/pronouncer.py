"""Tokens to exactly the symbols the Kokoro model reads, marks and spaces included."""

from __future__ import annotations

from dataclasses import replace
from typing import List, Optional, Sequence

from edge_tts.text.boundaries import is_word
from edge_tts.text.g2p import borrowed
from edge_tts.text.g2p.chinese import ChineseG2P
from edge_tts.text.g2p.english import EnglishG2P
from edge_tts.text.g2p.vocabulary import fit
from edge_tts.text.lexicon import EMPTY, Lexicon
from edge_tts.text.report import NO_SYMBOL, UNPRONOUNCED, Tally
from edge_tts.text.spoken import needs_space
from edge_tts.text.tokens import Language, Token


class Pronouncer:
    """User lexicon, then Chinese, then English; one sentence at a time. Not thread-safe."""

    def __init__(
        self, chinese: Optional[ChineseG2P] = None, english: Optional[EnglishG2P] = None
    ) -> None:
        self._chinese = chinese or ChineseG2P()
        self._english = english or EnglishG2P()

    def pronounce(
        self, tokens: Sequence[Token], lexicon: Lexicon = EMPTY, tally: Optional[Tally] = None
    ) -> List[Token]:
        """The tokens with phonemes; a token ends in a space where the next one needs one.

        `lexicon` may put other tokens in place of some. What cannot be pronounced is counted in
        `tally`; it is never dropped unseen.
        """
        tally = tally if tally is not None else Tally()
        given = lexicon.apply(tokens)
        read = self._english.pronounce(self._chinese.pronounce(borrowed.adapt(given)))
        sounds = [_sound(before, after, tally) for before, after in zip(given, read)]
        _silence_repeated_marks(read, sounds)
        return _spaced(given, read, sounds)


def _sound(given: Token, read: Token, tally: Tally) -> str:
    """What stands for one token, without the spaces around it."""
    if given.phonemes:
        # What the user's lexicon gave is not for the engines to change.
        return given.phonemes.strip(" ")
    sound, unknown = fit(read.phonemes.strip(" ") if is_word(read) else read.text)
    tally.add(NO_SYMBOL, unknown)
    if is_word(read) and not sound:
        tally.add(UNPRONOUNCED, read.text)
    return sound


def _silence_repeated_marks(tokens: Sequence[Token], sounds: List[str]) -> None:
    for position in range(1, len(tokens)):
        left, right = tokens[position - 1], tokens[position]
        if not is_word(right) and left.text == right.text:
            sounds[position] = ""


def _spaced(given: Sequence[Token], read: Sequence[Token], sounds: Sequence[str]) -> List[Token]:
    """Tokens with their sounds; a space goes to the end of the last token that has a sound."""
    spaced: List[Token] = []
    wants_space = False
    for position in range(len(read) - 1, -1, -1):
        if position + 1 < len(read):
            wants_space = wants_space or _is_spaced(given, read, position)
        sound = sounds[position]
        spaced.append(replace(read[position], phonemes=sound + " " * (wants_space and sound != "")))
        wants_space = wants_space and not sound
    spaced.reverse()
    return spaced


def _is_spaced(given: Sequence[Token], read: Sequence[Token], position: int) -> bool:
    """As in writing; within one language, where its engine found a word to begin."""
    left, right = read[position], read[position + 1]
    if not (is_word(left) and is_word(right) and left.language is right.language):
        return needs_space(read, position)
    is_given_word = right.language is Language.EN and given[position + 1].phonemes != ""
    return right.phonemes.startswith(" ") or is_given_word
