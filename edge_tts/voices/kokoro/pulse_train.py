"""The fast generator's excitation: all harmonics of F0 up to 11.8 kHz, in closed form.

The phase is Kokoro's own, so that the student can be trained on the teacher's waveform: F0 summed
over 80 Hz frames, interpolated linearly between frame centres.
"""

from __future__ import annotations

import numpy as np

SAMPLE_RATE_HZ = 24000
FRAME_SAMPLES = 300
VOICED_HZ = 10.0
BANDWIDTH_HZ = 11800.0


class PulseTrain:
    """Unit-power harmonic excitation for one utterance, computed window by window.

    `f0_hz` is the utterance's F0 at 80 Hz, shape [T]; frames at or below 10 Hz are unvoiced and
    silent. A window gives the same samples whatever windows were taken before it.
    """

    def __init__(self, f0_hz: np.ndarray) -> None:
        self._f0_hz = np.asarray(f0_hz, np.float64)
        # Double precision: the phase reaches thousands of turns.
        self._phase = np.cumsum(self._f0_hz) * (2 * np.pi * FRAME_SAMPLES / SAMPLE_RATE_HZ)

    @property
    def n_frames(self) -> int:
        """Length of the utterance at 80 Hz."""
        return len(self._f0_hz)

    def window(self, start: int, end: int) -> np.ndarray:
        """Samples of frames `start` … `end` - 1, float32 [(end - start) * 300]."""
        phase = self._phase_at(start, end)
        f0_hz = np.repeat(self._f0_hz[start:end], FRAME_SAMPLES)
        n_harmonics = np.floor(BANDWIDTH_HZ / np.maximum(f0_hz, 50.0))
        half = np.sin(phase / 2)
        near_pulse = np.abs(half) < 1e-4
        # Dirichlet kernel: the sum of cos(k * phase), k = 1 … n_harmonics.
        kernel = (np.sin((n_harmonics + 0.5) * phase) / np.where(near_pulse, 1, half) - 1) / 2
        samples = np.where(near_pulse, n_harmonics, kernel)
        power = np.sqrt(2 / np.maximum(n_harmonics, 1))
        return np.asarray(samples * power * (f0_hz > VOICED_HZ), np.float32)

    def _phase_at(self, start: int, end: int) -> np.ndarray:
        """Phase per sample, linear between frame centres, constant beyond the outermost ones."""
        position = np.arange(start * FRAME_SAMPLES, end * FRAME_SAMPLES) + 0.5
        centres = (np.arange(len(self._phase)) + 0.5) * FRAME_SAMPLES
        return np.interp(position, centres, self._phase)
