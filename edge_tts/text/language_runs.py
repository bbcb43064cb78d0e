"""Which language each part of a text is read in: letters decide, digits and signs follow.

Chinese characters are always Chinese and Latin words always English; the question is only in which
language the neutral characters between them (digits, units, signs) are read. A Chinese sentence
keeps its digits Chinese around product names and codes (`请到B12登机口`), while an English phrase
inside it, or an English sentence with a Chinese name in it, reads its own digits in English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, List, Optional, Tuple

from edge_tts.text.characters import HAN, LATIN
from edge_tts.text.reading import tables
from edge_tts.text.tokens import Language

_TAG = re.compile(r"\[LNG(zh|en)\]")
_SENTENCE_END = re.compile(r"[。！？；\n]|[!?;](?=\s|$)|\.(?=\s|$)")
_PIECE = re.compile(f"[{HAN}]+|[{LATIN}][{LATIN}']*")
_HAN_PIECE = re.compile(f"[{HAN}]+")
_DIGIT_END = re.compile(r"\d ?$")
_ADDRESS_BEFORE = re.compile(r"\w[@._/]$|/$")
_ADDRESS_AFTER = re.compile(r"[@._/:][\w/]")
_UNIT_LETTERS = 4
_CHINESE_MARK = re.compile("[，。！？：；、（）《》「」『』【】¥]")


@dataclass(frozen=True)
class Run:
    """A stretch whose neutral characters are read in `language`."""

    start: int
    end: int
    language: Language


def tags(text: str) -> Iterator[Tuple[int, int, Language]]:
    """Explicit language tags in `text`: start, end and the language each switches to."""
    for match in _TAG.finditer(text):
        yield match.start(), match.end(), Language(match.group(1))


def find_runs(text: str, language: Optional[Language] = None) -> List[Run]:
    """Cut `text` into runs in order, without gaps; `language` settles untagged parts."""
    runs: List[Run] = []
    at, forced = 0, language
    for start, end, tagged in [*tags(text), (len(text), len(text), None)]:
        if forced is not None:
            runs.append(Run(at, start, forced))
        else:
            runs.extend(_automatic(text, at, start))
        runs.append(Run(start, end, tagged or forced or Language.EN))
        at, forced = end, tagged
    return [run for run in runs if run.end > run.start]


def _automatic(text: str, start: int, end: int) -> Iterator[Run]:
    dominant = _dominant(text[start:end])
    for left, right in _sentences(text, start, end):
        yield from _sentence_runs(text, left, right, dominant)


def _dominant(text: str) -> Language:
    n_han = sum(len(match.group()) for match in _HAN_PIECE.finditer(text))
    if n_han:
        n_words = sum(1 for match in _PIECE.finditer(text) if _is_word(match.group()))
        return Language.ZH if n_han >= n_words else Language.EN
    has_letters = any(not _touches_number(text, match) for match in _PIECE.finditer(text))
    return Language.ZH if not has_letters and _CHINESE_MARK.search(text) else Language.EN


def _touches_number(text: str, match: "re.Match[str]") -> bool:
    """Whether a few letters are a unit or part of a code: `5 mm`, `-5°C`, `CO2`."""
    before, after = text[max(0, match.start() - 2) : match.start()], text[match.end() :][:1]
    touches = _DIGIT_END.search(before) or before.endswith("°") or after.isdigit()
    return bool(touches) and len(match.group()) <= _UNIT_LETTERS


def _sentences(text: str, start: int, end: int) -> Iterator[Tuple[int, int]]:
    at = start
    for match in _SENTENCE_END.finditer(text, start, end):
        yield at, match.end()
        at = match.end()
    if at < end:
        yield at, end


def _is_word(piece: str) -> bool:
    """A written-out English word, unlike a code, a unit or an acronym."""
    if piece in ("a", "I"):
        return True
    return not _HAN_PIECE.match(piece) and piece != piece.upper() and len(piece) > 1


def _sentence_runs(text: str, start: int, end: int, dominant: Language) -> Iterator[Run]:
    hans = list(_HAN_PIECE.finditer(text, start, end))
    if not hans:
        english = bool(_words(text, start, end))
        yield Run(start, end, Language.EN if english else dominant)
        return
    english_sentence = _is_english_sentence(text, start, end, hans)
    at = start
    for han in [*hans, None]:
        stop = end if han is None else han.start()
        yield from _stretch_runs(text, at, stop, english_sentence)
        if han is not None:
            yield Run(han.start(), han.end(), Language.ZH)
            at = han.end()


def _is_english_sentence(text: str, start: int, end: int, hans: "List[re.Match[str]]") -> bool:
    words = _words(text, start, end)
    n_han = sum(len(han.group()) for han in hans)
    has_function_word = any(word.lower() in tables.cues("function") for word in words)
    return has_function_word and 2 * len(words) > n_han


def _words(text: str, start: int, end: int) -> List[str]:
    """Written-out English words of the range, but for units after a digit and addresses."""
    return [
        match.group()
        for match in _PIECE.finditer(text, start, end)
        if _is_word(match.group()) and not _is_unit(text, match) and not _is_in_address(text, match)
    ]


def _is_unit(text: str, match: "re.Match[str]") -> bool:
    before = text[max(0, match.start() - 2) : match.start()]
    return len(match.group()) <= _UNIT_LETTERS and _DIGIT_END.search(before) is not None


def _is_in_address(text: str, match: "re.Match[str]") -> bool:
    before = text[max(0, match.start() - 2) : match.start()]
    return bool(_ADDRESS_BEFORE.search(before) or _ADDRESS_AFTER.match(text, match.end()))


_TOUCHING_TAIL = re.compile(r"[\dA-Z.,:/%+~-]{1,30}$")
_TOUCHING_HEAD = re.compile(r"[\dA-Z.,:/%+~-]*[\dA-Z](?![a-z])")


def _stretch_runs(text: str, start: int, end: int, english_sentence: bool) -> Iterator[Run]:
    """Runs of what stands between two Chinese characters; digits touching one are Chinese."""
    if start == end:
        return
    if not _is_phrase(text, start, end, english_sentence):
        yield Run(start, end, Language.ZH)
        return
    head = start
    if start > 0 and _HAN_PIECE.match(text, start - 1):
        match = _TOUCHING_HEAD.match(text, start, end)
        head = match.end() if match else start
    tail = end
    if end < len(text) and _HAN_PIECE.match(text, end):
        match = _TOUCHING_TAIL.search(text, max(head, end - 30), end)
        tail = match.start() if match else end
    for left, right, language in (
        (start, head, Language.ZH),
        (head, tail, Language.EN),
        (tail, end, Language.ZH),
    ):
        if right > left:
            yield Run(left, right, language)


def _is_phrase(text: str, start: int, end: int, english_sentence: bool) -> bool:
    """Whether a stretch is a phrase of English rather than names in a Chinese sentence."""
    if english_sentence:
        return True
    words = _words(text, start, end)
    has_function_word = any(word.lower() in tables.cues("function") for word in words)
    return len(words) > 1 and (has_function_word or sum(map(str.islower, words)) > 1)
