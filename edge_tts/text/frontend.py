"""The text front end: from raw text of any length to segments a voice can render, lazily."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import (
    TYPE_CHECKING,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from edge_tts.text.boundaries import DEFAULT_PAUSES, PauseTable, is_word, sentences, with_stop
from edge_tts.text.lexicon import EMPTY, Lexicon
from edge_tts.text.normalise import normalise
from edge_tts.text.paragraphs import Break, Paragraph, paragraphs
from edge_tts.text.report import Report, Tally
from edge_tts.text.segment import DEFAULT_SIZES, Measure, Segmenter, SegmentSizes, Sentence
from edge_tts.text.tags import stretches
from edge_tts.text.tokens import PLAIN, Language, Segment, Span, Token, Voicing

if TYPE_CHECKING:
    from edge_tts.text.g2p.pronouncer import Pronouncer
    from edge_tts.text.lexicon_file import UserLexicon

MAX_WORD_LETTERS = 32
"""Longer words are cut; spelled letter by letter, one of these still fits every voice."""

_WHITE_SPACE = re.compile(r"[\n\r\t\v\f\x85\u2028\u2029]")
_LANGUAGE_TAG = re.compile(r"\[LNG(zh|en)\]")


class FrontEnd:
    """Turns text into segments. One per worker thread; holds no text between utterances.

    Without a `pronouncer` the tokens keep empty phonemes, for voices that read words; `measure`
    then has to size unpronounced tokens. `control_words` are those of `text.control_words` that the
    voice obeys; others are not spoken. `speakers` are those that a text may name; None leaves the
    names unchecked.
    """

    def __init__(  # noqa: PLR0913 - all but three are named
        self,
        pronouncer: Optional["Pronouncer"],
        measure: Measure,
        limit: int,
        *,
        lexicon: Optional["UserLexicon"] = None,
        sizes: SegmentSizes = DEFAULT_SIZES,
        pauses: PauseTable = DEFAULT_PAUSES,
        control_words: FrozenSet[str] = frozenset(),
        speakers: Optional[Sequence[str]] = None,
    ) -> None:
        self._pronouncer = pronouncer
        self._control_words = control_words
        self._speakers = speakers
        self._user_lexicon = lexicon
        self._segmenter = Segmenter(measure, limit, sizes, pauses)
        self._tally = Tally()

    @property
    def report(self) -> Report:
        """What the latest utterance held that is not spoken, as far as it has been read."""
        return self._tally.report()

    def segments(
        self,
        text: Union[str, Iterable[str]],
        language: Optional[Language] = None,
        tally: Optional[Tally] = None,
        *,
        ssml: bool = False,
    ) -> Iterator[Segment]:
        """Yield the segments of `text`, reading no further ahead than one paragraph.

        With `ssml` it is an SSML document, which is read whole.

        Text without a word yields nothing; `report` then says what it held. A `tally` of one's own
        counts the same, for who reads several texts by turns. The last segment has the pause
        `end_s`, but for a live stream (an iterator), whose end is not known in time.
        """
        tally = Tally() if tally is None else tally
        self._tally = tally
        lexicon = self._user_lexicon.current() if self._user_lexicon else EMPTY
        if ssml:
            found = self._ssml_sentences(text, language, tally)
        else:
            found = self._sentences(text, language, tally)
        if ssml or isinstance(text, (str, Sequence)):
            found = _mark_last(found)
        return self._segmenter.segments(self._pronounced(found, lexicon, tally))

    def _sentences(
        self, text: Union[str, Iterable[str]], language: Optional[Language], tally: Tally
    ) -> Iterator[Sentence]:
        voicing = PLAIN
        for part, speaker in self._speaker_parts(text):
            voicing = Voicing(speaker) if speaker else voicing
            tokens = self._tokens(part.text, part.base, language, tally)
            language = _language_after(part, language)
            divided = sentences(tokens)
            for position, sentence in enumerate(divided, 1):
                end = part.end if position == len(divided) else Break.NONE
                said = sentence if end is Break.NONE else with_stop(sentence)
                yield Sentence(said, end, voicing=voicing)

    def _speaker_parts(
        self, text: Union[str, Iterable[str]]
    ) -> Iterator[Tuple[Paragraph, Optional[str]]]:
        """Paragraphs, cut where a tag names another speaker, and the speaker named before them."""
        for paragraph in paragraphs(text):
            found = list(stretches(paragraph.text, self._speakers))
            for position, stretch in enumerate(found, 1):
                end = paragraph.end if position == len(found) else Break.LINE
                part = Paragraph(stretch.text, paragraph.base + stretch.start, end)
                yield part, stretch.speaker

    def _ssml_sentences(
        self, text: Union[str, Iterable[str]], language: Optional[Language], tally: Tally
    ) -> Iterator[Sentence]:
        from edge_tts.text import ssml, ssml_sentences

        pieces = ssml.parse(text if isinstance(text, str) else "".join(text), language)
        ssml.check_speakers(pieces, self._speakers)
        return ssml_sentences.read(
            pieces, lambda part, said_in: self._tokens(part, 0, said_in, tally)
        )

    def _tokens(
        self, text: str, base: int, language: Optional[Language], tally: Tally
    ) -> List[Token]:
        text = _WHITE_SPACE.sub(" ", text)
        if not text.strip():
            return []
        tokens = normalise(
            text, language=language, base=base, tally=tally, control_words=self._control_words
        )
        return [part for token in tokens for part in _bounded_words(token)]

    def _pronounced(
        self, found: Iterable[Sentence], lexicon: Lexicon, tally: Tally
    ) -> Iterator[Sentence]:
        for sentence in found:
            if sentence.silent_at is not None:
                yield sentence
                continue
            if self._pronouncer is None:
                tokens = lexicon.respell(sentence.tokens)
            else:
                tokens = self._pronouncer.pronounce(sentence.tokens, lexicon, tally)
                # Words that all lack phonemes are in the report; their marks alone are noise.
                if not any(is_word(token) and token.phonemes for token in tokens):
                    continue
            yield replace(sentence, tokens=tuple(tokens))


def _mark_last(found: Iterator[Sentence]) -> Iterator[Sentence]:
    current = next(found, None)
    while current is not None:
        following = next(found, None)
        yield replace(current, is_last=following is None)
        current = following


def _language_after(paragraph: Paragraph, language: Optional[Language]) -> Optional[Language]:
    """An explicit language tag holds until the next one, over paragraph ends."""
    tags = _LANGUAGE_TAG.findall(paragraph.text)
    return Language(tags[-1]) if tags else language


def _bounded_words(token: Token) -> Iterator[Token]:
    if len(token.text) <= MAX_WORD_LETTERS:
        yield token
        return
    # Where letters and source run in step, each part gets its own source.
    in_step = token.span.end - token.span.start == len(token.text)
    for start in range(0, len(token.text), MAX_WORD_LETTERS):
        part = token.text[start : start + MAX_WORD_LETTERS]
        at = token.span.start + start
        span = Span(at, at + len(part)) if in_step else token.span
        yield replace(token, text=part, span=span)
