"""Tokens of the front end as the text and the ids that the language model was trained on."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Sequence

import numpy as np

from edge_tts.errors import EngineError
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


class TextTokenizer:
    """Byte-level BPE, as saved in a voice's `tokenizer.json`."""

    def __init__(self, path: Path) -> None:
        """Raises EngineError without the `tokenizers` library."""
        self._tokenizer = _load(path)

    def encode(self, text: str) -> "np.ndarray":
        """Ids int64 [n] of `text`; control words such as `[laughter]` are one id each."""
        ids: List[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return np.array(ids, np.int64)


def _load(path: Path) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EngineError(
            "CosyVoice voices need the library tokenizers; run: pip install tokenizers",
            code="engine.load_failed",
        ) from error
    return Tokenizer.from_str(path.read_text(encoding="utf-8"))
