"""The text side: a SentencePiece model of the corpus's characters, with the tags it needs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Iterable, List

import sentencepiece

from edge_tts.build.lite_voice.teacher import SPEAKER
from edge_tts.voices.lite.tokenizer import open_model

PAD_ID, END_ID, UNKNOWN_ID = 0, 1, 2
FILE_NAME = "spiece.model"

LANGUAGE_TAG, SPEAKER_TAG = "[LNGzh]", f"[SPK{SPEAKER}]"

_MAX_PIECES = 8000


def write_model(texts: Iterable[str], path: Path) -> None:
    """Train on all characters of the texts, whatever their frequency."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        model_type="char",
        vocab_size=_MAX_PIECES,
        hard_vocab_limit=False,
        character_coverage=1.0,
        pad_id=PAD_ID,
        eos_id=END_ID,
        unk_id=UNKNOWN_ID,
        bos_id=-1,
        user_defined_symbols=[LANGUAGE_TAG, SPEAKER_TAG],
        minloglevel=2,
    )
    path.write_bytes(model.getvalue())


class Vocabulary:
    """Text to ids, as the run time encodes it: language, speaker, pieces, end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._processor = open_model(path)
        self._head = [self._processor.piece_to_id(tag) for tag in (LANGUAGE_TAG, SPEAKER_TAG)]

    @property
    def size(self) -> int:
        """Number of text ids."""
        return int(self._processor.get_piece_size())

    def encode(self, text: str) -> List[int]:
        """Ids of a text with its tags."""
        return [*self._head, *self._processor.encode(text), END_ID]
