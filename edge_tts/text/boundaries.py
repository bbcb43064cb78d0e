"""Where speech may be divided: the strength of every place between tokens, and its pause."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import List, Sequence, Tuple

from edge_tts.text.paragraphs import Break
from edge_tts.text.tokens import Language, Span, Token, TokenKind

OPENING_MARKS = frozenset("(“")
SENTENCE_MARKS = frozenset(".!?…")
CLAUSE_MARKS = frozenset(";:—")

# Words that begin a phrase, so that a breath before them sounds natural.
_PHRASE_OPENERS_EN = frozenset(
    """
    and or but because since although that which who whose when while where if unless than so before
    after until in on at for from with by into onto via through towards near under over about
    between during without
    """.split()  # noqa: SIM905
)
_PHRASE_OPENERS_ZH = frozenset(
    """
    并且 以及 但是 不过 因为 由于 所以 因此 如果 然后 而且 或者 还是 同时
    并 和 与 或 但 而 请 在 从 向 往 将 把 被 由 对 为 给 已 正 可
    """.split()  # noqa: SIM905
)
_MAX_MARKS_IN_A_ROW = 3
_FRAGMENT_WORDS_EN = 2
_FRAGMENT_CHARACTERS_ZH = 3


class Boundary(enum.IntEnum):
    """Strength of the place after a token; higher is a better place to divide."""

    FORBIDDEN = -1
    """A mark belongs to the word beside it."""
    INSIDE = 0
    """Within one word or one source item (a number, a time, a URL): only if the limit forces it."""
    WORD = 1
    PHRASE = 2
    COMMA = 3
    CLAUSE = 4
    SENTENCE = 5


@dataclass(frozen=True)
class PauseTable:
    """Silence wanted after a segment, in seconds, by what ends it."""

    word_s: float = 0.0
    phrase_s: float = 0.0
    comma_s: float = 0.14
    clause_s: float = 0.20
    sentence_s: float = 0.35
    question_s: float = 0.40
    ellipsis_s: float = 0.45
    line_s: float = 0.45
    paragraph_s: float = 0.60
    end_s: float = 0.4
    """After the last segment: an utterance that stops dead sounds cut off."""

    def after(self, tokens: Sequence[Token], boundary: Boundary, end: Break = Break.NONE) -> float:
        """Pause after `tokens`, which `boundary` and, at the end of a paragraph, `end` close."""
        if end is Break.BLANK:
            return self.paragraph_s
        pause_s = self._after_mark(tokens, boundary)
        return max(pause_s, self.line_s) if end is Break.LINE else pause_s

    def _after_mark(self, tokens: Sequence[Token], boundary: Boundary) -> float:
        if boundary is Boundary.SENTENCE:
            marks = {token.text for token in tokens[-_MAX_MARKS_IN_A_ROW:]}
            if "…" in marks:
                return self.ellipsis_s
            return self.question_s if "?" in marks else self.sentence_s
        if boundary is Boundary.CLAUSE:
            return self.clause_s
        if boundary is Boundary.COMMA:
            return self.comma_s
        return self.phrase_s if boundary is Boundary.PHRASE else self.word_s


DEFAULT_PAUSES = PauseTable()


def boundaries(tokens: Sequence[Token]) -> List[Boundary]:
    """Strength of the place after each token; after the last one it is what its marks say."""
    n_leading = next((i for i, token in enumerate(tokens) if is_word(token)), len(tokens))
    after = [
        Boundary.FORBIDDEN if position < n_leading else _between(tokens, position)
        for position in range(len(tokens) - 1)
    ]
    after.extend([Boundary.WORD] * (len(tokens) > 0))
    strength = Boundary.WORD
    for position, token in enumerate(tokens):
        if is_word(token):
            strength = Boundary.WORD
            continue
        strength = max(strength, _mark_strength(token))
        if after[position] >= Boundary.WORD:
            after[position] = max(strength, after[position])
    for position in range(len(tokens) - 1):
        if after[position] is Boundary.WORD and _opens_phrase(tokens, position + 1):
            after[position] = Boundary.PHRASE
    return after


def sentences(tokens: Sequence[Token]) -> List[Tuple[Token, ...]]:
    """Divide a paragraph after its sentence ends; every sentence has a word in it.

    A fragment of a word or two ("No.", "欢迎。") joins the sentence after it, or before it at the
    end: alone it would sound clipped. Marks without any word, and marks beyond the third in a row,
    are left out, for they have no sound.
    """
    found: List[List[Token]] = []
    current: List[Token] = []
    kept = _without_excess_marks(tokens)
    for token, strength in zip(kept, boundaries(kept)):
        current.append(token)
        if strength is Boundary.SENTENCE and not is_fragment(current):
            found.append(current)
            current = []
    if current and found and is_fragment(current):
        found[-1].extend(current)
    elif any(is_word(token) for token in current):
        found.append(current)
    return [tuple(sentence) for sentence in found]


def is_word(token: Token) -> bool:
    """Whether the token is spoken rather than a mark."""
    return token.kind is TokenKind.WORD


def with_stop(sentence: Tuple[Token, ...]) -> Tuple[Token, ...]:
    """The sentence with a full stop if it has no mark, without which the voice ends in mid-air."""
    last = sentence[-1]
    if not is_word(last):
        return sentence
    at = Span(last.span.end, last.span.end)
    return (*sentence, Token(".", TokenKind.PUNCTUATION, last.language, at))


def is_fragment(tokens: Sequence[Token]) -> bool:
    """Whether the tokens are too few to be spoken alone."""
    english = sum(1 for t in tokens if is_word(t) and t.language is Language.EN)
    chinese = sum(1 for t in tokens if is_word(t) and t.language is Language.ZH)
    return english / _FRAGMENT_WORDS_EN + chinese / _FRAGMENT_CHARACTERS_ZH <= 1


def is_opening(tokens: Sequence[Token], position: int) -> bool:
    """Whether the mark at `position` belongs to the word after it.

    A straight quote shows its side by what it touches in the source.
    """
    mark = tokens[position]
    if mark.text != '"':
        return mark.text in OPENING_MARKS
    touches_left = position > 0 and tokens[position - 1].span.end == mark.span.start
    touches_right = tokens[position + 1 :][:1] and tokens[position + 1].span.start == mark.span.end
    return bool(touches_right) and not touches_left


def _between(tokens: Sequence[Token], position: int) -> Boundary:
    left, right = tokens[position], tokens[position + 1]
    if not is_word(right):
        return Boundary.WORD if is_opening(tokens, position + 1) else Boundary.FORBIDDEN
    if not is_word(left) and is_opening(tokens, position):
        return Boundary.FORBIDDEN
    if right.span.start < left.span.end:
        return Boundary.INSIDE
    if not is_word(left):
        return Boundary.WORD
    if left.language is right.language is Language.ZH and left.phonemes:
        return Boundary.WORD if left.phonemes.endswith(" ") else Boundary.INSIDE
    return Boundary.WORD


def _mark_strength(token: Token) -> Boundary:
    if token.text in SENTENCE_MARKS:
        return Boundary.SENTENCE
    if token.text in CLAUSE_MARKS:
        return Boundary.CLAUSE
    return Boundary.COMMA if token.text == "," else Boundary.WORD


def _opens_phrase(tokens: Sequence[Token], position: int) -> bool:
    first = tokens[position]
    if not is_word(first):
        return is_opening(tokens, position)
    if first.language is Language.EN:
        return first.text.lower() in _PHRASE_OPENERS_EN
    pair = first.text + (tokens[position + 1].text if position + 1 < len(tokens) else "")
    return pair in _PHRASE_OPENERS_ZH or first.text in _PHRASE_OPENERS_ZH


def _without_excess_marks(tokens: Sequence[Token]) -> List[Token]:
    kept: List[Token] = []
    n_marks = 0
    for token in tokens:
        n_marks = 0 if is_word(token) else n_marks + 1
        if n_marks <= _MAX_MARKS_IN_A_ROW:
            kept.append(token)
    return kept
