"""English words in context to phonemes: choosing readings, weak forms and letter runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import List, Sequence

from edge_tts.text.g2p.english_lexicon import LEXICON_PATH, EnglishLexicon, Entry, WordClass
from edge_tts.text.g2p.english_sounds import PRIMARY, SECONDARY, with_stress
from edge_tts.text.g2p.english_words import EnglishWords
from edge_tts.text.g2p.homographs import choose, is_homograph
from edge_tts.text.g2p.inflection import add_s
from edge_tts.text.g2p.letter_to_sound import WEIGHTS_PATH, LetterToSound
from edge_tts.text.g2p.spelling_out import LETTER_NAMES, spell
from edge_tts.text.g2p.weak_forms import weak_form
from edge_tts.text.g2p.word_class import BOUNDARY, SENTENCE_END, Place
from edge_tts.text.tokens import Language, Token, TokenKind

SENTENCE_MARKS = frozenset(".!?…;:")


class EnglishG2P:
    """Fills the phonemes of English word tokens. Deterministic; keeps no state but word caches.

    Raises `ModelError` when its data files are missing or damaged.
    """

    def __init__(self, lexicon: Path = LEXICON_PATH, weights: Path = WEIGHTS_PATH) -> None:
        self._words = EnglishWords(EnglishLexicon(lexicon), LetterToSound(weights))

    def pronounce(self, tokens: Sequence[Token]) -> List[Token]:
        """The tokens of one clause or sentence, in order, English words pronounced.

        Tokens that are not English words, or already have phonemes, are returned as they are. A
        word right after another English word starts with a space; the letters of one acronym do
        not, so that GPS sounds as one word. A token without any letter gets no phonemes.
        """
        clause = _Clause(tokens, self._words)
        return [clause.pronounced(i) for i in range(len(tokens))]


class _Clause:
    """The tokens of one call, with what their pronunciation depends on."""

    def __init__(self, tokens: Sequence[Token], words: EnglishWords) -> None:
        self._tokens = tokens
        self._words = words
        self._is_english = [_is_english_word(token) for token in tokens]
        self._lower = [_lower(token) for token in tokens]
        self._all_capitals = _is_all_capitals(tokens, self._is_english)
        self._sounds = [token.phonemes.strip() for token in tokens]
        # Right to left, because a weak form depends on the sound after it.
        for i in range(len(tokens) - 1, -1, -1):
            if self._is_english[i] and not self._sounds[i]:
                self._sounds[i] = self._sound(i)

    def pronounced(self, i: int) -> Token:
        token = self._tokens[i]
        if not self._is_english[i] or token.phonemes:
            return token
        follows_word = i > 0 and self._is_english[i - 1] and self._sounds[i - 1]
        space = " " if follows_word and self._sounds[i] and not self._continues_letters(i) else ""
        return dataclasses.replace(token, phonemes=space + self._sounds[i])

    def _sound(self, i: int) -> str:
        if self._is_letter(i):
            return self._letter(i)
        word = self._lower[i]
        following = self._following(i)
        weak = weak_form(word, following)
        if weak is not None:
            return weak
        entry = self._words.entry(self._tokens[i].text, self._starts_sentence(i))
        reading = self._reading(i, entry, following)
        return reading if self._all_capitals else _emphasised(reading, self._tokens[i].text)

    def _reading(self, i: int, entry: Entry, following: str) -> str:
        word = self._lower[i]
        if not entry.variants and not is_homograph(word):
            return entry.default
        if WordClass.FINAL in entry.variants:
            return entry.reading(None if following else WordClass.FINAL)
        if WordClass.SPELLED in entry.variants and not self._all_capitals:
            return spell(word) if self._tokens[i].text.isupper() else entry.default
        choice = choose(Place(self._lower, i), entry)
        return entry.reading(choice) if isinstance(choice, WordClass) else choice or entry.default

    def _following(self, i: int) -> str:
        """The sound after word `i` with no pause between; "" where there is none."""
        if i + 1 == len(self._tokens) or self._tokens[i + 1].kind is not TokenKind.WORD:
            return ""
        return self._sounds[i + 1]

    def _starts_sentence(self, i: int) -> bool:
        return i == 0 or self._tokens[i - 1].kind is not TokenKind.WORD

    def _is_letter(self, i: int) -> bool:
        """Whether token `i` is a letter read by its name, not the word `a` or `I`."""
        text = self._tokens[i].text
        if not _is_single_letter(text):
            return False
        if text not in ("a", "A", "I"):
            return True
        if self._continues_letters(i) or self._continues_letters(i + 1):
            return True
        return text != "a" and (self._is_part_of_code(i) or self._names_thing(i))

    def _is_part_of_code(self, i: int) -> bool:
        """`A47`, `I-95`: written together with a spoken neighbour."""
        return self._is_joined(i) or self._is_joined(i + 1)

    def _names_thing(self, i: int) -> bool:
        """`Gate A`, `the A train`, `A区`: a capital A where no article can stand."""
        if self._tokens[i].text != "A" or self._all_capitals:
            return False
        after = Place(self._lower, i).after
        return not self._starts_sentence(i) or after in (BOUNDARY, "to", "or", "and", "is")

    def _continues_letters(self, i: int) -> bool:
        """Whether tokens `i - 1` and `i` are letters of one acronym."""
        if not self._is_joined(i):
            return False
        return all(_is_single_letter(token.text) for token in self._tokens[i - 1 : i + 1])

    def _is_joined(self, i: int) -> bool:
        """Whether tokens `i - 1` and `i` are English words written as one."""
        if not 0 < i < len(self._tokens) or not (self._is_english[i - 1] and self._is_english[i]):
            return False
        left, right = self._tokens[i - 1].span, self._tokens[i].span
        return left == right or left.end == right.start

    def _letter(self, i: int) -> str:
        text = self._tokens[i].text
        name = LETTER_NAMES[text[0].lower()]
        if self._continues_letters(i + 1):
            name = name.replace(PRIMARY, SECONDARY)
        return add_s(name) if len(text) > 1 else name


def _lower(token: Token) -> str:
    """The token as `Place` wants it."""
    if _is_english_word(token):
        return token.text.lower().replace("’", "'")
    return SENTENCE_END if token.text in SENTENCE_MARKS else BOUNDARY


def _is_english_word(token: Token) -> bool:
    return token.kind is TokenKind.WORD and token.language is Language.EN


def _is_single_letter(text: str) -> bool:
    """One ASCII letter, perhaps a capital with a plural or possessive ending (`Cs`, `C's`)."""
    letter, ending = text[:1], text[1:]
    if not (letter.isascii() and letter.isalpha()):
        return False
    return ending == "" or (
        letter.isupper() and ending in ("s", "'s", "’s") and text not in ("As", "Is", "Us")
    )


def _is_all_capitals(tokens: Sequence[Token], is_english: Sequence[bool]) -> bool:
    """Whether capitals mean nothing here, because every longer word is written in them."""
    words = [token.text for token, english in zip(tokens, is_english) if english]
    longer = [word for word in words if len(word) > 1]
    return len(longer) > 1 and all(word.isupper() for word in longer)


def _emphasised(sound: str, text: str) -> str:
    """A function word gets a stress from its capitals: the main one when all are capitals."""
    if text == text.lower():
        return sound
    mark = PRIMARY if text.isupper() and len(text) > 1 else SECONDARY
    return with_stress(sound, mark)
