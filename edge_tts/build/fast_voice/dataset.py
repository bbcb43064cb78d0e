"""The teacher's utterances on disk, and random windows of them for training.

One `.npz` per utterance: x float16 [512, T] (the decoder's output at 80 Hz), f0 and energy
float32 [T], audio float32 [300 T], style float32 [256], speaker and text.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import numpy as np
import torch
from torch import Tensor

from edge_tts.build.fast_voice.model import FRAME_SAMPLES, StudentConfig
from edge_tts.voices.kokoro.pulse_train import PulseTrain

HELD_OUT_SHARE = 20
SPEECH_RMS = 3e-3
EDGE_FRAMES = 20


@dataclass(frozen=True)
class Utterance:
    """One teacher utterance; `speech` is the range of frames with sound, with a margin."""

    name: str
    speaker: str
    x: Tensor
    f0_hz: Tensor
    energy: Tensor
    audio: Tensor
    source: Tensor
    style: Tensor
    pool: Tensor
    speech: Tuple[int, int]

    @property
    def n_frames(self) -> int:
        """Length at 80 Hz."""
        return int(self.x.shape[1])


@dataclass(frozen=True)
class Batch:
    """Windows of several utterances, stacked; `x`, `f0_hz`, `energy` are `look_ahead` longer."""

    x: Tensor
    f0_hz: Tensor
    energy: Tensor
    audio: Tensor
    source: Tensor
    style: Tensor
    pool: Tensor


def pooled(x: np.ndarray) -> np.ndarray:
    """Mean and standard deviation over time of x [512, T], the utterance's colour: [1024]."""
    x = np.asarray(x, np.float32)
    return np.concatenate([x.mean(1), x.std(1)])


def read_utterance(path: Path) -> Utterance:
    """Load one file and compute what depends on it alone."""
    with np.load(path) as data:
        x, f0_hz, energy = data["x"], data["f0"].astype(np.float32), data["energy"]
        audio, style, speaker = data["audio"], data["style"], str(data["speaker"])
    n_frames = x.shape[1]
    audio = audio[: n_frames * FRAME_SAMPLES]
    rms = np.sqrt(np.mean(audio.reshape(n_frames, FRAME_SAMPLES) ** 2, axis=1))
    loud = np.flatnonzero(rms > SPEECH_RMS)
    first, last = (int(loud[0]), int(loud[-1])) if len(loud) else (0, n_frames - 1)
    return Utterance(
        name=path.stem,
        speaker=speaker,
        x=torch.from_numpy(x),
        f0_hz=torch.from_numpy(f0_hz),
        energy=torch.from_numpy(energy.astype(np.float32)),
        audio=torch.from_numpy(audio.astype(np.float32)),
        source=torch.from_numpy(PulseTrain(f0_hz).window(0, n_frames)),
        style=torch.from_numpy(style.astype(np.float32)),
        pool=torch.from_numpy(pooled(x)),
        speech=(max(0, first - EDGE_FRAMES), min(n_frames, last + EDGE_FRAMES)),
    )


def is_held_out(name: str) -> bool:
    """Every twentieth utterance, by its name, is for validation only."""
    return zlib.crc32(name.encode()) % HELD_OUT_SHARE == 0


class Dataset:
    """All utterances of a folder; `refresh` picks up what a running generator has added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: Dict[str, Utterance] = {}
        self.refresh()

    def refresh(self) -> int:
        """Load files that are new; returns how many utterances there are."""
        for path in sorted(self._folder.glob("*.npz")):
            if path.stem not in self._known and not path.stem.startswith("."):
                self._known[path.stem] = read_utterance(path)
        return len(self._known)

    @property
    def training(self) -> List[Utterance]:
        """Utterances to learn from."""
        return [u for u in self._known.values() if not is_held_out(u.name)]

    @property
    def held_out(self) -> List[Utterance]:
        """Utterances to judge by."""
        return [u for u in self._known.values() if is_held_out(u.name)]

    def batches(
        self, config: StudentConfig, size: int, n_frames: int, seed: int
    ) -> Iterator[Batch]:
        """Endless random windows of `n_frames`, drawn in proportion to the speech available."""
        rng = np.random.default_rng(seed)
        needed = n_frames + config.look_ahead
        usable = [u for u in self.training if u.n_frames >= needed]
        weights = np.array([u.speech[1] - u.speech[0] for u in usable], float)
        weights /= weights.sum()
        while True:
            chosen = rng.choice(len(usable), size, p=weights)
            yield _stack([_window(usable[i], n_frames, needed, rng) for i in chosen])


def _window(
    utterance: Utterance, n_frames: int, needed: int, rng: np.random.Generator
) -> Dict[str, Tensor]:
    last_start = utterance.n_frames - needed
    low, high = utterance.speech
    start = int(rng.integers(min(low, last_start), max(min(high - n_frames, last_start), low) + 1))
    start = max(0, min(start, last_start))
    samples = slice(start * FRAME_SAMPLES, (start + n_frames) * FRAME_SAMPLES)
    return {
        "x": utterance.x[:, start : start + needed].float(),
        "f0_hz": utterance.f0_hz[start : start + needed],
        "energy": utterance.energy[start : start + needed],
        "audio": utterance.audio[samples],
        "source": utterance.source[samples],
        "style": utterance.style,
        "pool": utterance.pool,
    }


def _stack(windows: List[Dict[str, Tensor]]) -> Batch:
    return Batch(**{key: torch.stack([w[key] for w in windows]) for key in windows[0]})
