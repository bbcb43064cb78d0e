"""What a model part looks like to a voice, whichever backend runs it."""

from __future__ import annotations

import abc
from types import TracebackType
from typing import TYPE_CHECKING, Callable, Dict, Mapping, Optional, Tuple, Type

if TYPE_CHECKING:
    import numpy as np

    from edge_tts.runtime.decoding import Cache, Decoding

Observer = Callable[["Mapping[str, np.ndarray]", "Mapping[str, np.ndarray]"], None]
"""Is told the inputs and outputs of a run, which may change once it returns: copy what stays."""


class Engine(abc.ABC):
    """One loaded model part: named tensors in, named tensors out.

    Not thread-safe. Every failure is an `EngineError`.
    """

    @property
    @abc.abstractmethod
    def inputs(self) -> Tuple[str, ...]:
        """Names of the tensors `run` must be given."""

    @property
    @abc.abstractmethod
    def outputs(self) -> Tuple[str, ...]:
        """Names of the tensors `run` returns."""

    @property
    @abc.abstractmethod
    def memory_bytes(self) -> int:
        """Weights this engine keeps mapped or allocated; working memory is not counted."""

    @abc.abstractmethod
    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Compute every output. Raises `EngineError` on wrong names, shapes or types."""

    def decode(
        self, cache: "Cache", n_positions: int, tables: "Mapping[str, np.ndarray]"
    ) -> "Decoding":
        """Begin a sequence of at most `n_positions`, with the cache where the engine computes.

        `tables` are the arrays behind `cache.tables`. Raises EngineError.
        """
        from edge_tts.runtime.decoding import HostDecoding

        return HostDecoding(self, cache, n_positions, tables)

    @abc.abstractmethod
    def close(self) -> None:
        """Give the memory back. Idempotent; `run` fails afterwards."""

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()
