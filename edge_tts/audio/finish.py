"""Turn what a voice yields for one segment into sound that can be joined to the next.

Streaming: edges trimmed to a set lead and tail, level set, bursts softened, peaks limited, faded,
then the pause.
Nothing here looks at how the voice cut its pieces, and no state outlives a segment, so the same
segment gives the same samples again, which is what lets a restarted worker continue exactly.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Deque, Iterable, Iterator, List

import numpy as np

from edge_tts.audio.blocks import Blocks, checked_piece
from edge_tts.audio.bursts import BurstSoftener
from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.level import limit
from edge_tts.audio.tempo import TimeStretch
from edge_tts.errors import InputError

_BLOCK_S = 0.005  # one block is both the grain of the trim and the length of a fade
_MAX_HELD_S = 30.0
_MAX_CHUNK_S = 1.0

MAX_PAUSE_S = 60.0
"""Longest pause after a segment."""


@dataclass(frozen=True)
class EdgeShape:
    """What the edges of a segment are brought to.

    A block of 5 ms counts as silence below `silence_dbfs` (RMS without its mean, after the
    speaker's gain). With speech near -23 LUFS the default lies 40 dB under it: below the faintest
    fricatives, above the breath noise that voices leave in their padding.
    """

    lead_s: float = 0.03
    tail_s: float = 0.06
    silence_dbfs: float = -63.0


class SegmentFinisher:
    """Finishes segments of one sample rate; keeps no state between them."""

    def __init__(self, sample_rate_hz: int, *, edges: EdgeShape = EdgeShape()) -> None:
        self.sample_rate_hz = sample_rate_hz
        self._edges = edges

    def finish(
        self,
        pieces: Iterable[np.ndarray],
        segment_index: int,
        pause_s: float,
        *,
        volume: float = 1.0,
        gain: float = 1.0,
        tempo: float = 1.0,
    ) -> Iterator[AudioChunk]:
        """Yield the chunks of one segment, the last one marked final, pause included.

        `gain` is the speaker's fixed level correction and decides what counts as silence; `volume`
        is the listener's wish. Closing this iterator closes `pieces`; a chunk without samples only
        offers the chance to do so.
        Raises AudioError `audio.not_finite` for NaN, infinity or arrays that are not mono, and
        InputError for a volume, gain, pause or tempo out of range.
        """
        _check_range("volume", volume, 0.0, 10.0)
        _check_range("gain", gain, 0.0, 100.0)
        _check_range("pause_s", pause_s, 0.0, MAX_PAUSE_S)
        stretch = TimeStretch(self.sample_rate_hz, tempo)
        pause = np.zeros(round(pause_s * self.sample_rate_hz), dtype=np.float32)
        return self._chunks(self._shaped(pieces, stretch, gain, volume, pause), segment_index)

    def _shaped(
        self,
        pieces: Iterable[np.ndarray],
        stretch: TimeStretch,
        gain: float,
        volume: float,
        pause: np.ndarray,
    ) -> Iterator[np.ndarray]:
        trim = _EdgeTrim(self.sample_rate_hz, self._edges)
        soften = BurstSoftener(self.sample_rate_hz)
        try:
            for piece in pieces:
                stretched = stretch.push(checked_piece(piece))
                body = soften.push(trim.push(stretched * np.float32(gain)))
                yield limit(body * np.float32(volume))
            last = trim.push(stretch.finish() * np.float32(gain))
            body = np.concatenate((soften.push(last), soften.push(trim.finish()), soften.finish()))
            yield np.concatenate((limit(body * np.float32(volume)), pause))
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    def _chunks(self, arrays: Iterator[np.ndarray], segment_index: int) -> Iterator[AudioChunk]:
        """Cut to at most one second, and know the last one."""
        limit_len = round(_MAX_CHUNK_S * self.sample_rate_hz)
        offset = 0
        waiting = np.zeros(0, dtype=np.float32)
        try:
            for array in arrays:
                if not len(array):
                    # A chance to stop for the reader, while the voice is still at work.
                    nothing = np.zeros(0, dtype=np.float32)
                    yield AudioChunk(nothing, self.sample_rate_hz, segment_index, offset, False)
                for start in range(0, len(array), limit_len):
                    if len(waiting):
                        yield AudioChunk(waiting, self.sample_rate_hz, segment_index, offset, False)
                    offset += len(waiting)
                    waiting = array[start : start + limit_len]
            yield AudioChunk(waiting, self.sample_rate_hz, segment_index, offset, True)
        finally:
            arrays.close()  # type: ignore[attr-defined]


class _EdgeTrim:
    """Cuts near-silence from both ends of a segment, never from its middle."""

    def __init__(self, sample_rate_hz: int, edges: EdgeShape) -> None:
        self._block_len = round(_BLOCK_S * sample_rate_hz)
        self._lead_len = round(edges.lead_s * sample_rate_hz)
        self._tail_len = round(edges.tail_s * sample_rate_hz)
        self._threshold = 10.0 ** (edges.silence_dbfs / 20.0)
        self._max_held = round(_MAX_HELD_S / _BLOCK_S)
        phase = np.pi * (np.arange(self._block_len) + 0.5) / self._block_len
        self._rise = (0.5 - 0.5 * np.cos(phase)).astype(np.float32)
        self._blocks = Blocks(self._block_len)
        self._before = np.zeros(0, dtype=np.float32)  # sound before the onset, at most the lead
        # After the onset: the last block of speech, then the silence that followed it so far.
        self._held: Deque[np.ndarray] = deque()

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Take samples and return those that are sure to stay."""
        kept: List[np.ndarray] = []
        for block in self._blocks.push(samples):
            kept.extend(self._step(block))
        return _joined(kept)

    def finish(self) -> np.ndarray:
        """Return the end of the segment, cut and faded; empty if no speech was found."""
        rest = self._blocks.rest()
        if not self._held:
            if not self._is_speech(rest):
                return np.zeros(0, dtype=np.float32)
            kept = _joined(self._onset(rest))
            return self._ended(np.concatenate((kept, _joined(self._held))), 0)
        speech_len = self._block_len
        ending = np.concatenate((_joined(self._held), rest))
        if self._is_speech(rest):
            speech_len = len(ending)
        return self._ended(ending[: speech_len + self._tail_len], speech_len)

    def _step(self, block: np.ndarray) -> List[np.ndarray]:
        speech = self._is_speech(block)
        if not self._held:
            if speech:
                return self._onset(block)
            self._before = np.concatenate((self._before, block))[-self._lead_len or len(block) :]
            return []
        released: List[np.ndarray] = []
        if speech:
            released = list(self._held)
            self._held.clear()
        elif len(self._held) > self._max_held:
            released = [self._held.popleft()]
        self._held.append(block)
        return released

    def _onset(self, block: np.ndarray) -> List[np.ndarray]:
        missing = np.zeros(self._lead_len - len(self._before), dtype=np.float32)
        content = np.concatenate((self._before, block))
        fade_len = min(len(content), self._block_len)
        content[:fade_len] *= self._rise[:fade_len]
        self._held.append(content[len(self._before) :])
        return [missing, content[: len(self._before)]]

    def _ended(self, ending: np.ndarray, speech_len: int) -> np.ndarray:
        """Fade the last 5 ms out and fill up to the full tail."""
        fade_len = min(len(ending), self._block_len)
        ending[len(ending) - fade_len :] *= self._rise[:fade_len][::-1]
        missing = max(0, speech_len + self._tail_len - len(ending))
        return np.concatenate((ending, np.zeros(missing, dtype=np.float32)))

    def _is_speech(self, block: np.ndarray) -> bool:
        return bool(len(block)) and float(np.std(block, dtype=np.float64)) > self._threshold


def _joined(arrays: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate((np.zeros(0, dtype=np.float32), *arrays))


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} must be from {low:g} to {high:g}, not {value!r}")
