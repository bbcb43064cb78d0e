"""One English word, out of context: every reading it may have.

Asked in turn: the lexicon, the rules of inflection, spelling out, the seams of the spelling,
compounds of known words, pinyin names, and the letter-to-sound network.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Iterator, List, Optional, Tuple

from edge_tts.text.g2p.english_lexicon import EnglishLexicon, Entry
from edge_tts.text.g2p.english_sounds import PRIMARY, SECONDARY, demoted, has_stress, with_stress
from edge_tts.text.g2p.inflection import add_s, derive
from edge_tts.text.g2p.letter_to_sound import LetterToSound
from edge_tts.text.g2p.pinyin_names import pinyin_name
from edge_tts.text.g2p.spelling_out import fold, is_pronounceable, is_spelled, parts, spell

_IRISH_NAME = re.compile("[Oo]'([A-Z]?[a-z]{2,30})")
CACHED_WORDS = 4096
MAX_LEXICON_LETTERS = 64
MIN_COMPOUND_PART_LETTERS = 4
_LETTER_SEQUENCE_LETTERS = 4
# These keep their hyphen because the closed spelling is another word: re-sign, co-op.
_OPEN_PREFIXES = frozenset(("re", "co", "pre", "un"))


class EnglishWords:
    """Pronounces single words. Never fails on a word; what has no letters gets no phonemes."""

    def __init__(self, lexicon: EnglishLexicon, letter_to_sound: LetterToSound) -> None:
        self._lexicon = lexicon
        self._letter_to_sound = letter_to_sound
        self._cached = lru_cache(maxsize=CACHED_WORDS)(self._entry)

    def entry(self, word: str, starts_sentence: bool = False) -> Entry:
        """Readings of `word`, whose accents and case count.

        A capital that only marks the start of a sentence says nothing: `starts_sentence` prefers
        the common word (polish, nice, may) to the name.
        """
        pronounce = self._cached if len(word) <= MAX_LEXICON_LETTERS else self._entry
        return pronounce(word, starts_sentence)

    def _entry(self, word: str, starts_sentence: bool) -> Entry:
        accented = (
            None if word.isascii() else self._lexicon.find(word.lower()[:MAX_LEXICON_LETTERS])
        )
        folded = fold(word).strip("'-./")
        if accented is not None or not folded:
            return accented or Entry("", {})
        known = self._known(folded, starts_sentence) if len(folded) <= MAX_LEXICON_LETTERS else None
        return known or Entry(self._unknown(folded), {})

    def _known(self, word: str, starts_sentence: bool) -> Optional[Entry]:
        spellings = list(_spellings(word, starts_sentence))
        for spelling in spellings:
            entry = self._lexicon.find(spelling)
            if entry is not None:
                return entry
        if len(word) <= 2 or is_spelled(word):
            return None
        for spelling in spellings:
            entry = derive(spelling, self._lexicon.find)
            if entry is not None:
                return entry
        return None

    def _unknown(self, word: str) -> str:
        if word.endswith("'s"):
            return add_s(self._unknown_stem(word[:-2]))
        return self._unknown_stem(word)

    def _unknown_stem(self, word: str) -> str:
        if is_spelled(word):
            return _spelled(word)
        if "-" in word:
            return self._hyphenated(word)
        return self._irish(word) or self._compound_or_guess(word)

    def _irish(self, word: str) -> str:
        match = _IRISH_NAME.fullmatch(word)
        return f"O{self._piece(match.group(1))}" if match else ""

    def _compound_or_guess(self, word: str) -> str:
        pieces = parts(word)
        if len(pieces) > 1:
            return _compound([self._piece(piece) for piece in pieces])
        compound = self._split(word.lower()) if len(word) <= MAX_LEXICON_LETTERS else None
        if compound is not None:
            return _compound([self._piece(part) for part in compound])
        letters = "".join(letter for letter in word if letter.isalpha())
        if len(letters) <= _LETTER_SEQUENCE_LETTERS and not is_pronounceable(letters):
            return spell(letters)
        guess = pinyin_name(word) or self._letter_to_sound.pronounce(letters)
        return with_stress(guess, PRIMARY)

    def _hyphenated(self, word: str) -> str:
        """`turn-by-turn`: a phrase in one breath; `e-mail` is the word without its hyphen."""
        pieces = [piece for piece in word.split("-") if piece]
        closed = (
            None
            if pieces[0].lower() in _OPEN_PREFIXES
            else self._lexicon.find("".join(pieces).lower())
        )
        if closed is not None:
            return closed.default
        sounds = [self._piece(piece) for piece in pieces]
        # The particle of `warm-up` is not the weak form of the preposition.
        return " ".join([*sounds[:-1], with_stress(sounds[-1], SECONDARY)])

    def _piece(self, word: str) -> str:
        return self.entry(word).default

    def _split(self, word: str) -> Optional[Tuple[str, str]]:
        """The two known words `word` is made of, cut as near its middle as possible."""
        cuts = range(MIN_COMPOUND_PART_LETTERS, len(word) - MIN_COMPOUND_PART_LETTERS + 1)
        for cut in sorted(cuts, key=lambda cut: abs(2 * cut - len(word))):
            left, right = word[:cut], word[cut:]
            if self._is_part(left) and self._is_part(right):
                return left, right
        return None

    def _is_part(self, word: str) -> bool:
        entry = self._lexicon.find(word)
        return entry is not None and has_stress(entry.default)


def _spellings(word: str, starts_sentence: bool) -> Iterator[str]:
    """Spellings under which the lexicon may hold `word`, best first."""
    lower = word.lower()
    capital = lower[:1].upper() + lower[1:]
    if starts_sentence and word == capital:
        yield lower
    yield word
    yield lower
    yield capital
    if word != lower:
        yield word.upper()


def _spelled(word: str) -> str:
    return add_s(spell(word[:-1])) if word.endswith("s") else spell(word)


def _compound(sounds: List[str]) -> str:
    """Words spoken as one: the first keeps its stress, the others step back."""
    spoken = [sound for sound in sounds if sound]
    head = [with_stress(sound, PRIMARY) for sound in spoken[:1]]
    return "".join(head + [demoted(sound) for sound in spoken[1:]])
