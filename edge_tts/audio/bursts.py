"""Soften isolated bursts, so that no listener takes a hard plosive for a click.

A voice that opens a closure within one sample period, as Kokoro-82M now and then does for /t/ and
/k/, leaves a spike whose third difference towers over its neighbourhood, which is how click
detectors tell a fault in the sound from speech. Only such spikes are touched, for half a
millisecond to either side.
"""

from __future__ import annotations

import numpy as np

_BLOCK_S = 0.005
_LEVEL_BLOCKS = 4  # the neighbourhood is 20 ms long
_CONTEXT_BLOCKS = 4  # on each side; what a block's result depends on lies within
_REACH_S = 0.0005
_LEVEL_PERCENTILE = 90
_MAX_RATIO = 10.0
_FLOOR = 2e-3  # of full scale, about -54 dB: what is quieter than this is nobody's click
_SMOOTH = (0.0625, 0.25, 0.375, 0.25, 0.0625)


class BurstSoftener:
    """Softens the bursts of one segment, which lies between silences.

    Holds back 20 to 25 ms. How the samples are cut into pieces does not change the result.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._block_len = round(_BLOCK_S * sample_rate_hz)
        self._context_len = _CONTEXT_BLOCKS * self._block_len
        reach = round(_REACH_S * sample_rate_hz)
        offsets = np.arange(-reach, reach + 1)
        self._weights = (0.5 + 0.5 * np.cos(np.pi * offsets / (reach + 1))).astype(np.float32)
        self._waiting = np.zeros(self._context_len, dtype=np.float32)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Take samples float32 [n] and return those whose neighbourhood is known."""
        self._waiting = np.concatenate((self._waiting, samples))
        n_blocks = (len(self._waiting) - 2 * self._context_len) // self._block_len
        if n_blocks <= 0:
            return np.zeros(0, dtype=np.float32)
        done = n_blocks * self._block_len
        frame, self._waiting = (
            self._waiting[: done + 2 * self._context_len],
            self._waiting[done:],
        )
        return self._softened(frame)[self._context_len : -self._context_len]

    def finish(self) -> np.ndarray:
        """Return the rest."""
        n_left = len(self._waiting) - self._context_len
        missing = -n_left % self._block_len
        return self.push(np.zeros(missing + self._context_len, dtype=np.float32))[:n_left]

    def _softened(self, frame: np.ndarray) -> np.ndarray:
        bursts = self._bursts(frame)
        if not bursts.any():
            return frame
        weight = np.zeros_like(frame)
        reach = len(self._weights) // 2
        for position in np.flatnonzero(bursts):
            around = slice(position - reach, position + reach + 1)
            np.maximum(weight[around], self._weights, out=weight[around])
        return frame + weight * (_smoothed(frame) - frame)

    def _bursts(self, frame: np.ndarray) -> np.ndarray:
        """Where the third difference stands out; bool, false within a block of the edges."""
        bend = np.zeros_like(frame)
        bend[2:-1] = np.abs(np.diff(frame, 3))
        blocks = bend.reshape(-1, self._block_len)
        spans = [blocks[k : len(blocks) - _LEVEL_BLOCKS + 1 + k] for k in range(_LEVEL_BLOCKS)]
        levels = np.percentile(np.concatenate(spans, axis=1), _LEVEL_PERCENTILE, axis=1)
        # levels[k] is that of the span in whose middle block k + 2 begins.
        found = np.zeros(blocks.shape, dtype=bool)
        level = np.minimum(levels[:-1], levels[1:])[:, np.newaxis]
        found[2 : 2 + len(level)] = blocks[2 : 2 + len(level)] > _MAX_RATIO * (level + _FLOOR)
        return found.reshape(-1)


def _smoothed(frame: np.ndarray) -> np.ndarray:
    padded = np.pad(frame, len(_SMOOTH) // 2)
    smooth = np.zeros_like(frame)
    for k, share in enumerate(_SMOOTH):
        smooth += np.float32(share) * padded[k : k + len(frame)]
    return smooth
