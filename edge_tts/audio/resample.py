"""Streaming rational resampler: a polyphase windowed-sinc low-pass.

Kaiser-windowed design after J. F. Kaiser (1974): flat to 0.9 of the lower Nyquist frequency and
about 90 dB down from that Nyquist frequency on.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from edge_tts.errors import AudioError

_STOPBAND_DB = 92.0
_TRANSITION = 0.1  # width of the transition band as a share of the lower Nyquist frequency
_MAX_PHASES = 1280
_MAX_BATCH = 1024  # output samples computed at once; bounds the working memory


class Resampler:
    """Changes the rate of mono float32 sound with linear phase and no net delay.

    Feed pieces to `push` and call `finish` once; cut as you like, the joined output is the same
    sample for sample. `n` input samples give `ceil(n * out / in)` output samples.
    """

    def __init__(self, in_rate_hz: int, out_rate_hz: int) -> None:
        common = math.gcd(in_rate_hz, out_rate_hz)
        self._up = out_rate_hz // common
        self._down = in_rate_hz // common
        if self._up > _MAX_PHASES:
            raise AudioError(
                f"cannot convert {in_rate_hz} Hz to {out_rate_hz} Hz: the rates have no small "
                "common ratio; choose a usual rate such as 48000",
                code="audio.rate_unsupported",
            )
        self._coefficients = _phase_filters(self._up, self._down)
        self._half = self._coefficients.shape[1] // 2
        self.reset()

    def reset(self) -> None:
        """Forget all sound, as if new."""
        self._history = np.zeros(self._half, dtype=np.float32)
        self._history_start = -self._half
        self._n_in = 0
        self._n_out = 0

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Take the next samples and return the output that they complete."""
        if self._up == self._down:
            return np.asarray(samples, dtype=np.float32)
        self._append(np.asarray(samples, dtype=np.float32))
        # The last output whose filter reaches no further than the samples at hand.
        ready = (self._n_in - self._half) * self._up
        return self._take(max(self._n_out, -(-ready // self._down)))

    def finish(self) -> np.ndarray:
        """Return the remaining output; the next `push` starts a new sound."""
        if self._up == self._down:
            return np.zeros(0, dtype=np.float32)
        total = -(-self._n_in * self._up // self._down)
        self._append(np.zeros(self._half + 1, dtype=np.float32))
        tail = self._take(total)
        self.reset()
        return tail

    def _append(self, samples: np.ndarray) -> None:
        self._history = np.concatenate((self._history, samples))
        self._n_in += len(samples)

    def _take(self, end: int) -> np.ndarray:
        output = np.empty(max(0, end - self._n_out), dtype=np.float32)
        for start in range(self._n_out, end, _MAX_BATCH):
            stop = min(end, start + _MAX_BATCH)
            output[start - self._n_out : stop - self._n_out] = self._filtered(start, stop)
        self._n_out = max(self._n_out, end)
        oldest = self._n_out * self._down // self._up - self._half
        self._history = self._history[max(0, oldest - self._history_start) :]
        self._history_start = max(oldest, self._history_start)
        return output

    def _filtered(self, start: int, stop: int) -> np.ndarray:
        position = np.arange(start, stop, dtype=np.int64) * self._down
        oldest = position // self._up - self._half - self._history_start
        windows = sliding_window_view(self._history, self._coefficients.shape[1])
        # Unlike a BLAS product, einsum adds up each row the same whatever the number of rows.
        filtered: np.ndarray = np.einsum(
            "ij,ij->i", windows[oldest], self._coefficients[position % self._up]
        )
        return filtered


def _phase_filters(up: int, down: int) -> np.ndarray:
    """Filters of shape (up, taps): row `p` gives the output `p / up` input samples after one."""
    widest = max(up, down)
    width_rad = math.pi * _TRANSITION * up / widest  # at the input rate
    half = math.ceil((_STOPBAND_DB - 7.95) / (2.285 * width_rad) / 2)
    # Row p, tap t weighs the input sample (t - half) after the one at or before the output.
    offset = (half - np.arange(2 * half + 1))[None, :] + np.arange(up)[:, None] / up
    cutoff = (1.0 - _TRANSITION / 2) * up / widest
    beta = 0.1102 * (_STOPBAND_DB - 8.7)
    shape = np.i0(beta * np.sqrt(np.maximum(0.0, 1.0 - (offset / (half + 1)) ** 2)))
    filters = np.sinc(cutoff * offset) * shape
    return (filters / filters.sum(axis=1, keepdims=True)).astype(np.float32)
