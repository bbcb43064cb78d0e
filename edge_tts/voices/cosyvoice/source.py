"""The vocoder's excitation: harmonics of F0 and noise (hn-NSF, Wang, Takaki & Yamagishi 2019).

CosyVoice 1 sums the phase sample by sample and starts its harmonics at random phases; CosyVoice 2
sums it frame by frame and interpolates. Both are followed to the rounding of their float32 phases,
with sums in double precision.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from edge_tts.voices.cosyvoice.settings import Settings


class HarmonicSource:
    """Excitation for one F0 curve; all randomness is given by the caller."""

    def __init__(self, weights: "np.ndarray", bias: float, settings: Settings) -> None:
        """`weights` float32 [harmonics] and `bias` mix the harmonics into one signal."""
        self._weights = weights
        self._bias = np.float32(bias)
        self._settings = settings
        self._multiples = np.arange(1, len(weights) + 1, dtype=np.float32)

    @property
    def n_harmonics(self) -> int:
        """How many sines there are."""
        return len(self._weights)

    def waves(
        self, f0_hz: "np.ndarray", turns: Optional["np.ndarray"], noise: "np.ndarray"
    ) -> "np.ndarray":
        """Sines and noise float32 [L, harmonics] for F0 [frames], L = frames · samples per frame.

        `turns` float32 [harmonics] are uniform in [0, 1) and set CosyVoice 1's starting phases;
        `noise` float32 [L, harmonics] is standard normal.
        """
        settings = self._settings
        voiced = np.repeat(f0_hz > settings.voiced_above_hz, settings.samples_per_frame)[:, None]
        phase = self._slow_phase(f0_hz) if settings.is_second else self._phase(f0_hz, turns)
        sines = np.sin(phase) * np.float32(settings.sine_level)
        unvoiced_level = np.float32(settings.sine_level / 3)
        level = np.where(voiced, np.float32(settings.noise_level), unvoiced_level)
        mixed: np.ndarray = sines * voiced + level * noise
        return mixed

    def signal(self, waves: "np.ndarray") -> "np.ndarray":
        """The waves mixed: float32 [1, 1, L]."""
        mixed: np.ndarray = np.tanh(waves @ self._weights + self._bias)
        return mixed.astype(np.float32)[None, None]

    def _phase(self, f0_hz: "np.ndarray", turns: Optional["np.ndarray"]) -> "np.ndarray":
        settings = self._settings
        f0: np.ndarray = np.repeat(f0_hz, settings.samples_per_frame).astype(np.float32)
        increments = f0[:, None] * self._multiples / np.float32(settings.sample_rate_hz)
        cycles = np.cumsum(increments, axis=0, dtype=np.float64).astype(np.float32) % np.float32(1)
        start: np.ndarray = np.zeros(self.n_harmonics, np.float32)
        if turns is not None:
            start[1:] = (2 * np.pi * turns - np.pi)[1:]
        phase: np.ndarray = np.float32(2 * np.pi) * cycles + start
        return phase

    def _slow_phase(self, f0_hz: "np.ndarray") -> "np.ndarray":
        settings = self._settings
        increments = f0_hz.astype(np.float32)[:, None] * self._multiples
        cycles = (increments / np.float32(settings.sample_rate_hz)) % np.float32(1)
        summed = np.cumsum(cycles, axis=0, dtype=np.float64).astype(np.float32)
        phase = summed * np.float32(2 * np.pi) * np.float32(settings.samples_per_frame)
        return _between_frames(phase, settings.samples_per_frame)


def _between_frames(values: "np.ndarray", factor: int) -> "np.ndarray":
    """Linear between frame centres, flat beyond the outer ones: [n, h] → [n · factor, h]."""
    n_frames = len(values)
    # Times the reciprocal, not divided: the phase is so large that this rounding can be heard of.
    centres = np.arange(n_frames * factor, dtype=np.float32) + np.float32(0.5)
    place = np.maximum(centres * np.float32(1 / factor) - np.float32(0.5), np.float32(0))
    left = place.astype(np.int64)
    right = np.minimum(left + 1, n_frames - 1)
    share = (place - left).astype(np.float32)[:, None]
    between: np.ndarray = values[left] * (1 - share) + values[right] * share
    return between
