"""An engine that stands before another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Mapping, Tuple

from edge_tts.runtime.engine import Engine

if TYPE_CHECKING:
    import numpy as np


class RelayedEngine(Engine):
    """Passes every call on; what watches or changes the runs overrides `run`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def inputs(self) -> Tuple[str, ...]:
        """Those of the engine."""
        return self._engine.inputs

    @property
    def outputs(self) -> Tuple[str, ...]:
        """Those of the engine."""
        return self._engine.outputs

    @property
    def memory_bytes(self) -> int:
        """That of the engine."""
        return self._engine.memory_bytes

    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run the engine."""
        return self._engine.run(inputs)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()
