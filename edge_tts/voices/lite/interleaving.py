"""From decoder steps to frames of codes, for each way the codes are interleaved."""

from __future__ import annotations

import abc
from typing import Callable, Iterator, List, Optional

import numpy as np

from edge_tts.voices.lite.sampling import Sampler
from edge_tts.voices.lite.settings import DELAY, CodecLayout

Step = Callable[[List[int]], "np.ndarray"]
"""Runs one position with these rows of the embedding table; returns the scores of all codes."""


def n_positions(layout: CodecLayout, n_frames: int) -> int:
    """Decoder positions that an utterance of `n_frames` takes at most."""
    return 1 + layout.positions_per_frame * n_frames + max(layout.delays)


def frames(
    layout: CodecLayout, step: Step, sampler: Sampler, min_frames: int, max_frames: int
) -> Iterator["np.ndarray"]:
    """Yield frames int [codebooks], each before the next step is run.

    Ends where the model ends, at `max_frames` at the latest. `min_frames` is at least 1.
    """
    drawing = begin(layout, sampler, min_frames, max_frames)
    while not drawing.is_over:
        frame = drawing.take(step(drawing.rows))
        if frame is not None:
            yield frame


def begin(layout: CodecLayout, sampler: Sampler, min_frames: int, max_frames: int) -> "Drawing":
    """A drawing before its first position."""
    kind = _DelayedDrawing if layout.interleaving == DELAY else _FlatDrawing
    return kind(layout, sampler, min_frames, max_frames)


class Drawing(abc.ABC):
    """The codes of one utterance while they are drawn, a decoder position at a time."""

    def __init__(
        self, layout: CodecLayout, sampler: Sampler, min_frames: int, max_frames: int
    ) -> None:
        self._layout = layout
        self._sampler = sampler
        self._min_frames = min_frames
        self._max_frames = max_frames
        self.is_over = False
        self.rows: List[int] = []
        """What the next position takes in: rows of the embedding table, whose sum it is."""

    @abc.abstractmethod
    def take(self, scores: "np.ndarray") -> Optional["np.ndarray"]:
        """Draw by the scores of all codes after that position; a frame when one is complete."""

    def _draw(self, scores: "np.ndarray", codebook: int, *, may_stop: bool) -> int:
        """A code, or the codebook's size for the end."""
        first = self._layout.row(codebook, 0)
        own: np.ndarray = scores[first : first + self._layout.codebook_size]
        candidates = np.append(own, scores[self._layout.stop_id]) if may_stop else own
        return self._sampler.draw(candidates, codebook)


class _FlatDrawing(Drawing):
    """A position for every code."""

    def __init__(
        self, layout: CodecLayout, sampler: Sampler, min_frames: int, max_frames: int
    ) -> None:
        super().__init__(layout, sampler, min_frames, max_frames)
        self.rows = [layout.start_row]
        self._codes: List[int] = []
        self._n_frames = 0

    def take(self, scores: "np.ndarray") -> Optional["np.ndarray"]:
        codebook = len(self._codes)
        may_stop = codebook == 0 and self._n_frames >= self._min_frames
        code = self._draw(scores, codebook, may_stop=may_stop)
        if code == self._layout.codebook_size:
            self.is_over = True
            return None
        self.rows = [self._layout.row(codebook, code)]
        self._codes.append(code)
        if len(self._codes) < self._layout.n_codebooks:
            return None
        frame: np.ndarray = np.array(self._codes, np.int32)
        self._codes = []
        self._n_frames += 1
        self.is_over = self._n_frames == self._max_frames
        return frame


class _DelayedDrawing(Drawing):
    """A position for every frame, in which each codebook lags behind by its delay."""

    def __init__(
        self, layout: CodecLayout, sampler: Sampler, min_frames: int, max_frames: int
    ) -> None:
        super().__init__(layout, sampler, min_frames, max_frames)
        self.rows = [layout.start_row] * layout.n_codebooks
        self._longest = max(layout.delays)
        self._codes: np.ndarray = np.zeros((max_frames, layout.n_codebooks), np.int32)
        self._end: Optional[int] = None
        self._position = 0

    def take(self, scores: "np.ndarray") -> Optional["np.ndarray"]:
        for codebook, delay in enumerate(self._layout.delays):
            self._take_code(scores, codebook, self._position - delay)
        self._position += 1
        if self._end is None and self._position == self._max_frames:
            self._end = self._max_frames
        self.is_over = self._end is not None and self._position >= self._end + self._longest
        complete = self._position - self._longest
        if complete > 0 and (self._end is None or complete <= self._end):
            frame: np.ndarray = self._codes[complete - 1]
            return frame
        return None

    def _take_code(self, scores: "np.ndarray", codebook: int, frame: int) -> None:
        self.rows[codebook] = self._layout.pad_row
        if frame < 0 or (self._end is not None and frame >= self._end):
            return
        may_stop = codebook == 0 and frame >= self._min_frames
        code = self._draw(scores, codebook, may_stop=may_stop)
        if code == self._layout.codebook_size:
            self._end = frame
            return
        self._codes[frame, codebook] = code
        self.rows[codebook] = self._layout.row(codebook, code)
