"""Kokoro's harmonic source: the excitation its generator filters into speech.

Follows the sine source of the hn-NSF vocoder (Wang, Takaki & Yamagishi 2019) as Kokoro's
checkpoint uses it, noise left out: nine sines at multiples of F0, mixed by a learned linear layer
and tanh, then a short Fourier transform whose magnitudes and phases the generator reads.
The phase is summed in float64, so that it does not drift over long utterances.
"""

from __future__ import annotations

import numpy as np

SAMPLE_RATE_HZ = 24_000
SAMPLES_PER_FRAME = 300  # one F0 value per 12.5 ms
HOP_SAMPLES = 5
HARMONIC_FRAMES_PER_FRAME = SAMPLES_PER_FRAME // HOP_SAMPLES

_FFT_SIZE = 20
_SINE_LEVEL = 0.1
_VOICED_ABOVE_HZ = 10.0


class HarmonicSource:
    """Turns an F0 curve into the generator's second input."""

    def __init__(self, mixer: "np.ndarray") -> None:
        """`mixer`: float32 [10], the linear layer's nine weights and its bias."""
        self._weights: np.ndarray = mixer[:-1].astype(np.float64)
        self._bias = float(mixer[-1])
        self._multiples = np.arange(1, len(mixer), dtype=np.float64)[:, None]
        self._window = np.hanning(_FFT_SIZE + 1)[:-1]

    def harmonics(self, f0_hz: "np.ndarray") -> "np.ndarray":
        """Magnitudes and phases float32 [1, 22, 60·n + 1] for F0 [n] at 80 Hz."""
        signal = np.tanh(self._weights @ self._sines(f0_hz) + self._bias)
        padded = np.pad(signal, _FFT_SIZE // 2, mode="reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT_SIZE)[::HOP_SAMPLES]
        spectrum = np.fft.rfft(frames * self._window, axis=1).T
        phase = np.angle(spectrum)
        # At 0 Hz and Nyquist a sign of zero decides between +pi and -pi; the model knows +pi only.
        phase[[0, -1]] = np.where(spectrum[[0, -1]].real < 0, np.pi, 0.0)
        stacked: np.ndarray = np.concatenate([np.abs(spectrum), phase])[None]
        return stacked.astype(np.float32)

    def _sines(self, f0_hz: "np.ndarray") -> "np.ndarray":
        f0: np.ndarray = f0_hz.astype(np.float64)
        turns = np.cumsum((self._multiples * f0 / SAMPLE_RATE_HZ) % 1.0, axis=1)
        phase = 2 * np.pi * SAMPLES_PER_FRAME * turns
        level: np.ndarray = np.repeat(
            np.where(f0 > _VOICED_ABOVE_HZ, _SINE_LEVEL, 0.0), SAMPLES_PER_FRAME
        )
        sines: np.ndarray = np.sin(_interpolated(phase)) * level
        return sines


def _interpolated(phase: "np.ndarray") -> "np.ndarray":
    """Linear between frame centres, flat beyond the outer ones: [h, n] → [h, 300·n]."""
    n_frames = phase.shape[1]
    position = (np.arange(n_frames * SAMPLES_PER_FRAME) + 0.5) / SAMPLES_PER_FRAME - 0.5
    position = np.clip(position, 0, n_frames - 1)
    left = position.astype(np.int64)
    right = np.minimum(left + 1, n_frames - 1)
    share = position - left
    result: np.ndarray = phase[:, left] * (1 - share) + phase[:, right] * share
    return result
