"""Every random number of an utterance, from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from edge_tts.voices.cosyvoice.settings import MEL_BANDS


@dataclass(frozen=True)
class Excitation:
    """Random numbers of one excitation; see `HarmonicSource.waves`."""

    turns: Optional["np.ndarray"]
    noise: "np.ndarray"


class Randomness:
    """A stream of numbers. The Mersenne twister, because numpy promises never to change it."""

    def __init__(self, seed: int, n_harmonics: int) -> None:
        self._random = np.random.RandomState(seed)
        self._n_harmonics = n_harmonics

    def uniform(self) -> float:
        """For the sampler."""
        return float(self._random.random_sample())

    def flow_noise(self, n_frames: int) -> "np.ndarray":
        """Where CosyVoice 1's flow starts: standard normal float32 [1, 80, n]."""
        noise: np.ndarray = self._random.standard_normal((1, MEL_BANDS, n_frames))
        return noise.astype(np.float32)

    def excitation(self, n_samples: int) -> Excitation:
        """For `n_samples` of the vocoder's source."""
        turns: np.ndarray = self._random.random_sample(self._n_harmonics).astype(np.float32)
        noise: np.ndarray = self._random.standard_normal((n_samples, self._n_harmonics))
        return Excitation(turns, noise.astype(np.float32))
