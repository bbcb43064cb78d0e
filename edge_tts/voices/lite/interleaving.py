"""From decoder steps to frames of codes, for each way the codes are interleaved."""

from __future__ import annotations

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
    loop = _delayed if layout.interleaving == DELAY else _flat
    return loop(layout, step, sampler, min_frames, max_frames)


def _flat(
    layout: CodecLayout, step: Step, sampler: Sampler, min_frames: int, max_frames: int
) -> Iterator["np.ndarray"]:
    row = layout.start_row
    for n_frames in range(max_frames):
        codes = []
        for codebook in range(layout.n_codebooks):
            may_stop = codebook == 0 and n_frames >= min_frames
            code = sampler.draw(
                _candidates(layout, step([row]), codebook, may_stop=may_stop), codebook
            )
            if code == layout.codebook_size:
                return
            codes.append(code)
            row = layout.row(codebook, code)
        yield np.array(codes, np.int32)


def _delayed(
    layout: CodecLayout, step: Step, sampler: Sampler, min_frames: int, max_frames: int
) -> Iterator["np.ndarray"]:
    rows, longest = [layout.start_row] * layout.n_codebooks, max(layout.delays)
    codes: np.ndarray = np.zeros((max_frames, layout.n_codebooks), np.int32)
    end: Optional[int] = None
    position = 0
    while end is None or position < end + longest:
        scores = step(rows)
        for codebook, delay in enumerate(layout.delays):
            frame = position - delay
            rows[codebook] = layout.pad_row
            if frame < 0 or (end is not None and frame >= end):
                continue
            may_stop = codebook == 0 and frame >= min_frames
            code = sampler.draw(_candidates(layout, scores, codebook, may_stop=may_stop), codebook)
            if code == layout.codebook_size:
                end = frame
                continue
            codes[frame, codebook] = code
            rows[codebook] = layout.row(codebook, code)
        position += 1
        end = max_frames if end is None and position == max_frames else end
        complete = position - longest
        if complete > 0 and (end is None or complete <= end):
            yield codes[complete - 1]


def _candidates(
    layout: CodecLayout, scores: "np.ndarray", codebook: int, *, may_stop: bool
) -> "np.ndarray":
    """Scores of one codebook, and that of the end behind them where it may come."""
    first = layout.row(codebook, 0)
    own: np.ndarray = scores[first : first + layout.codebook_size]
    return np.append(own, scores[layout.stop_id]) if may_stop else own
