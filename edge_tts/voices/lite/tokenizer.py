"""Text to the ids the model was trained on, by SentencePiece (Kudo & Richardson 2018)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edge_tts.errors import EngineError, InputError, ModelError
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tags import language_id, speaker_id

if TYPE_CHECKING:
    from edge_tts.text.tokens import Language


class TextTokenizer:
    """Encodes a text with its tags: language, speaker, pieces, end of text."""

    def __init__(self, processor: Any, settings: Settings) -> None:
        """`processor` is a loaded `SentencePieceProcessor`."""
        self._processor = processor
        self._settings = settings

    @classmethod
    def read(cls, path: Path, settings: Settings) -> "TextTokenizer":
        """Load a SentencePiece model. Raises EngineError without the library, else ModelError."""
        return cls(open_model(path), settings)

    def pieces(self, text: str) -> "np.ndarray":
        """Ids of the text alone, int64 [n]."""
        ids: np.ndarray = np.array(self._processor.encode(text), np.int64)
        return ids

    def encode(self, text: str, language: "Language", speaker: str) -> "np.ndarray":
        """Ids int64 [n + 3]. Raises InputError for unknown tags and characters."""
        settings = self._settings
        head = [
            language_id(language.value, settings.languages),
            speaker_id(speaker, settings.speakers),
        ]
        pieces = self.pieces(text)
        self._check(text, pieces)
        ids: np.ndarray = np.concatenate([head, pieces, [settings.end_of_text]])
        return ids

    def _check(self, text: str, pieces: "np.ndarray") -> None:
        unknown = np.flatnonzero(pieces == self._processor.unk_id())
        if len(unknown):
            spelled = self._processor.encode(text, out_type=str)[int(unknown[0])]
            raise InputError(
                f"the voice cannot read {spelled.lstrip('▁')!r}: it is not in its vocabulary; "
                "reword the text",
                code="input.unknown_symbol",
            )


def open_model(path: Path) -> Any:
    """A `SentencePieceProcessor` of the file. Raises EngineError or ModelError."""
    try:
        import sentencepiece
    except ImportError as error:
        raise EngineError(
            "lite voices need the library sentencepiece; run: pip install 'edge-tts-device[lite]'",
            code="engine.library_missing",
        ) from error
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(path.read_bytes())
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise ModelError(
            f"{path} is not a SentencePiece model ({error}); get it again",
            code="model.file_damaged",
        ) from error
    return processor
