"""Raw text to the words that are spoken, each with the source it stands for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import FrozenSet, Iterator, List, Optional

from edge_tts.text.characters import HAN, is_han
from edge_tts.text.cleanup import CleanText, clean
from edge_tts.text.control_words import PLACEHOLDER
from edge_tts.text.language_runs import find_runs
from edge_tts.text.reading import chinese, english, items, tables
from edge_tts.text.reading.scan import scan
from edge_tts.text.reading.units import DEFAULT, UnitTable
from edge_tts.text.reading.words import spoken_words
from edge_tts.text.report import Tally
from edge_tts.text.tokens import Language, Span, Token, TokenKind

_SPOKEN_PART = re.compile(f"[{HAN}]|,|[^\\s,{HAN}]+")
_HAN = re.compile(f"[{HAN}]")
_CAPITALS = re.compile("[A-Z]{2,}")


def normalise(
    text: str,
    *,
    language: Optional[Language] = None,
    base: int = 0,
    units: UnitTable = DEFAULT,
    tally: Optional[Tally] = None,
    control_words: FrozenSet[str] = frozenset(),
) -> List[Token]:
    """The spoken form of one paragraph as unpronounced tokens in source order.

    `language` is the one digits and signs are read in; None lets the letters around them decide,
    sentence by sentence. `base` is added to every span. Characters that no token stands for are
    counted in `tally`. A lone capital letter is the letter's name, except for the pronoun `I`.
    Each of `control_words` is a word of its own, spelt as in the text.
    """
    tally = Tally() if tally is None else tally
    cleaned = clean(text, tally, control_words)
    said = _tokens(cleaned, language, base, units, tally)
    return [_spelt(token, text, base) for token in said]


def _spelt(token: Token, text: str, base: int) -> Token:
    """The token itself, or the control word of the text that it stands for."""
    if token.text != PLACEHOLDER:
        return token
    return replace(token, text=text[token.span.start - base : token.span.end - base])


def _tokens(
    cleaned: CleanText, language: Optional[Language], base: int, units: UnitTable, tally: Tally
) -> Iterator[Token]:
    runs = find_runs(cleaned.text, language)
    in_capitals = _is_in_capitals(cleaned.text)
    for item, run_language in scan(cleaned.text, runs, units):
        start, end = cleaned.span(item.start, item.end)
        span = Span(start + base, end + base)
        if isinstance(item, items.Dropped):
            tally.add(item.kind, cleaned.text[item.start : item.end])
        elif isinstance(item, items.Mark):
            yield Token(item.text, TokenKind.PUNCTUATION, run_language, span)
        elif isinstance(item, items.Control):
            yield Token(PLACEHOLDER, TokenKind.WORD, run_language, span)
        elif isinstance(item, items.Hanzi):
            yield Token(item.text, TokenKind.WORD, Language.ZH, span)
        elif isinstance(item, items.Word):
            for said in _said_word(cleaned.text, item, in_capitals, run_language):
                yield Token(said, TokenKind.WORD, Language.EN, span)
        else:
            yield from read_item(item, run_language, span)


def read_item(item: items.Item, language: Language, span: Span) -> Iterator[Token]:
    """The words of a number, date and the like, in a language."""
    spoken = chinese.say(item) if language is Language.ZH else english.say(item)
    for part in _SPOKEN_PART.findall(spoken):
        if part == ",":
            yield Token(part, TokenKind.PUNCTUATION, language, span)
        else:
            of_part = Language.ZH if is_han(part[0]) else Language.EN
            yield Token(part, TokenKind.WORD, of_part, span)


def _is_in_capitals(text: str) -> bool:
    """Whether the text is a shout of several words, so that capitals mark no acronyms.

    Among Chinese characters, which have no case, capitals are always acronyms.
    """
    return text == text.upper() and not _HAN.search(text) and len(_CAPITALS.findall(text)) > 1


_ARTICLE_NEXT = re.compile(
    r" (?!(?:to|or|and|vs|versus|is|was|plus|minus|through)\b|[A-Z]\b)[\"“]?[A-Za-z\d$€£¥]"
)
_TITLE_AROUND = re.compile(r" [A-Z][a-z]")
_WORD_BEFORE = re.compile(r"([A-Za-z0-9]{1,20}) $")


def _is_article(text: str, item: items.Word) -> bool:
    """Tell `A train leaves` and `Once Upon A Time` from `the A train` and `Gate A`."""
    if not _ARTICLE_NEXT.match(text, item.end):
        return False
    before = _WORD_BEFORE.search(text, max(0, item.start - 22), item.start)
    if before is None:
        return True
    in_title = before.group(1).istitle() and _TITLE_AROUND.match(text, item.end)
    return bool(in_title) and before.group(1).lower() not in tables.cues("seat")


def _said_word(text: str, item: items.Word, in_capitals: bool, language: Language) -> List[str]:
    if language is Language.ZH and item.text in tables.cues("spelledinchinese"):
        return list(item.text)
    if item.text == "A":
        return ["a" if in_capitals or _is_article(text, item) else "A"]
    if len(item.text) == 1 and item.text != "a":
        return [item.text.upper()]
    return spoken_words(item.text, in_capitals)
