"""The teacher's sentences as the networks are given them: text ids and codes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, List, Sequence

import numpy as np

from edge_tts.build.lite_voice.codes import Quantiser, log_mel_frames
from edge_tts.build.lite_voice.corpus import is_held_out
from edge_tts.build.lite_voice.teacher import SAMPLES_PER_FRAME


@dataclass(frozen=True)
class Recording:
    """One sentence; `audio` float32 at 24 kHz, a whole number of frames long."""

    name: str
    text: str
    audio: "np.ndarray"

    @property
    def is_held_out(self) -> bool:
        """Whether it is kept from training."""
        return is_held_out(self.text)


@dataclass(frozen=True)
class Coded:
    """A recording and its codes int64 [frames, codebooks]."""

    recording: Recording
    codes: "np.ndarray"


def read_folder(folder: Path) -> List[Recording]:
    """Every sentence of a teacher's folder. Raises ValueError when there is none."""
    recordings = [_read(path) for path in sorted(folder.glob("[0-9]*.npz"))]
    if not recordings:
        raise ValueError(f"{folder} holds no sentences; run edge_tts.build.lite_voice.teacher")
    return recordings


def _read(path: Path) -> Recording:
    with np.load(path) as saved:
        audio, text = saved["audio"].astype(np.float32), str(saved["text"])
    return Recording(path.stem, text, audio[: len(audio) // SAMPLES_PER_FRAME * SAMPLES_PER_FRAME])


def quantiser_of(recordings: Sequence[Recording], path: Path) -> Quantiser:
    """The run's quantiser, fitted to what is trained on when `path` is not there yet."""
    if not path.exists():
        frames = [log_mel_frames(each.audio) for each in recordings if not each.is_held_out]
        Quantiser.fit(np.concatenate(frames)).write(path)
    return Quantiser.read(path)


def coded(recordings: Iterable[Recording], quantiser: Quantiser) -> List[Coded]:
    """Every recording with its codes."""
    return [Coded(each, quantiser.encode(each.audio)) for each in recordings]
