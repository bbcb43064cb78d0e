"""The generator on windows of an utterance: the first sound early, memory that does not grow."""

from __future__ import annotations

from typing import Iterator, Optional, Tuple

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.voices.kokoro.generator import Acoustics, check_samples
from edge_tts.voices.kokoro.silence import LEAD_FRAMES, TAIL_FRAMES, speech
from edge_tts.voices.kokoro.source import SAMPLES_PER_FRAME, HarmonicSource, HarmonicTrack
from edge_tts.voices.kokoro.statistics import StatisticsModel

WINDOW_FRAMES = (24, 24, 32, 48, 64, 96)
"""Lengths of the windows at 80 Hz; the last one repeats. They grow no faster than sound that is
already out lasts, on a machine that computes it at 0.55 times real time."""

CONTEXT_FRAMES = 8
"""Frames computed on either side of a window and thrown away: what its edges would spoil. Four
are as close to whole decoding, but a speech judge hears 0.01 to 0.03 of DNSMOS OVRL less."""

SHORTEST_FRAMES = 16
"""A remainder shorter than this is computed with the window before it."""

FADE_SAMPLES = 120
"""Overlap of neighbouring windows: each is quantised on its own, so they differ by a little."""


class WindowedGenerator:
    """Renders an utterance window by window, with predicted statistics of the whole."""

    def __init__(self, engine: Engine, source: HarmonicSource, statistics: StatisticsModel) -> None:
        self._engine = engine
        self._source = source
        self._statistics = statistics
        fade = (np.arange(FADE_SAMPLES, dtype=np.float32) + 0.5) / FADE_SAMPLES
        self._fade_in: np.ndarray = fade
        self._fade_out: np.ndarray = fade[::-1]

    def run(self, acoustics: Acoustics) -> Iterator["np.ndarray"]:
        """Yield the speech as float32 pieces at 24 kHz, one per window. Raises EngineError."""
        statistics = self._statistics.predict(acoustics)
        track = self._source.track(acoustics.f0_hz)
        overlap: Optional["np.ndarray"] = None
        for window in plan(*self.frames(acoustics)):
            audio = self._render(acoustics, statistics, track, window)
            n_samples = (window[1] - window[0]) * SAMPLES_PER_FRAME
            if overlap is not None:
                audio[: len(overlap)] *= self._fade_in[: len(overlap)]
                audio[: len(overlap)] += overlap
            yield audio[:n_samples]
            overlap = audio[n_samples : n_samples + FADE_SAMPLES]
            overlap *= self._fade_out[: len(overlap)]

    def frames(self, acoustics: Acoustics) -> Tuple[int, int]:
        """The frames that are rendered: the first, and the one after the last."""
        return speech(acoustics.energy, LEAD_FRAMES, TAIL_FRAMES)

    def close(self) -> None:
        """Release the engine."""
        self._engine.close()

    def _render(
        self,
        acoustics: Acoustics,
        statistics: "np.ndarray",
        track: HarmonicTrack,
        window: Tuple[int, int],
    ) -> "np.ndarray":
        """Samples from the start of `window` to the end of its right context."""
        start, end = window
        first = max(0, start - CONTEXT_FRAMES)
        last = min(len(acoustics.energy), end + CONTEXT_FRAMES)
        outputs = self._engine.run(
            {
                "features": np.ascontiguousarray(acoustics.features[:, :, first:last]),
                "harmonics": track.window(first, last),
                "style": acoustics.style,
                "statistics": statistics,
            }
        )
        audio = outputs["audio"].ravel()
        check_samples(audio)
        return audio[(start - first) * SAMPLES_PER_FRAME :]


def plan(start: int, end: int) -> Iterator[Tuple[int, int]]:
    """Divide frames `start` to `end` into windows (first frame, frame after the last)."""
    n_windows = 0
    while start < end:
        stop = start + WINDOW_FRAMES[min(n_windows, len(WINDOW_FRAMES) - 1)]
        if end - stop < SHORTEST_FRAMES:
            stop = end
        yield start, stop
        start = stop
        n_windows += 1
