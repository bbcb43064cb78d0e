"""The front end's data: tokens with source spans, grouped into segments."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple, Tuple


class Language(str, enum.Enum):
    """A language the front end reads."""

    ZH = "zh"
    EN = "en"


class TokenKind(str, enum.Enum):
    """What a token is to the ear."""

    WORD = "word"
    PUNCTUATION = "punctuation"


class Span(NamedTuple):
    """Half-open range of code points in the text as the caller gave it."""

    start: int
    end: int


@dataclass(frozen=True)
class Token:
    """One spoken word, Chinese character or mark, and the source it stands for.

    An English token is one word, a Chinese token one character. Tokens made from one source item
    (`15` read as `fifteen`) all carry that item's span. `phonemes` is empty until the token is
    pronounced; concatenated over a segment it is exactly what the model reads, spaces included.
    """

    text: str
    kind: TokenKind
    language: Language
    span: Span
    phonemes: str = ""


@dataclass(frozen=True)
class Segment:
    """A stretch of speech the voice renders in one go.

    `pause_s` is the silence wanted after it. `index` counts from 0 within the utterance.
    """

    index: int
    tokens: Tuple[Token, ...]
    span: Span
    pause_s: float

    @property
    def phonemes(self) -> str:
        """IPA of the whole segment, in the convention of the Kokoro vocabulary."""
        return "".join(token.phonemes for token in self.tokens)
