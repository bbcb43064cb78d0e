"""One engine beside another on the same inputs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import Dict, List, Mapping

import numpy as np

from edge_tts.build.relayed_engine import RelayedEngine
from edge_tts.runtime.engine import Engine

MAX_RUNS = 8
"""Recorded runs per engine: enough to compare with, few enough to keep in memory."""
PERFECT_DB = 200.0
"""What the ratio of a signal to no error at all is called."""

Tensors = Mapping[str, "np.ndarray"]


@dataclass(frozen=True)
class Run:
    """One run of an engine."""

    inputs: Tensors
    outputs: Tensors


@dataclass(frozen=True)
class Closeness:
    """How near an engine is to the one that was recorded, and what a run of it takes."""

    snr_db: float
    run_s: float


class Recording:
    """The first runs of every engine of a voice, by part."""

    def __init__(self) -> None:
        self.runs: Dict[str, List[Run]] = {}

    def add(self, part: str, inputs: Tensors, outputs: Tensors) -> None:
        """Keep a run, unless there are enough of this part."""
        runs = self.runs.setdefault(part, [])
        if len(runs) < MAX_RUNS:
            # Copies: callers give views of buffers that they go on filling.
            kept = {name: np.array(value) for name, value in inputs.items()}
            runs.append(Run(kept, dict(outputs)))


class RecordedEngine(RelayedEngine):
    """Passes everything on to another engine and has its runs recorded."""

    def __init__(self, engine: Engine, part: str, recording: Recording) -> None:
        super().__init__(engine)
        self._part, self._recording = part, recording

    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run the engine."""
        outputs = self._engine.run(inputs)
        self._recording.add(self._part, inputs, outputs)
        return outputs


def replay(engine: Engine, runs: List[Run]) -> Closeness:
    """Run the recorded inputs through `engine`; the time is the median run's."""
    signal = noise = 0.0
    seconds = []
    for run in runs:
        began_s = time.perf_counter()
        found = engine.run(run.inputs)
        seconds.append(time.perf_counter() - began_s)
        for name, wanted in run.outputs.items():
            exact = wanted.astype(np.float64)
            signal += float(np.square(exact).sum())
            noise += float(np.square(found[name] - exact).sum())
    return Closeness(ratio_db(signal, noise), median(seconds) if seconds else 0.0)


def snr_db(wanted: "np.ndarray", found: "np.ndarray") -> float:
    """Signal-to-noise ratio of `found` when `wanted` is the truth."""
    exact: np.ndarray = wanted.astype(np.float64)
    return ratio_db(float(np.square(exact).sum()), float(np.square(found - exact).sum()))


def ratio_db(signal: float, noise: float) -> float:
    """Ten times the logarithm of a ratio of energies, at most `PERFECT_DB`."""
    if not np.isfinite(noise):
        return -PERFECT_DB
    if noise <= signal * 10 ** (-PERFECT_DB / 10):
        return PERFECT_DB
    return float(10 * np.log10(max(signal, 1e-30) / noise))
