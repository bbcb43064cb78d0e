"""T5's relative position biases (Raffel et al. 2020): one number per head and distance."""

from __future__ import annotations

import numpy as np

HIDDEN = np.float32(-1e9)
"""Added to the score of a position that must not be seen; small enough for softmax to give 0."""


def buckets(
    distances: "np.ndarray", n_buckets: int, max_distance: int, *, is_causal: bool
) -> "np.ndarray":
    """Bucket of each distance, int [n]: where the key lies minus where the query lies.

    Near distances have a bucket each, far ones share them logarithmically. A causal decoder spends
    all buckets on the past.
    """
    offset = np.zeros(distances.shape, np.int64)
    if is_causal:
        away = np.maximum(-distances, 0)
    else:
        n_buckets //= 2
        offset += np.where(distances > 0, n_buckets, 0)
        away = np.abs(distances)
    n_exact = n_buckets // 2
    # In single precision, as the models were trained: a logarithm decides between buckets.
    ratio = np.log(np.maximum(away, 1).astype(np.float32) / np.float32(n_exact))
    far = ratio / np.float32(np.log(max_distance / n_exact)) * np.float32(n_buckets - n_exact)
    shared = np.minimum(n_exact + far.astype(np.int64), n_buckets - 1)
    found: np.ndarray = offset + np.where(away < n_exact, away, shared)
    return found


class EncoderBias:
    """Biases between all positions of a text."""

    def __init__(self, table: "np.ndarray", max_distance: int) -> None:
        """`table` is float32 [buckets, heads]."""
        self._table = table
        self._max_distance = max_distance

    def between(self, n: int) -> "np.ndarray":
        """Float32 [heads, n, n]."""
        at = np.arange(n)
        found = buckets(
            at[None] - at[:, None], len(self._table), self._max_distance, is_causal=False
        )
        bias: np.ndarray = np.ascontiguousarray(self._table[found].transpose(2, 0, 1))
        return bias


class DecoderBias:
    """Biases between new positions and those before them, with what is not there yet hidden."""

    def __init__(self, table: "np.ndarray", max_distance: int) -> None:
        """`table` is float32 [buckets, heads]."""
        self._table = table
        self._max_distance = max_distance
        self._by_distance: np.ndarray = np.zeros((self.n_heads, 0), np.float32)

    @property
    def n_heads(self) -> int:
        """Heads that have biases of their own."""
        return int(self._table.shape[1])

    def ending(self, n: int) -> "np.ndarray":
        """Float32 [heads, n]: biases of the latest of `n` positions towards all of them."""
        reversed_distances = self._reversed(n)
        return reversed_distances[:, reversed_distances.shape[1] - n :]

    def between(self, n_new: int, n_past: int, capacity: int) -> "np.ndarray":
        """Float32 [heads, n_new, capacity + n_new] for a cache of which `n_past` are filled."""
        reversed_distances = self._reversed(n_past + n_new)
        n_heads, n_known = reversed_distances.shape
        bias: np.ndarray = np.full((n_heads, n_new, capacity + n_new), HIDDEN, np.float32)
        for query in range(n_new):
            # Distances from the oldest position down to the query itself, 0.
            row = reversed_distances[:, n_known - n_past - query - 1 :]
            bias[:, query, :n_past] = row[:, :n_past]
            bias[:, query, capacity : capacity + query + 1] = row[:, n_past:]
        return bias

    def _reversed(self, n: int) -> "np.ndarray":
        """Biases [heads, at least n] by falling distance, the last column for distance 0."""
        if self._by_distance.shape[1] < n:
            distances = -np.arange(2 * n)[::-1]
            found = buckets(distances, len(self._table), self._max_distance, is_causal=True)
            self._by_distance = np.ascontiguousarray(self._table[found].T)
        return self._by_distance
