"""Group the tokens of sentences into segments: what the voice renders in one go.

Every segment is a prosodic unit of its own, so a sentence is kept whole where it can be. It is cut
when it would make the listener wait (the first segments of an utterance must be short, for sound
begins only when the first is synthesised) or would exceed what the model does well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Callable, Iterable, Iterator, List, Optional, Sequence, Tuple

from edge_tts.errors import InputError
from edge_tts.text.boundaries import DEFAULT_PAUSES, Boundary, PauseTable, boundaries, is_word
from edge_tts.text.paragraphs import Break
from edge_tts.text.tokens import PLAIN, Language, Segment, Span, Token, Voicing

Measure = Callable[[Sequence[Token]], int]


def count_phonemes(tokens: Sequence[Token]) -> int:
    """Size of a segment for models that read phonemes: one unit per symbol, spaces included."""
    return sum(len(token.phonemes) for token in tokens)


@dataclass(frozen=True)
class Sentence:
    """Tokens to be divided; `end` is set on a paragraph's last sentence, `is_last` on the last.

    `pause_s`, where given, is the pause after it. Without tokens it is a silence of that length at
    `silent_at` of the source.
    """

    tokens: Tuple[Token, ...]
    end: Break = Break.NONE
    is_last: bool = False
    voicing: Voicing = PLAIN
    pause_s: Optional[float] = None
    silent_at: Optional[int] = None


@dataclass(frozen=True)
class SegmentSizes:
    """How long segments should be, in units of `measure`.

    The first segment may be `opening` long, each next one `growth` times the one before, up to
    `comfortable`: while one is heard, the next, longer one is synthesised. A first sentence
    longer than `opening_whole` that has no comma in reach is cut at a phrase; None leaves it whole.
    No piece of a cut sentence is shorter than `shortest`.

    English has an `opening` of its own: cut at a comma, the default voice sounds a little worse
    (DNSMOS OVRL 3.34 against 3.46 whole) where Chinese sounds better (3.27 against 3.21).
    """

    comfortable: int = 220
    opening: int = 60
    opening_english: int = 85
    opening_whole: Optional[int] = 100
    growth: float = 2.0
    shortest: int = 20

    def target(self, index: int, language: Language) -> int:
        """Size above which segment `index` is cut at a comma or stronger."""
        opening = self.opening_english if language is Language.EN else self.opening
        # Beyond ten doublings the comfortable size has long been reached.
        return int(min(self.comfortable, opening * self.growth ** min(index, 10)))

    def whole(self, index: int, language: Language) -> int:
        """Size above which segment `index` is cut between words when no mark is in reach."""
        target = self.target(index, language)
        if index == 0 and self.opening_whole is not None:
            return max(target, self.opening_whole)
        return max(target, self.comfortable * 5 // 4)


DEFAULT_SIZES = SegmentSizes()


class Segmenter:
    """Divides sentences into segments none of which exceeds `limit` (in units of `measure`).

    Tokens are neither lost, repeated nor reordered; only the spaces at a segment's edges go.
    """

    def __init__(
        self,
        measure: Measure,
        limit: int,
        sizes: SegmentSizes = DEFAULT_SIZES,
        pauses: PauseTable = DEFAULT_PAUSES,
    ) -> None:
        self._measure = measure
        self._limit = limit
        self._sizes = sizes
        self._pauses = pauses

    def segments(self, sentences: Iterable[Sentence]) -> Iterator[Segment]:
        """Yield segments as sentences come; the very last one has the pause `end_s`.

        Raises `InputError` (`input.unsplittable`) when one token alone exceeds the limit.
        """
        index = 0
        for sentence in sentences:
            tokens = sentence.tokens
            if sentence.silent_at is not None:
                yield self._silence(index, sentence, sentence.silent_at)
                index += 1
            while tokens:
                n_taken, boundary = self._first(tokens, index)
                taken, tokens = tokens[:n_taken], tokens[n_taken:]
                end = Break.NONE if tokens else sentence.end
                is_last = sentence.is_last and not tokens
                pause_s = self._pauses.after(taken, boundary, end)
                if sentence.pause_s is not None and not tokens:
                    pause_s = sentence.pause_s
                if is_last:
                    pause_s = self._pauses.end_s
                yield replace(_segment(index, taken, pause_s), voicing=sentence.voicing)
                index += 1

    def _silence(self, index: int, sentence: Sentence, at: int) -> Segment:
        pause_s = sentence.pause_s or 0.0
        if sentence.is_last:
            pause_s = max(pause_s, self._pauses.end_s)
        return Segment(index, (), Span(at, at), pause_s, sentence.voicing)

    def _first(self, tokens: Sequence[Token], index: int) -> Tuple[int, Boundary]:
        """How many of `tokens` form the next segment, and the boundary after them."""
        strengths = boundaries(tokens)
        sizes = list(accumulate(self._measure([token]) for token in tokens))
        cut = self._choose(strengths, sizes, index, _main_language(tokens))
        # Sizes of single tokens need not add up exactly in every model's units.
        while cut > 1 and self._measure(tokens[:cut]) > self._limit:
            cut = _last_place(strengths, cut - 1)
        if self._measure(tokens[:cut]) > self._limit:
            raise InputError(
                f"{tokens[0].text[:40]!r} alone is longer than the voice can speak in one go "
                f"({self._limit} units); write it as several words",
                code="input.unsplittable",
            )
        return cut, strengths[cut - 1]

    def _choose(
        self,
        strengths: Sequence[Boundary],
        sizes: Sequence[int],
        index: int,
        language: Language,
    ) -> int:
        total = sizes[-1]
        target = min(self._limit, self._sizes.target(index, language))
        whole = min(self._limit, self._sizes.whole(index, language))
        if total <= target:
            return len(sizes)
        shortest = min(self._sizes.shortest, target // 3)
        places = [
            place
            for place, size in enumerate(sizes[:-1], 1)
            if shortest <= size <= whole and total - size >= shortest
        ]
        cut = _at_mark(places, strengths, sizes, target, prefers_early=index == 0)
        if cut is None and total <= whole:
            return len(sizes)
        if cut is None:
            cut = _at_phrase(places, strengths, sizes, target)
        if cut is None:
            cut = _anywhere(strengths, sizes, target, self._limit)
        return cut


def _at_mark(
    places: Sequence[int],
    strengths: Sequence[Boundary],
    sizes: Sequence[int],
    target: int,
    *,
    prefers_early: bool,
) -> Optional[int]:
    """Best place at a comma or stronger: within `target` if there is one, else the next one."""
    marked = [place for place in places if strengths[place - 1] >= Boundary.COMMA]
    within = [place for place in marked if sizes[place - 1] <= target]
    if prefers_early or not within:
        return marked[0] if marked else None
    # A stronger mark is worth a segment shorter by a third of the target.
    return max(within, key=lambda place: sizes[place - 1] + strengths[place - 1] * target / 3)


def _at_phrase(
    places: Sequence[int], strengths: Sequence[Boundary], sizes: Sequence[int], target: int
) -> Optional[int]:
    """Best place between words within `target`, the start of a phrase if one is near."""
    between = [
        place
        for place in places
        if strengths[place - 1] >= Boundary.WORD and sizes[place - 1] <= target
    ]
    if not between:
        return None
    return max(between, key=lambda place: sizes[place - 1] + strengths[place - 1] * target / 2)


def _anywhere(strengths: Sequence[Boundary], sizes: Sequence[int], target: int, limit: int) -> int:
    """Any place between words, the last within `target` or else the next one.

    A word or source item is cut only if it exceeds `limit`.
    """
    ends = [
        place
        for place, strength in enumerate(strengths, 1)
        if strength >= Boundary.WORD or place == len(sizes)
    ]
    within = [place for place in ends if sizes[place - 1] <= target]
    cut = within[-1] if within else ends[0]
    if sizes[cut - 1] <= limit:
        return cut
    return _last_place(strengths, max(1, sum(1 for size in sizes if size <= limit)))


def _last_place(strengths: Sequence[Boundary], place: int) -> int:
    """Last of the best places in the second half up to `place`, for a cut the limit forces."""
    candidates = range(max(1, place // 2), place + 1)
    return max(candidates, key=lambda p: (min(strengths[p - 1], Boundary.WORD), p))


def _main_language(tokens: Sequence[Token]) -> Language:
    """The language of more words than the other, a Chinese word counted as two characters."""
    chinese = sum(1 for t in tokens if t.language is Language.ZH and is_word(t))
    english = sum(1 for t in tokens if t.language is Language.EN and is_word(t))
    return Language.EN if english > chinese / 2 else Language.ZH


def _segment(index: int, tokens: Sequence[Token], pause_s: float) -> Segment:
    span = Span(min(t.span.start for t in tokens), max(t.span.end for t in tokens))
    return Segment(index, tuple(_without_edge_spaces(tokens)), span, pause_s)


def _without_edge_spaces(tokens: Sequence[Token]) -> List[Token]:
    trimmed = list(tokens)
    if trimmed[0].phonemes.startswith(" "):
        trimmed[0] = replace(trimmed[0], phonemes=trimmed[0].phonemes.lstrip(" "))
    if trimmed[-1].phonemes.endswith(" "):
        trimmed[-1] = replace(trimmed[-1], phonemes=trimmed[-1].phonemes.rstrip(" "))
    return trimmed
