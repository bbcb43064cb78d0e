"""Keys and values that the decoder remembers of an utterance; they live as long as it does."""

from __future__ import annotations

from typing import Dict, List

import numpy as np

from edge_tts.voices.lite.settings import Settings

BLOCK_POSITIONS = 256
"""The cache grows by this many positions, so that an engine's input keeps its shape for a while."""


class SelfCache:
    """Per layer, keys float32 [heads, size, capacity] and values [heads, capacity, size].

    Both lie as attention reads them, keys transposed: a step multiplies one row with them and reads
    every number once. What is not filled yet is zero and must be hidden by the position bias.
    """

    def __init__(self, settings: Settings, max_positions: int) -> None:
        self._max_positions = max_positions
        self._used = 0
        heads, size = settings.n_heads, settings.head_size
        first = min(BLOCK_POSITIONS, max_positions)
        self._keys: List[np.ndarray] = [
            np.zeros((heads, size, first), np.float32) for _ in range(settings.n_layers)
        ]
        self._values: List[np.ndarray] = [
            np.zeros((heads, first, size), np.float32) for _ in range(settings.n_layers)
        ]

    @property
    def used(self) -> int:
        """Positions filled."""
        return self._used

    @property
    def capacity(self) -> int:
        """Positions there is room for now."""
        return int(self._keys[0].shape[2])

    @property
    def n_bytes(self) -> int:
        """Size of all blocks."""
        return sum(block.nbytes for block in (*self._keys, *self._values))

    def inputs(self) -> "Dict[str, np.ndarray]":
        """The blocks by the names of the decoder's inputs, without a copy."""
        found = {f"keys_{i}": block for i, block in enumerate(self._keys)}
        found.update({f"values_{i}": block for i, block in enumerate(self._values)})
        return found

    def append(self, outputs: "Dict[str, np.ndarray]", n: int) -> None:
        """Add the `n` new positions of a run; the caller keeps to `max_positions`."""
        end = self._used + n
        while end > self.capacity:
            self._grow()
        for i, (keys, values) in enumerate(zip(self._keys, self._values)):
            keys[:, :, self._used : end] = outputs[f"new_keys_{i}"]
            values[:, self._used : end] = outputs[f"new_values_{i}"]
        self._used = end

    def _grow(self) -> None:
        """Make room, layer by layer, so that only one layer is there twice at any time."""
        capacity = min(self.capacity + BLOCK_POSITIONS, self._max_positions)
        if capacity == self.capacity:
            raise ValueError(f"the cache was made for {capacity} positions")
        for i in range(len(self._keys)):
            heads, size, old = self._keys[i].shape
            keys: np.ndarray = np.zeros((heads, size, capacity), np.float32)
            keys[:, :, :old] = self._keys[i]
            self._keys[i] = keys
            values: np.ndarray = np.zeros((heads, capacity, size), np.float32)
            values[:, :old] = self._values[i]
            self._values[i] = values
