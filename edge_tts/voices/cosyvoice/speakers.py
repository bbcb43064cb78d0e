"""The speakers of a voice, as `speakers.npz` in its directory."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Mapping, Sequence

import numpy as np

from edge_tts.errors import ModelError
from edge_tts.voices.cosyvoice.flow import FlowPrompt

_FIELDS = ("embedding", "prompt_text", "prompt_tokens", "prompt_mel")


@dataclass(frozen=True)
class SpeakerPrompt:
    """Who speaks: `embedding` float32 [size], and a spoken example with its text ids int64 [n].

    A speaker without an example has an empty text and an empty `example`.
    """

    embedding: "np.ndarray"
    text_ids: "np.ndarray"
    example: FlowPrompt


def write_speakers(path: Path, speakers: Mapping[str, SpeakerPrompt]) -> None:
    """Save the speakers; their order is the manifest's, so only numbers are stored."""
    arrays: Dict[str, np.ndarray] = {}
    for index, speaker in enumerate(speakers.values()):
        values = (
            speaker.embedding,
            speaker.text_ids,
            speaker.example.tokens,
            speaker.example.mel,
        )
        arrays.update({f"{index}.{key}": value for key, value in zip(_FIELDS, values)})
    np.savez(path, **arrays)


def read_speakers(path: Path, names: Sequence[str]) -> Dict[str, SpeakerPrompt]:
    """The speakers by name. Raises ModelError for a file that does not hold them."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: _speaker(arrays, index) for index, name in enumerate(names)}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"{path} does not hold this voice's speakers ({error}); build the voice again",
            code="model.file_damaged",
        ) from error


def _speaker(arrays: Mapping[str, "np.ndarray"], index: int) -> SpeakerPrompt:
    embedding, text_ids, tokens, mel = (arrays[f"{index}.{key}"] for key in _FIELDS)
    return SpeakerPrompt(embedding, text_ids, FlowPrompt(tokens, mel))
