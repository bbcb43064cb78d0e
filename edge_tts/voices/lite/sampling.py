"""Drawing the next code, as Hugging Face's `generate` does it, with a guard against loops."""

from __future__ import annotations

from collections import deque
from typing import Callable, Deque, List

import numpy as np

from edge_tts.voices.lite.settings import CodecLayout, Sampling

Uniform = Callable[[], float]
"""Source of numbers in [0, 1)."""


class Sampler:
    """Draws codes of one utterance and remembers them, by codebook.

    Order of the steps, as in `transformers`: repetition penalty (Keskar et al. 2019), temperature,
    top-k, top-p. Then the guard of VALL-E 2 (Chen et al. 2024): a code that makes up too much of
    the latest ones is drawn again from all others.
    """

    def __init__(self, sampling: Sampling, layout: CodecLayout, uniform: Uniform) -> None:
        self._sampling = sampling
        self._stop = layout.codebook_size
        self._uniform = uniform
        self._seen: np.ndarray = np.zeros((layout.n_codebooks, layout.codebook_size + 1), bool)
        self._recent: List[Deque[int]] = [
            deque(maxlen=sampling.repeat_window) for _ in range(layout.n_codebooks)
        ]

    def draw(self, scores: "np.ndarray", codebook: int) -> int:
        """A code of `codebook` for float32 scores [size], or [size + 1] where the end may come.

        The end is the last score; it is returned as the codebook's size. Uses one uniform number,
        two when the guard draws again, none when greedy.
        """
        scores = penalised(
            scores, self._seen[codebook, : len(scores)], self._sampling.repetition_penalty
        )
        drawn = self._choose(scores)
        if drawn != self._stop:
            if self._repeats(drawn, codebook):
                drawn = self._other(scores, drawn)
            self._remember(drawn, codebook)
        return drawn

    def _choose(self, scores: "np.ndarray") -> int:
        if self._sampling.is_greedy:
            return int(scores.argmax())
        return pick(filtered(scores, self._sampling), self._uniform())

    def _other(self, scores: "np.ndarray", refused: int) -> int:
        others: np.ndarray = scores[: self._stop].copy()
        others[refused] = -np.inf
        if self._sampling.is_greedy:
            return int(others.argmax())
        return pick(others, self._uniform())

    def _repeats(self, code: int, codebook: int) -> bool:
        recent, window = self._recent[codebook], self._sampling.repeat_window
        if not window or len(recent) < window:
            return False
        return recent.count(code) >= window * self._sampling.repeat_share

    def _remember(self, code: int, codebook: int) -> None:
        if code < self._stop:
            self._seen[codebook, code] = True
            self._recent[codebook].append(code)


def penalised(scores: "np.ndarray", seen: "np.ndarray", penalty: float) -> "np.ndarray":
    """Scores with those of `seen` codes made smaller by the factor `penalty`."""
    if penalty == 1.0:
        return scores
    lowered = np.where(scores > 0, scores / penalty, scores * penalty)
    result: np.ndarray = np.where(seen, lowered, scores).astype(np.float32)
    return result


def filtered(scores: "np.ndarray", sampling: Sampling) -> "np.ndarray":
    """Scores after temperature, top-k (0: all) and top-p; -inf for codes that are not drawn."""
    scores = scores / np.float32(sampling.temperature)
    if 0 < sampling.top_k < len(scores):
        smallest_kept = np.partition(scores, -sampling.top_k)[-sampling.top_k]
        scores = np.where(scores < smallest_kept, -np.inf, scores)
    if sampling.top_p < 1.0:
        order = np.argsort(scores, kind="stable")
        cumulative = np.cumsum(probabilities(scores)[order])
        dropped = order[:-1][cumulative[:-1] <= 1.0 - sampling.top_p]
        scores = scores.copy()
        scores[dropped] = -np.inf
    return scores


def probabilities(scores: "np.ndarray") -> "np.ndarray":
    """Softmax of [n], in double precision."""
    exponentials = np.exp(scores.astype(np.float64) - scores.max())
    result: np.ndarray = exponentials / exponentials.sum()
    return result


def pick(scores: "np.ndarray", uniform: float) -> int:
    """Index by inverting the cumulative distribution in the order of the codes."""
    cumulative = np.cumsum(probabilities(scores))
    index = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
    return min(index, len(scores) - 1)
