"""The user lexicon: words and phrases whose reading the user has fixed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, Iterable, List, Optional, Sequence, Set, Tuple

from edge_tts.text.tokens import Language, Span, Token, TokenKind

SILENT = " "


@dataclass(frozen=True)
class LexiconEntry:
    """One word or phrase as the normaliser gives it (case folded), and how it is to be read.

    Exactly one of `respelling` (unpronounced tokens) and `phonemes` (the voice's symbols, one
    string per word of `words`) is given. A word that has no sound of its own, because the whole
    phrase is written on its first word, has `SILENT`.
    """

    words: Tuple[str, ...]
    language: Language
    respelling: Tuple[Token, ...] = ()
    phonemes: Tuple[str, ...] = ()


class Lexicon:
    """An immutable set of entries; a later entry for the same words replaces an earlier one."""

    def __init__(self, entries: Iterable[LexiconEntry] = ()) -> None:
        self._entries: Dict[Tuple[str, ...], LexiconEntry] = {e.words: e for e in entries}
        lengths: Dict[str, Set[int]] = {}
        for words in self._entries:
            lengths.setdefault(words[0], set()).add(len(words))
        self._lengths = {word: sorted(found, reverse=True) for word, found in lengths.items()}

    def __len__(self) -> int:
        return len(self._entries)

    def match(self, tokens: Sequence[Token], position: int) -> Optional[LexiconEntry]:
        """The longest entry whose words are the tokens from `position` on, marks excluded."""
        for length in self._lengths.get(tokens[position].text.casefold(), ()):
            taken = tokens[position : position + length]
            # What the text itself gives phonemes for is read by them.
            if any(token.kind is not TokenKind.WORD or token.phonemes for token in taken):
                continue
            entry = self._entries.get(tuple(token.text.casefold() for token in taken))
            if entry is not None:
                return entry
        return None

    def apply(self, tokens: Sequence[Token]) -> List[Token]:
        """Tokens with respellings put in place (spans kept) and given phonemes filled in."""
        applied: List[Token] = []
        position = 0
        while position < len(tokens):
            entry = self.match(tokens, position)
            if entry is None:
                applied.append(tokens[position])
                position += 1
                continue
            matched = tokens[position : position + len(entry.words)]
            applied.extend(_replacement(entry, matched))
            position += len(matched)
        return applied

    def respell(self, tokens: Sequence[Token]) -> List[Token]:
        """`apply` for voices that read words: given phonemes mean nothing to them."""
        return [replace(token, phonemes="") for token in self.apply(tokens)]


EMPTY = Lexicon()


def _replacement(entry: LexiconEntry, matched: Sequence[Token]) -> List[Token]:
    if entry.phonemes:
        return [replace(t, phonemes=sound) for t, sound in zip(matched, entry.phonemes)]
    span = Span(matched[0].span.start, matched[-1].span.end)
    return [replace(token, span=span) for token in entry.respelling]
