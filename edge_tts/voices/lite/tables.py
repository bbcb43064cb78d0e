"""Weights that the run time reads itself: embeddings, position biases and EnCodec's codebooks.

The embeddings stay on disk and are mapped; a sentence touches a few hundred of their rows.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict

import numpy as np

from edge_tts.errors import ModelError

FILES = {"text": "text_embeddings.npy", "codes": "code_embeddings.npy"}
SMALL_FILE = "small.npz"
_STATE = "state."


@dataclass(frozen=True)
class Tables:
    """All float32.

    `text` [ids, width]; `codes` [codebooks · size + 2, width], of which the last two rows are the
    start and the padding; `encoder_bias` and `decoder_bias` [buckets, heads]; `codebooks`
    [codebooks, size, latent width]; `codec_state` what the EnCodec decoder carries before the first
    frame, by name.
    """

    text: "np.ndarray"
    codes: "np.ndarray"
    encoder_bias: "np.ndarray"
    decoder_bias: "np.ndarray"
    codebooks: "np.ndarray"
    codec_state: Dict[str, "np.ndarray"]

    def write(self, directory: Path) -> None:
        """Save into a voice directory."""
        np.save(directory / FILES["text"], self.text)
        np.save(directory / FILES["codes"], self.codes)
        small: Dict[str, np.ndarray] = {
            "encoder_bias": self.encoder_bias,
            "decoder_bias": self.decoder_bias,
            "codebooks": self.codebooks,
        }
        small.update({f"{_STATE}{name}": value for name, value in self.codec_state.items()})
        np.savez(directory / SMALL_FILE, **small)

    @classmethod
    def read(cls, directory: Path) -> "Tables":
        """Map the tables of a voice directory. Raises ModelError."""
        try:
            with np.load(directory / SMALL_FILE, allow_pickle=False) as archive:
                small = dict(archive)
            return cls(
                text=_mapped(directory / FILES["text"]),
                codes=_mapped(directory / FILES["codes"]),
                encoder_bias=small["encoder_bias"],
                decoder_bias=small["decoder_bias"],
                codebooks=small["codebooks"],
                codec_state={
                    name[len(_STATE) :]: value
                    for name, value in small.items()
                    if name.startswith(_STATE)
                },
            )
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ModelError(
                f"the tables in {directory} cannot be read ({error}); build the voice again",
                code="model.file_damaged",
            ) from error


def _mapped(path: Path) -> "np.ndarray":
    table: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return table
