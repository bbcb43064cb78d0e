"""The one type in which sound travels between rooms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Iterator, Tuple

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class AudioChunk:
    """Mono float32 samples in [-1, 1] and where in the utterance they belong.

    `offset` is the position of the first sample within its segment, pause included, so that a
    restarted worker can continue at an exact sample. `is_final` marks a segment's last chunk.
    `marks` are the names of the SSML marks that stand at its first sample.
    """

    samples: "np.ndarray"
    sample_rate_hz: int
    segment_index: int
    offset: int
    is_final: bool
    marks: Tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """Length of this chunk in seconds."""
        return len(self.samples) / self.sample_rate_hz


def with_marks(chunks: Iterator[AudioChunk], marks: Tuple[str, ...]) -> Iterator[AudioChunk]:
    """The chunks, the first one that is sound or final with the marks that stand there."""
    for chunk in chunks:
        if marks and (len(chunk.samples) or chunk.is_final):
            yield replace(chunk, marks=marks)
            marks = ()
        else:
            yield chunk


def from_offset(chunks: Iterator[AudioChunk], skip: int) -> Iterator[AudioChunk]:
    """Drop the first `skip` samples of a segment."""
    for chunk in chunks:
        missing = skip - chunk.offset
        if missing <= 0 or not (len(chunk.samples) or chunk.is_final):
            yield chunk
        elif missing < len(chunk.samples) or chunk.is_final:
            yield replace(chunk, samples=chunk.samples[missing:], offset=skip)
