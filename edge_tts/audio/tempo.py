"""Change the tempo of speech and keep its pitch: WSOLA.

W. Verhelst and M. Roelands, "An overlap-add technique based on waveform similarity (WSOLA) for
high quality time-scale modification of speech", ICASSP 1993.
"""

from __future__ import annotations

from typing import List

import numpy as np

from edge_tts.errors import InputError

MIN_TEMPO = 0.5
MAX_TEMPO = 2.0

_HOP_S = 0.015  # a window of two hops holds two periods of a deep voice (70 Hz)
_SEARCH_S = 0.008  # reaches every phase of that period in either direction


class TimeStretch:
    """Plays mono float32 speech `tempo` times as fast, streaming.

    `n` input samples give `round(n / tempo)` output samples. Frames sit at fixed input positions,
    so the output does not depend on how the input is cut. At tempo 1.0 sound passes unchanged.
    """

    def __init__(self, sample_rate_hz: int, tempo: float) -> None:
        if not MIN_TEMPO <= tempo <= MAX_TEMPO:
            raise InputError(f"tempo must be from {MIN_TEMPO} to {MAX_TEMPO}, not {tempo}")
        self._tempo = tempo
        self._hop = round(_HOP_S * sample_rate_hz)
        self._search = round(_SEARCH_S * sample_rate_hz)
        phase = np.pi * (np.arange(self._hop) + 0.5) / self._hop
        self._rise = (0.5 - 0.5 * np.cos(phase)).astype(np.float32)
        self._input = np.zeros(0, dtype=np.float32)
        self._input_start = 0
        self._n_in = 0
        self._n_out = 0
        self._frame = 0
        self._follow = 0  # input position that would continue the last frame naturally

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Take the next samples and return the output that they complete."""
        if self._tempo == 1.0:
            return np.asarray(samples, dtype=np.float32)
        self._input = np.concatenate((self._input, np.asarray(samples, dtype=np.float32)))
        self._n_in += len(samples)
        hops: List[np.ndarray] = []
        while self._reach() <= self._n_in:
            hops.append(self._next_hop())
        return self._joined(hops)

    def finish(self) -> np.ndarray:
        """Return the remaining output. The object must not be used afterwards."""
        if self._tempo == 1.0:
            return np.zeros(0, dtype=np.float32)
        missing = round(self._n_in / self._tempo) - self._n_out
        hops: List[np.ndarray] = []
        while len(hops) * self._hop < missing:
            short = self._reach() - self._input_start - len(self._input)
            self._input = np.concatenate((self._input, np.zeros(max(0, short), np.float32)))
            hops.append(self._next_hop())
        return self._joined(hops)[: max(0, missing)]

    def _joined(self, hops: List[np.ndarray]) -> np.ndarray:
        output = np.concatenate(hops) if hops else np.zeros(0, dtype=np.float32)
        self._n_out += len(output)
        return output

    def _nominal(self) -> int:
        return round(self._frame * self._hop * self._tempo)

    def _reach(self) -> int:
        """Input position up to which the next hop may read."""
        return max(self._nominal() + self._search, self._follow) + 2 * self._hop

    def _next_hop(self) -> np.ndarray:
        fading = self._read(self._follow, self._hop)
        position = self._best_position()
        rising = self._read(position, self._hop)
        self._follow = position + self._hop
        self._frame += 1
        self._forget(min(self._follow, self._nominal() - self._search))
        return fading + self._rise * (rising - fading)

    def _best_position(self) -> int:
        """Where, near the nominal position, the input looks most like the natural continuation."""
        nominal = self._nominal()
        first = max(0, nominal - self._search)
        target: np.ndarray = self._read(self._follow, 2 * self._hop).astype(np.float64)
        span = nominal + self._search - first + 2 * self._hop
        region: np.ndarray = self._read(first, span).astype(np.float64)
        match = np.correlate(region, target, mode="valid")
        energy = np.concatenate(([0.0], np.cumsum(region * region)))
        energy = energy[2 * self._hop :] - energy[: -2 * self._hop]
        score = match / np.sqrt(np.maximum(energy, 0.0) + 1e-6)
        best = int(np.argmax(score))
        return first + best if score[best] > 0 else nominal

    def _read(self, position: int, length: int) -> np.ndarray:
        start = position - self._input_start
        return self._input[start : start + length]

    def _forget(self, position: int) -> None:
        dropped = max(0, position - self._input_start)
        self._input = self._input[dropped:]
        self._input_start += dropped
