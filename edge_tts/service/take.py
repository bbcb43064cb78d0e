"""One run of an utterance on the sink: what is pending, what is written, what has been heard."""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import TYPE_CHECKING, Deque, Tuple

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk

_SLICE_S = 0.05


class Take:
    """Not thread-safe: the player guards it. Positions count samples from the beginning."""

    def __init__(self, run: int) -> None:
        self.run = run
        self.is_held = False
        self.is_complete = False
        self.pending: "Deque[AudioChunk]" = deque()
        self.unheard: "Deque[AudioChunk]" = deque()
        self.marks: Deque[Tuple[int, int]] = deque()
        self.n_fed = 0
        self.n_written = 0
        self.n_heard = 0
        self.rate_hz = 1

    def feed(self, chunk: "AudioChunk") -> None:
        """Append sound."""
        if chunk.offset == 0:
            self.marks.append((self.n_fed, chunk.segment_index))
        self.rate_hz = chunk.sample_rate_hz
        self.n_fed += len(chunk.samples)
        if len(chunk.samples):
            self.pending.append(chunk)

    def next_slice(self) -> "AudioChunk":
        """Move up to `_SLICE_S` of sound from pending to unheard."""
        chunk = self.pending.popleft()
        size = max(1, round(_SLICE_S * chunk.sample_rate_hz))
        if len(chunk.samples) > size:
            self.pending.appendleft(_part(chunk, size, len(chunk.samples)))
            chunk = _part(chunk, 0, size)
        self.unheard.append(chunk)
        self.n_written += len(chunk.samples)
        return chunk

    def heard(self, n_samples: int) -> None:
        """Note that the first `n_samples` have been heard, and forget them."""
        self.n_heard = max(self.n_heard, min(n_samples, self.n_written))
        start = self.n_written - sum(len(chunk.samples) for chunk in self.unheard)
        while self.unheard and start + len(self.unheard[0].samples) <= self.n_heard:
            start += len(self.unheard.popleft().samples)

    def rewind(self) -> None:
        """Put everything unheard back in front of what is pending, to the sample."""
        start = self.n_written - sum(len(chunk.samples) for chunk in self.unheard)
        chunks = list(self.unheard)
        if chunks:
            chunks[0] = _part(chunks[0], self.n_heard - start, len(chunks[0].samples))
        self.unheard.clear()
        self.pending.extendleft(reversed([chunk for chunk in chunks if len(chunk.samples)]))
        self.n_written = self.n_heard


def _part(chunk: "AudioChunk", start: int, stop: int) -> "AudioChunk":
    return dataclasses.replace(
        chunk,
        samples=chunk.samples[start:stop],
        offset=chunk.offset + start,
        is_final=chunk.is_final and stop == len(chunk.samples),
    )
