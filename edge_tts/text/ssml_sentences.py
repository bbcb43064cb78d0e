"""The pieces of an SSML document as sentences of tokens, ready to be pronounced and divided."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

from edge_tts.errors import InputError
from edge_tts.text import ssml
from edge_tts.text.boundaries import SENTENCE_MARKS, is_word, sentences, with_stop
from edge_tts.text.characters import HAN
from edge_tts.text.g2p.pinyin import parse_syllable, syllable_phonemes
from edge_tts.text.g2p.vocabulary import fit
from edge_tts.text.lexicon import SILENT
from edge_tts.text.paragraphs import Break, paragraphs
from edge_tts.text.segment import Sentence
from edge_tts.text.ssml_say_as import say_as
from edge_tts.text.tokens import PLAIN, Language, Token, Voicing

Normalise = Callable[[str, Optional[Language]], List[Token]]
"""Unpronounced tokens of a text in a language (None: by its letters), spans within the text."""

_HAN = re.compile(f"[{HAN}]")
_PINYIN = ("pinyin", "x-pinyin", "x-amazon-pinyin")
_MAX_PHONEMES = 120


@dataclass
class _Pending:
    """Tokens that have not come to their end."""

    tokens: List[Token] = field(default_factory=list)
    voicing: Voicing = PLAIN

    def take(self, end: Break = Break.NONE) -> Iterator[Sentence]:
        """The sentences so far, the last one ended by `end`."""
        return self._sentences(end, None)

    def close(self, end: Break) -> Iterator[Sentence]:
        """The sentences so far; the last one gets a full stop where it has no mark."""
        if self.tokens:
            self.tokens = list(with_stop(tuple(self.tokens)))
        return self._sentences(end, None)

    def cut(self, *, pauses: bool = True) -> Iterator[Sentence]:
        """The sentences so far; a last one without an end goes on without a pause.

        Not `pauses`: nor does any other, for the silence that follows is given.
        """
        ended = bool(self.tokens) and self.tokens[-1].text in SENTENCE_MARKS
        return self._sentences(Break.NONE, None if ended and pauses else 0.0)

    def _sentences(self, end: Break, pause_s: Optional[float]) -> Iterator[Sentence]:
        tokens, self.tokens = self.tokens, []
        divided = sentences(tokens)
        for position, sentence in enumerate(divided, 1):
            if position < len(divided):
                yield Sentence(sentence, voicing=self.voicing)
            else:
                yield Sentence(sentence, end, voicing=self.voicing, pause_s=pause_s)


def read(pieces: Sequence[ssml.Piece], normalise: Normalise) -> Iterator[Sentence]:
    """Yield the document's sentences and silences in order, reading ahead no further than one."""
    pending = _Pending()
    usual = _usual_language(pieces)
    open_mark: Optional[ssml.Mark] = None
    for piece in pieces:
        if isinstance(piece, ssml.Run):
            if piece.voicing != pending.voicing:
                changes_speaker = piece.voicing.speaker != pending.voicing.speaker
                yield from pending.close(Break.LINE) if changes_speaker else pending.cut()
                pending.voicing = piece.voicing
            for tokens, goes_on in _read_run(piece, normalise, pending, usual):
                pending.tokens += tokens
                open_mark = None if any(map(is_word, tokens)) else open_mark
                if goes_on:
                    yield from pending.take()
        elif isinstance(piece, ssml.Stop):
            yield from pending.close(piece.end)
        elif isinstance(piece, ssml.Mark):
            yield from pending.cut()
            open_mark = piece
        else:
            yield from pending.cut(pauses=False)
            yield Sentence((), pause_s=piece.duration_s, silent_at=piece.at)
            open_mark = None
    yield from pending.close(Break.BLANK)
    if open_mark is not None:
        yield Sentence((), pause_s=0.0, silent_at=open_mark.at)


def _usual_language(pieces: Sequence[ssml.Piece]) -> Language:
    has_han = any(isinstance(piece, ssml.Run) and _HAN.search(piece.text) for piece in pieces)
    return Language.ZH if has_han else Language.EN


def _read_run(
    run: ssml.Run, normalise: Normalise, pending: _Pending, usual: Language
) -> Iterator[Tuple[List[Token], bool]]:
    """Tokens of a run in parts, and whether a sentence has ended before the next part."""
    if run.reading is None:
        for paragraph in paragraphs(run.text):
            tokens = normalise(paragraph.text, run.language)
            placed = [_placed(token, run, paragraph.base) for token in tokens]
            yield placed, paragraph.end is Break.NONE
        return
    before = pending.tokens[-1].language if pending.tokens else usual
    tokens = _reread(run, run.reading, normalise, run.language or before)
    yield tokens, False


def _reread(
    run: ssml.Run, reading: ssml.Reading, normalise: Normalise, language: Language
) -> List[Token]:
    whole = ssml.span(run, 0, len(run.text))
    if reading.kind == "sub":
        return [replace(t, span=whole) for t in normalise(reading.value, run.language)]
    if reading.kind == "say-as":
        tokens = say_as(reading.value, reading.detail, run.text, language)
        return [_placed(token, run, 0) for token in tokens]
    words = [t for t in normalise(run.text, run.language) if is_word(t)]
    sounds = _phonemes(reading, [token.text for token in words])
    return [replace(t, phonemes=sound, span=whole) for t, sound in zip(words, sounds)]


def _phonemes(reading: ssml.Reading, words: Sequence[str]) -> List[str]:
    """The sound of each of `words`, the whole on the first where it is not given by syllable."""
    if len(reading.value) > _MAX_PHONEMES:
        raise _fault(f"give 1 to {_MAX_PHONEMES} characters of phonemes")
    if not words:
        raise _fault(f"the text that is pronounced {reading.value[:40]!r} has no word in it")
    alphabet = reading.detail.strip().lower()
    if alphabet == "ipa":
        return [_ipa(reading.value), *[SILENT] * (len(words) - 1)]
    if alphabet not in _PINYIN:
        raise _fault(f"alphabet={alphabet[:40]!r} is not known; known: ipa, pinyin")
    sounds = [_syllable(syllable) for syllable in reading.value.split()]
    if len(sounds) == len(words):
        return sounds
    return [" ".join(sounds), *[SILENT] * (len(words) - 1)]


def _ipa(written: str) -> str:
    phonemes, unknown = fit(written)
    if unknown:
        raise _fault(f"no voice has a symbol for {unknown[:40]!r} in ph={written[:40]!r}")
    return phonemes


def _syllable(pinyin: str) -> str:
    try:
        return syllable_phonemes(parse_syllable(pinyin))
    except ValueError as error:
        raise _fault(str(error)) from error


def _placed(token: Token, run: ssml.Run, base: int) -> Token:
    """The token with its span in the source instead of the run's text."""
    start, end = token.span.start + base, token.span.end + base
    return replace(token, span=ssml.span(run, start, end))


def _fault(problem: str) -> InputError:
    return InputError(f"phoneme: {problem}", code="input.ssml_invalid")
