"""An engine that goes on with another one when it fails, without losing or repeating anything."""

from __future__ import annotations

import logging
from typing import Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from edge_tts.errors import EngineError
from edge_tts.runtime.decoding import Cache, Decoding
from edge_tts.runtime.engine import Engine

log = logging.getLogger(__name__)

_ONE_CALL_ONLY = "engine.shape_unsupported"
"""The first engine is sound, it was only not made for this call."""


class FallbackEngine(Engine):
    """Runs `first`; from its first failure on, the engine that `open_second` opens.

    The call that failed is repeated there with the same inputs, so that its caller notices only
    the time it takes. `on_failure` is told once, before the second engine is opened.
    """

    def __init__(
        self,
        first: Engine,
        open_second: Callable[[], Engine],
        on_failure: Callable[[EngineError], None],
    ) -> None:
        self._first: Optional[Engine] = first
        self._open_second = open_second
        self._second: Optional[Engine] = None
        self._on_failure = on_failure
        self._inputs, self._outputs = first.inputs, first.outputs
        self._closed = False

    @property
    def inputs(self) -> Tuple[str, ...]:
        """Names of the first engine's inputs."""
        return self._inputs

    @property
    def outputs(self) -> Tuple[str, ...]:
        """Names of the first engine's outputs."""
        return self._outputs

    @property
    def memory_bytes(self) -> int:
        """Weights of the engines that are open."""
        engines = [engine for engine in (self._first, self._second) if engine is not None]
        return sum(engine.memory_bytes for engine in engines)

    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run on the first engine, or on the second."""
        if self._first is not None:
            try:
                return self._first.run(inputs)
            except EngineError as error:
                self.failed(error)
        return self.second.run(inputs)

    def decode(
        self, cache: Cache, n_positions: int, tables: "Mapping[str, np.ndarray]"
    ) -> Decoding:
        """Begin a sequence that survives the first engine's failure."""
        return FallbackDecoding(self, self._first, cache, n_positions, tables)

    def failed(self, error: EngineError) -> None:
        """Give the first engine up, unless it was only not made for this call."""
        if error.code == _ONE_CALL_ONLY:
            log.info("one call goes to the other engine: %s", error)
            return
        first, self._first = self._first, None
        if first is not None:
            first.close()
            self._on_failure(error)

    @property
    def second(self) -> Engine:
        """The other engine, opened when it is first needed. Raises EngineError."""
        if self._closed:
            raise EngineError("the engine has been closed", code="engine.closed")
        if self._second is None:
            self._second = self._open_second()
        return self._second

    def close(self) -> None:
        """Close both."""
        for engine in (self._first, self._second):
            if engine is not None:
                engine.close()
        self._first = self._second = None
        self._closed = True


class FallbackDecoding(Decoding):
    """A sequence that can be decoded again from its rows, which are small."""

    def __init__(
        self,
        engine: FallbackEngine,
        first: Optional[Engine],
        cache: Cache,
        n_positions: int,
        tables: "Mapping[str, np.ndarray]",
    ) -> None:
        self._engine = engine
        self._arguments = (cache, n_positions, tables)
        self._history: "List[Mapping[str, np.ndarray]]" = []
        self._is_second = first is None
        self._decoding = self._begin(first)

    @property
    def n_positions(self) -> int:
        """Positions decoded so far."""
        return self._decoding.n_positions

    def step(self, rows: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Decode on the engine in use; after a failure, everything again on the other."""
        if not self._is_second:
            try:
                outputs = self._decoding.step(rows)
            except EngineError as error:
                self._switch(error)
            else:
                self._history.append({name: array.copy() for name, array in rows.items()})
                return outputs
        return self._decoding.step(rows)

    def close(self) -> None:
        """End the sequence."""
        self._decoding.close()
        self._history = []

    def _begin(self, first: Optional[Engine]) -> Decoding:
        if first is not None:
            try:
                return first.decode(*self._arguments)
            except EngineError as error:
                self._engine.failed(error)
        self._is_second = True
        return self._engine.second.decode(*self._arguments)

    def _switch(self, error: EngineError) -> None:
        self._decoding.close()
        self._engine.failed(error)
        self._decoding = self._begin(None)
        history, self._history = self._history, []
        if history:
            # One run over all rows: step by step it would take as long as it has taken so far.
            self._decoding.step(
                {name: np.concatenate([rows[name] for rows in history]) for name in history[0]}
            )
