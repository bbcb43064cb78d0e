"""Inputs of a real utterance, one set per part, for the gate to compare engines on."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, Mapping, Tuple

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.runtime.onnx import OnnxEngine

PHRASE = "wˈɛlkəm əbˈɔɹd, plˈiz hˈOld ˈɔn."
SPEAKER = "af_heart"


class Recorder(Engine):
    """Passes calls on and keeps the inputs of the longest one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.recorded: "Dict[str, np.ndarray]" = {}

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
        """Run the engine, with integers as the graphs for TensorRT take them."""
        narrow = {name: _narrowed(array) for name, array in inputs.items()}
        if _size(narrow) >= _size(self.recorded):
            self.recorded = {name: array.copy() for name, array in narrow.items()}
        return self._engine.run(narrow)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def save(self, path: Path) -> None:
        """Write the recorded inputs as an archive of arrays."""
        np.savez_compressed(str(path), **self.recorded)


def record_kokoro(folder: Path, mixer: "np.ndarray") -> None:
    """Speak a phrase with the graphs in `folder` and keep every part's inputs beside it.

    `mixer` is the voice's `source.npy`. Raises EngineError.
    """
    from edge_tts.text.g2p.vocabulary import symbol_ids
    from edge_tts.voices.kokoro.acoustic_model import AcousticModel
    from edge_tts.voices.kokoro.source import HarmonicSource
    from edge_tts.voices.kokoro.speakers import StyleTables
    from edge_tts.voices.kokoro.statistics import StatisticsModel
    from edge_tts.voices.kokoro.windows import WindowedGenerator

    names = ("encoder", "prosody", "decoder", "stream_generator")
    engines = {name: Recorder(OnnxEngine(folder / f"{name}.onnx")) for name in names}
    model = AcousticModel(*(engines[name] for name in names[:3]))
    source = HarmonicSource(mixer)
    generator = WindowedGenerator(engines[names[3]], source, StatisticsModel.read())
    ids = [symbol_ids()[symbol] for symbol in PHRASE]
    acoustics = model.run(ids, StyleTables().row(SPEAKER, len(ids)), speed=1.0)
    for _ in generator.run(acoustics):
        pass
    for name, engine in engines.items():
        engine.save(recording_path(folder, name))
        engine.close()


def recorders(open_engine: Callable[[str], Engine]) -> "Callable[[str], Recorder]":
    """A function that opens every part once, behind a recorder."""
    opened: Dict[str, Recorder] = {}

    def of(name: str) -> Recorder:
        if name not in opened:
            opened[name] = Recorder(open_engine(name))
        return opened[name]

    return of


def recording_path(folder: Path, part: str) -> Path:
    """Where the recorded input of a part lies."""
    return folder / f"{part}.recording.npz"


def _narrowed(array: "np.ndarray") -> "np.ndarray":
    return array.astype(np.int32) if array.dtype == np.int64 else array


def _size(arrays: "Mapping[str, np.ndarray]") -> int:
    return sum(array.size for array in arrays.values())
