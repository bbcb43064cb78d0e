"""Repetition-aware sampling of speech tokens (VALL-E 2, Chen et al. 2024, as CosyVoice uses it)."""

from __future__ import annotations

from typing import Callable, Sequence

import numpy as np

from edge_tts.voices.cosyvoice.settings import Settings

Uniform = Callable[[], float]
"""Source of numbers in [0, 1)."""


class Sampler:
    """Draws the next token: from the nucleus, or from everything else if that would repeat."""

    def __init__(self, settings: Settings, uniform: Uniform) -> None:
        self._settings = settings
        self._uniform = uniform

    def draw(self, log_probabilities: "np.ndarray", history: Sequence[int]) -> int:
        """One id for float32 [n]; -inf forbids an id. `history` are the tokens drawn before.

        Uses one uniform number, or two when the first draw is rejected as a repetition.
        """
        settings = self._settings
        probabilities = _softmax(log_probabilities)
        kept = _nucleus(probabilities, settings.top_p, settings.top_k)
        drawn = int(kept[self._pick(probabilities[kept])])
        recent = history[-settings.repeat_window :]
        n_repeats = sum(token == drawn for token in recent)
        if n_repeats < settings.repeat_window * settings.repeat_share:
            return drawn
        without = log_probabilities.copy()
        without[drawn] = -np.inf
        return self._pick(_softmax(without))

    def _pick(self, weights: "np.ndarray") -> int:
        """Index by inverting the cumulative distribution, in double precision."""
        exact: np.ndarray = weights.astype(np.float64)
        cumulative: np.ndarray = np.cumsum(exact / exact.sum())
        index = int(np.searchsorted(cumulative, self._uniform(), side="right"))
        return min(index, len(cumulative) - 1)


def _nucleus(probabilities: "np.ndarray", top_p: float, top_k: int) -> "np.ndarray":
    """Ids by falling probability until `top_p` is reached, the one that reaches it included."""
    order: np.ndarray = np.argsort(-probabilities, kind="stable")[:top_k]
    before = np.cumsum(probabilities[order].astype(np.float64))[:-1]
    count = 1 + int(np.count_nonzero(before < top_p))
    kept: np.ndarray = order[:count]
    return kept


def _softmax(logits: "np.ndarray") -> "np.ndarray":
    exponentials: np.ndarray = np.exp(logits - logits.max())
    result: np.ndarray = exponentials / exponentials.sum()
    return result


def log_softmax(logits: "np.ndarray") -> "np.ndarray":
    """Log probabilities of float32 [n]."""
    shifted: np.ndarray = logits - logits.max()
    result: np.ndarray = shifted - np.log(np.exp(shifted).sum())
    return result
