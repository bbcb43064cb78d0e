"""The speakers that ship with the package: who they are and the style tables they speak with."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Dict

import numpy as np

from edge_tts.errors import InputError, ModelError
from edge_tts.text.tokens import Language

STYLE_DIR = Path(__file__).parent / "data"
STYLE_ROWS = 510
STYLE_SIZE = 256

LOUDNESS_LUFS = {
    "af_heart": -22.0,
    "af_bella": -21.8,
    "am_michael": -23.2,
    "am_fenrir": -18.3,
    "zf_xiaobei": -19.4,
    "zf_xiaoxiao": -15.8,
    "zm_yunxi": -20.3,
    "zm_yunyang": -22.0,
}
"""Integrated loudness (BS.1770) of each speaker over two sentences of its own language."""

SPEAKERS = tuple(LOUDNESS_LUFS)
DEFAULT_SPEAKERS = {Language.ZH: "zf_xiaobei", Language.EN: "af_heart"}


class StyleTables:
    """Style rows by speaker and length, mapped from disk as they are asked for."""

    def __init__(self, directory: Path = STYLE_DIR) -> None:
        self._directory = directory
        self._tables: Dict[str, "np.ndarray"] = {}

    def row(self, speaker: str, n_tokens: int) -> "np.ndarray":
        """The style float32 [1, 256] of `speaker` for an utterance of 1 to 510 tokens.

        Raises InputError for an unknown speaker, ModelError for a damaged table.
        """
        if speaker not in self._tables:
            self._tables[speaker] = self._load(speaker)
        # Row n is for n phonemes; the table ends at 509.
        index = min(n_tokens, STYLE_ROWS - 1)
        row: np.ndarray = np.array(self._tables[speaker][index : index + 1])
        return row

    def _load(self, speaker: str) -> "np.ndarray":
        if speaker not in SPEAKERS:
            near = difflib.get_close_matches(speaker, SPEAKERS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(SPEAKERS)}"
            raise InputError(f"no speaker {speaker!r}; {hint}", code="input.unknown_speaker")
        path = self._directory / f"{speaker}.npy"
        try:
            table: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"{path} cannot be read: {error}; reinstall edge_tts", code="model.file_missing"
            ) from error
        if table.shape != (STYLE_ROWS, STYLE_SIZE) or table.dtype != np.float32:
            raise ModelError(
                f"{path} is not a style table; reinstall edge_tts", code="model.file_damaged"
            )
        return table
