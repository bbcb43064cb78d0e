"""Which frames of an utterance the generator need not compute.

Kokoro surrounds speech with silence, 15 to 40 % of a short utterance. The prosody part predicts
each frame's energy before the generator runs, so the silence is known beforehand. The generator
normalises over time and so depends on silence too; `edge_tts.build.kokoro.padding` makes a short
stretch of it count for all that is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

EDGE_FRAMES = 6
"""Frames (80 Hz) kept at the very beginning and end, where the model's own edges show."""

SAMPLE_OFFSET_FRAMES = EDGE_FRAMES + 1
SAMPLE_FRAMES = 8
"""Frames, counted inward from either end of what is kept, that stand for the silence left out."""

MARGIN_FRAMES = 12
"""Frames of silence kept next to the speech: the generator's context and the sample above."""

LEAD_FRAMES, TAIL_FRAMES = 4, 12
"""Frames of silence kept before and after the speech where nothing is measured in it."""

MIN_FRAMES = 2 * (SAMPLE_OFFSET_FRAMES + SAMPLE_FRAMES)
"""The shortest input whose samples exist."""

_SPEECH_ABOVE = -6.0
"""Energy (the model's own scale, about -10 to 10) of the faintest frame that is part of speech;
sound of this energy was measured at -60 dBFS and lower."""


@dataclass(frozen=True)
class Selection:
    """The frames to compute: `kept` indexes them, speech is `start` to `end` of the utterance.

    The first and last `EDGE_FRAMES` of `kept` lie outside `start` to `end`. `lead_share` and
    `tail_share` are the parts of all frames that are left out before and after the speech.
    """

    kept: "np.ndarray"
    start: int
    end: int
    lead_share: float
    tail_share: float


def select(energy: "np.ndarray") -> Selection:
    """Choose frames by their predicted energy, float [n] at 80 Hz with n ≥ `MIN_FRAMES`."""
    n_frames = len(energy)
    first, last = EDGE_FRAMES, n_frames - EDGE_FRAMES
    start, end = np.clip(speech(energy, MARGIN_FRAMES, MARGIN_FRAMES), first, last).tolist()
    kept = np.r_[0:EDGE_FRAMES, start:end, n_frames - EDGE_FRAMES : n_frames]
    return Selection(
        kept=kept,
        start=start,
        end=end,
        lead_share=(start - EDGE_FRAMES) / n_frames,
        tail_share=(n_frames - EDGE_FRAMES - end) / n_frames,
    )


def speech(energy: "np.ndarray", lead_frames: int, tail_frames: int) -> Tuple[int, int]:
    """First frame of the speech and the one after its last, with margins of silence if there are.

    An utterance without an audible frame is all speech.
    """
    audible = np.flatnonzero(energy > _SPEECH_ABOVE)
    if not len(audible):
        return 0, len(energy)
    start = max(0, int(audible[0]) - lead_frames)
    return start, min(len(energy), int(audible[-1]) + 1 + tail_frames)
