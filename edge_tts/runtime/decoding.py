"""Decoding one sequence step by step, with the cache kept where the engine computes.

A model with a key/value cache reads the rows of all earlier positions and yields those of the new
ones. Only the engine knows where these rows live: in host memory for ONNX Runtime, on the device
for TensorRT. A voice hands in new positions and never sees the cache.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Mapping, Tuple

import numpy as np

from edge_tts.errors import EngineError

if TYPE_CHECKING:
    from edge_tts.runtime.engine import Engine


@dataclass(frozen=True)
class Cache:
    """The tensors of a model that carry its cache from step to step."""

    past: str
    """Input [m, *row_shape]: the rows of all earlier positions."""
    new: str
    """Output [n, *row_shape]: the rows of this step's positions."""
    length: str
    """Input int32 [1] of a graph whose past has a fixed size: how many of its rows count."""
    row_shape: Tuple[int, ...]
    tables: Tuple[str, ...] = ()
    """Inputs that do not change; a step reads one row for each position, earlier and new."""


class Decoding(abc.ABC):
    """One sequence being decoded. The engine must not be used otherwise until it is closed."""

    @property
    @abc.abstractmethod
    def n_positions(self) -> int:
        """Positions decoded so far."""

    @abc.abstractmethod
    def step(self, rows: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Decode the positions that `rows` hold, one per row; returns all outputs but the cache.

        Raises EngineError; the sequence then stands where it stood before.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """End the sequence. Idempotent."""


class HostDecoding(Decoding):
    """The cache in one block of host memory that never moves.

    Positions come first, so the used part is contiguous and is given to the engine without a copy.
    Pages are taken from the system as they are filled.
    """

    def __init__(
        self,
        engine: "Engine",
        cache: Cache,
        n_positions: int,
        tables: "Mapping[str, np.ndarray]",
    ) -> None:
        """Room for `n_positions`; `tables` holds those of `cache`."""
        self._engine = engine
        self._cache = cache
        self._tables = tables
        self._block: np.ndarray = np.empty((n_positions, *cache.row_shape), np.float32)
        self._used = 0

    @property
    def n_positions(self) -> int:
        """Rows in use."""
        return self._used

    @property
    def past(self) -> "np.ndarray":
        """The rows in use, float32 [m, *row_shape]."""
        filled: np.ndarray = self._block[: self._used]
        return filled

    def step(self, rows: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run the engine once on the rows so far and remember the new ones."""
        end = self._used + check_room(rows, self._used, len(self._block))
        prefixes = {name: table[:end] for name, table in self._tables.items()}
        past = {self._cache.past: self.past}
        outputs = self._engine.run({**rows, **prefixes, **past})
        self._block[self._used : end] = outputs.pop(self._cache.new)
        self._used = end
        return outputs

    def close(self) -> None:
        """Give the block back."""
        # A copy: a view would keep the whole block.
        self._block = self._block[:0].copy()


def check_room(rows: "Mapping[str, np.ndarray]", n_used: int, capacity: int) -> int:
    """How many positions `rows` hold. Raises EngineError when they do not fit."""
    n_new = len(next(iter(rows.values())))
    if n_used + n_new > capacity:
        raise EngineError(
            f"the cache has room for {capacity} positions, not for {n_used + n_new}",
            code="engine.run_failed",
        )
    return n_new
