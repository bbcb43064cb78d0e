"""Several utterances decoded side by side: a step reads the decoder's weights once for all of them.

Their texts and caches lie behind each other, and biases hide from every utterance what is not its
own: a hidden position has a share of exactly 0. So nothing is padded, and an utterance that has
ended costs no more steps.
"""

from __future__ import annotations

from typing import Dict, List, Sequence

import numpy as np

from edge_tts.voices.lite.interleaving import Drawing
from edge_tts.voices.lite.position_bias import HIDDEN, DecoderBias

MAX_UTTERANCES = 8
"""In a pack. Attention runs over the positions of all, so its cost grows with their square."""

CrossCache = Dict[str, "np.ndarray"]
"""Keys and values of a text for every decoder layer, computed once."""


class Pack:
    """Drawings that are advanced together, each over a text of its own."""

    def __init__(
        self, drawings: Sequence[Drawing], texts: Sequence[CrossCache], max_positions: int
    ) -> None:
        self._drawings = drawings
        lengths = [n_text_ids(text) for text in texts]
        self.cross = _side_by_side(texts)
        self._text_owners: np.ndarray = np.repeat(np.arange(len(texts)), lengths)
        self._owners: np.ndarray = np.full(max_positions, -1, np.int32)
        self._n_cached = 0
        self._n_taken = [0] * len(drawings)
        self.codes: "List[List[np.ndarray]]" = [[] for _ in drawings]
        """The frames drawn so far, by drawing."""

    @property
    def active(self) -> List[int]:
        """Numbers of the drawings that are not over."""
        return [i for i, drawing in enumerate(self._drawings) if not drawing.is_over]

    def rows(self, active: List[int]) -> "np.ndarray":
        """Int [n, m]: the embedding rows of the next position of each."""
        return np.array([self._drawings[i].rows for i in active])

    def text_bias(self, active: List[int]) -> "np.ndarray":
        """Float32 [n, s]: 0 where a text is the drawing's own."""
        is_own = self._text_owners[None] == np.array(active)[:, None]
        bias: np.ndarray = np.where(is_own, np.float32(0), HIDDEN)
        return bias

    def bias(self, active: List[int], known: DecoderBias, capacity: int) -> "np.ndarray":
        """Float32 [heads, n, capacity + n] for a cache of that capacity."""
        n = len(active)
        owners = self._owners[: self._n_cached]
        bias: np.ndarray = np.full((known.n_heads, n, capacity + n), HIDDEN, np.float32)
        for query, drawing in enumerate(active):
            row = known.ending(self._n_taken[drawing] + 1)
            bias[:, query, np.flatnonzero(owners == drawing)] = row[:, :-1]
            bias[:, query, capacity + query] = row[:, -1]
        return bias

    def take(self, active: List[int], scores: "np.ndarray") -> None:
        """Give each its scores, float32 [n, ids]."""
        n = len(active)
        self._owners[self._n_cached : self._n_cached + n] = active
        self._n_cached += n
        for row, drawing in enumerate(active):
            self._n_taken[drawing] += 1
            frame = self._drawings[drawing].take(scores[row])
            if frame is not None:
                self.codes[drawing].append(frame)


def packs(n_positions: Sequence[int], most: int) -> List[List[int]]:
    """Divide utterances, by the positions each is expected to take, into packs; longest first.

    A pack has at most `MAX_UTTERANCES` and, unless it has one alone, at most `most` positions.
    """
    found: List[List[int]] = []
    left = 0
    for number in sorted(range(len(n_positions)), key=lambda i: -n_positions[i]):
        left -= n_positions[number]
        if not found or left < 0 or len(found[-1]) == MAX_UTTERANCES:
            found.append([])
            left = most - n_positions[number]
        found[-1].append(number)
    return found


def n_text_ids(cross: CrossCache) -> int:
    """Length of the text that keys and values were computed from."""
    return int(cross["text_keys_0"].shape[2])


def _side_by_side(texts: Sequence[CrossCache]) -> CrossCache:
    axes = {"text_keys": 2, "text_values": 1}
    return {
        name: np.concatenate([text[name] for text in texts], axis=axes[name.rpartition("_")[0]])
        for name in texts[0]
    }
