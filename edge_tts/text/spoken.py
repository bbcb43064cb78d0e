"""Tokens back as running text, for voices that read words and for people."""

from __future__ import annotations

from typing import List, Sequence

from edge_tts.text.boundaries import is_opening, is_word
from edge_tts.text.tokens import Language, Token


def spoken_text(tokens: Sequence[Token]) -> str:
    """The tokens as they are read: English words spaced, Chinese characters not, marks attached."""
    parts: List[str] = []
    for position, token in enumerate(tokens):
        parts.append(token.text)
        if position + 1 < len(tokens) and needs_space(tokens, position):
            parts.append(" ")
    return "".join(parts)


def needs_space(tokens: Sequence[Token], position: int) -> bool:
    """Whether writing puts a space after the token at `position`, which is not the last one."""
    left, right = tokens[position], tokens[position + 1]
    if not is_word(right) and not is_opening(tokens, position + 1):
        return False
    if not is_word(left) and is_opening(tokens, position):
        return False
    between_chinese = left.language is right.language is Language.ZH
    return not between_chinese or not is_word(left)
