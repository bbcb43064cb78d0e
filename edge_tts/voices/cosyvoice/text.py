"""Tokens of the front end as the text that the language model was trained on."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Sequence

from edge_tts.text.control_words import CONTROL_WORD
from edge_tts.text.spoken import needs_space
from edge_tts.text.tokens import Language, Token, TokenKind

if TYPE_CHECKING:
    from edge_tts.text.tokens import Segment

_FULL_WIDTH = {",": "，", ".": "。", "!": "！", "?": "？", ":": "：", ";": "；"}
_SPACED_MARK = re.compile(r"\s*([，。！？：；])\s*")


def model_text(tokens: Sequence[Token]) -> str:
    """The tokens as running text, Chinese marks full-width as in Chinese writing.

    Control words stand as close to their neighbours as the user wrote them.
    """
    written = [_written(token) for token in tokens]
    spaces = [" " if _is_spaced(written, place) else "" for place in range(len(written) - 1)]
    text = "".join(token.text + space for token, space in zip(written, [*spaces, ""]))
    return _SPACED_MARK.sub(r"\1", text)


def segment_text(segment: "Segment") -> str:
    """`model_text` of a segment."""
    return model_text(segment.tokens)


def _is_spaced(tokens: Sequence[Token], place: int) -> bool:
    left, right = tokens[place], tokens[place + 1]
    if CONTROL_WORD.fullmatch(left.text) or CONTROL_WORD.fullmatch(right.text):
        is_chinese = left.language is right.language is Language.ZH
        return left.span.end < right.span.start and not is_chinese
    return needs_space(tokens, place)


def _written(token: Token) -> Token:
    if token.kind is TokenKind.PUNCTUATION and token.language is Language.ZH:
        return dataclasses.replace(token, text=_FULL_WIDTH.get(token.text, token.text))
    return token
