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
_REACH = _FFT_SIZE // 2  # samples a harmonic frame sees on either side of its centre
_SINE_LEVEL = 0.1
_VOICED_ABOVE_HZ = 10.0


class HarmonicSource:
    """Turns an F0 curve into the generator's second input."""

    def __init__(self, mixer: "np.ndarray") -> None:
        """`mixer`: float32 [10], the linear layer's nine weights and its bias."""
        self._weights: np.ndarray = mixer[:-1].astype(np.float64)
        self._bias = float(mixer[-1])

    def harmonics(self, f0_hz: "np.ndarray") -> "np.ndarray":
        """Magnitudes and phases float32 [1, 22, 60·n + 1] for F0 [n] at 80 Hz."""
        return self.track(f0_hz).window(0, len(f0_hz))

    def track(self, f0_hz: "np.ndarray") -> "HarmonicTrack":
        """The harmonics of an utterance with F0 [n] at 80 Hz, to be computed in windows."""
        return HarmonicTrack(self._weights, self._bias, f0_hz)


class HarmonicTrack:
    """The harmonics of one utterance. A window is the same whatever else is computed."""

    def __init__(self, weights: "np.ndarray", bias: float, f0_hz: "np.ndarray") -> None:
        f0: np.ndarray = f0_hz.astype(np.float64)
        multiples = np.arange(1, len(weights) + 1, dtype=np.float64)[:, None]
        turns = np.cumsum((multiples * f0 / SAMPLE_RATE_HZ) % 1.0, axis=1)
        self._phase: np.ndarray = 2 * np.pi * SAMPLES_PER_FRAME * turns
        self._level: np.ndarray = np.where(f0 > _VOICED_ABOVE_HZ, _SINE_LEVEL, 0.0)
        self._weights = weights
        self._bias = bias
        self._window = np.hanning(_FFT_SIZE + 1)[:-1]

    def window(self, start: int, end: int) -> "np.ndarray":
        """Harmonics float32 [1, 22, 60·(end - start) + 1] of frames `start` to `end` (80 Hz).

        The last harmonic frame closes the last 80 Hz frame, it is the first of the one after.
        """
        first, last = start * SAMPLES_PER_FRAME - _REACH, end * SAMPLES_PER_FRAME + _REACH
        inside = range(max(first, 0), min(last, len(self._level) * SAMPLES_PER_FRAME))
        signal = self._signal(np.arange(inside.start, inside.stop))
        margins = (inside.start - first, last - inside.stop)
        return self._spectra(np.pad(signal, margins, mode="reflect"))

    def _signal(self, sample: "np.ndarray") -> "np.ndarray":
        sines = np.sin(self._phase_at(sample)) * self._level[sample // SAMPLES_PER_FRAME]
        signal: np.ndarray = np.tanh(self._weights @ sines + self._bias)
        return signal

    def _phase_at(self, sample: "np.ndarray") -> "np.ndarray":
        """Linear between frame centres, flat beyond the outer ones: [harmonics, samples]."""
        last_frame = self._phase.shape[1] - 1
        position = np.clip((sample + 0.5) / SAMPLES_PER_FRAME - 0.5, 0, last_frame)
        left = position.astype(np.int64)
        right = np.minimum(left + 1, last_frame)
        share = position - left
        phase: np.ndarray = self._phase[:, left] * (1 - share) + self._phase[:, right] * share
        return phase

    def _spectra(self, signal: "np.ndarray") -> "np.ndarray":
        frames = np.lib.stride_tricks.sliding_window_view(signal, _FFT_SIZE)[::HOP_SAMPLES]
        spectrum = np.fft.rfft(frames * self._window, axis=1).T
        phase = np.angle(spectrum)
        # At 0 Hz and Nyquist a sign of zero decides between +pi and -pi; the model knows +pi only.
        phase[[0, -1]] = np.where(spectrum[[0, -1]].real < 0, np.pi, 0.0)
        stacked: np.ndarray = np.concatenate([np.abs(spectrum), phase])[None]
        return stacked.astype(np.float32)
