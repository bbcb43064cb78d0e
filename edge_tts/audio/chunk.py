"""The one type in which sound travels between rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class AudioChunk:
    """Mono float32 samples in [-1, 1] and where in the utterance they belong.

    `offset` is the position of the first sample within its segment, pause included, so that a
    restarted worker can continue at an exact sample. `is_final` marks a segment's last chunk.
    """

    samples: "np.ndarray"
    sample_rate_hz: int
    segment_index: int
    offset: int
    is_final: bool

    @property
    def duration_s(self) -> float:
        """Length of this chunk in seconds."""
        return len(self.samples) / self.sample_rate_hz
