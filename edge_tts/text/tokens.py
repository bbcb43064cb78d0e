"""The front end's data: tokens with source spans, grouped into segments."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple, Optional, Tuple


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
class Voicing:
    """Who speaks a stretch and how, as the text itself asks.

    `speaker` None is the one of the delivery; `rate` and `volume` are factors on the delivery's.
    """

    speaker: Optional[str] = None
    rate: float = 1.0
    volume: float = 1.0


PLAIN = Voicing()


@dataclass(frozen=True)
class Segment:
    """A stretch of speech the voice renders in one go.

    `pause_s` is the silence wanted after it. `index` counts from 0 within the utterance. A segment
    without tokens is a silence of exactly `pause_s`, whatever the speaking rate.
    """

    index: int
    tokens: Tuple[Token, ...]
    span: Span
    pause_s: float
    voicing: Voicing = PLAIN

    @property
    def phonemes(self) -> str:
        """IPA of the whole segment, in the convention of the Kokoro vocabulary."""
        return "".join(token.phonemes for token in self.tokens)
