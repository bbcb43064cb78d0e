"""Can these frames be speech? The model now and then loops or never stops."""

from __future__ import annotations

from typing import Optional

import numpy as np

_MAX_PERIOD_SECONDS = 0.25
_LOOP_SECONDS = 1.5

MIN_SECONDS_PER_CHARACTER = 0.02
MAX_SECONDS_PER_CHARACTER = 0.6
_SPARE_SECONDS = 1.0
_SECONDS_PER_ID = 0.3  # a quarter more than Chinese takes at ease


def frame_limits(n_characters: int, frame_rate_hz: int) -> "tuple[int, int]":
    """Fewest and most frames that a text of this length can be spoken in."""
    shortest = MIN_SECONDS_PER_CHARACTER * n_characters
    longest = MAX_SECONDS_PER_CHARACTER * n_characters + _SPARE_SECONDS
    return max(1, int(shortest * frame_rate_hz)), int(longest * frame_rate_hz)


def expected_frames(n_text_ids: int, frame_rate_hz: int) -> int:
    """Frames that hardly any text of so many ids exceeds."""
    return int((_SECONDS_PER_ID * n_text_ids + _SPARE_SECONDS) * frame_rate_hz)


def loop_fault(codes: "np.ndarray", frame_rate_hz: int) -> Optional[str]:
    """Whether the latest 1.5 s of int [n, codebooks] repeat one short stretch, and which."""
    n = int(_LOOP_SECONDS * frame_rate_hz)
    if len(codes) < n:
        return None
    latest = codes[-n:]
    for period in range(1, int(_MAX_PERIOD_SECONDS * frame_rate_hz) + 1):
        if np.array_equal(latest[period:], latest[:-period]):
            return f"it repeats {period / frame_rate_hz:.2f} s of speech for {_LOOP_SECONDS} s"
    return None
