"""Weights that the run time reads itself: two embeddings, distance codes and a few small layers.

The embeddings stay on disk and are mapped: of the 136 million numbers of CosyVoice 2's text table
a sentence touches a few thousand.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Optional

import numpy as np

from edge_tts.errors import ModelError
from edge_tts.voices.cosyvoice.prefix import Affine

FILES = {"text": "text_embeddings.npy", "speech": "speech_embeddings.npy"}
POSITIONS_FILE = "positions.npy"
SMALL_FILE = "small.npz"


@dataclass(frozen=True)
class Tables:
    """All float32. `mixer` [harmonics + 1] ends with its bias; `marks` are [start, task].

    `lm_speaker` and `positions` [max, layers, width], the distance codes, are CosyVoice 1's.
    """

    text: "np.ndarray"
    speech: "np.ndarray"
    marks: "np.ndarray"
    lm_speaker: Optional[Affine]
    flow_speaker: Affine
    mixer: "np.ndarray"
    positions: Optional["np.ndarray"]

    def write(self, directory: Path) -> None:
        """Save into a voice directory."""
        np.save(directory / FILES["text"], self.text)
        np.save(directory / FILES["speech"], self.speech)
        small: Dict[str, np.ndarray] = {"marks": self.marks, "mixer": self.mixer}
        layers = {"flow_speaker": self.flow_speaker, "lm_speaker": self.lm_speaker}
        for name, layer in layers.items():
            if layer is not None:
                small.update({f"{name}.weight": layer.weight, f"{name}.bias": layer.bias})
        np.savez(directory / SMALL_FILE, **small)
        if self.positions is not None:
            np.save(directory / POSITIONS_FILE, self.positions)

    @classmethod
    def read(cls, directory: Path) -> "Tables":
        """Map the tables of a voice directory. Raises ModelError."""
        try:
            with np.load(directory / SMALL_FILE, allow_pickle=False) as archive:
                small = dict(archive)
            positions = directory / POSITIONS_FILE
            return cls(
                text=_mapped(directory / FILES["text"]),
                speech=_mapped(directory / FILES["speech"]),
                marks=small["marks"],
                lm_speaker=_affine(small, "lm_speaker") if "lm_speaker.weight" in small else None,
                flow_speaker=_affine(small, "flow_speaker"),
                mixer=small["mixer"],
                positions=_mapped(positions) if positions.exists() else None,
            )
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ModelError(
                f"the tables in {directory} cannot be read ({error}); build the voice again",
                code="model.file_damaged",
            ) from error


def _mapped(path: Path) -> "np.ndarray":
    table: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return table


def _affine(small: "Dict[str, np.ndarray]", name: str) -> Affine:
    return Affine(small[f"{name}.weight"], small[f"{name}.bias"])
