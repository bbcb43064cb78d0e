"""Tokens of the front end as the text that the language model was trained on."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Sequence

from edge_tts.text.spoken import spoken_text
from edge_tts.text.tokens import Language, Token, TokenKind

if TYPE_CHECKING:
    from edge_tts.text.tokens import Segment

_FULL_WIDTH = {",": "，", ".": "。", "!": "！", "?": "？", ":": "：", ";": "；"}
_SPACED_MARK = re.compile(r"\s*([，。！？：；])\s*")


def model_text(tokens: Sequence[Token]) -> str:
    """The tokens as running text, Chinese marks full-width as in Chinese writing."""
    return _SPACED_MARK.sub(r"\1", spoken_text([_written(token) for token in tokens]))


def segment_text(segment: "Segment") -> str:
    """`model_text` of a segment."""
    return model_text(segment.tokens)


def _written(token: Token) -> Token:
    if token.kind is TokenKind.PUNCTUATION and token.language is Language.ZH:
        return dataclasses.replace(token, text=_FULL_WIDTH.get(token.text, token.text))
    return token
