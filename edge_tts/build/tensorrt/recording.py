"""Inputs of a real utterance, one set per part, for the gate to compare engines on."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, Iterator, Mapping, Optional, Sequence, Tuple

import numpy as np

from edge_tts.build.relayed_engine import RelayedEngine
from edge_tts.build.tensorrt.gate import graph_inputs
from edge_tts.runtime.engine import Engine
from edge_tts.runtime.onnx import OnnxEngine

PHRASE = "wˈɛlkəm əbˈɔɹd, plˈiz hˈOld ˈɔn."
SPEAKER = "af_heart"


class Recorder(RelayedEngine):
    """Passes calls on and keeps the inputs of the longest one."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.recorded: "Dict[str, np.ndarray]" = {}

    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run the engine, with integers as the graphs for TensorRT take them."""
        narrow = {name: _narrowed(array) for name, array in inputs.items()}
        if _size(narrow) >= _size(self.recorded):
            self.recorded = {name: array.copy() for name, array in narrow.items()}
        return self._engine.run(narrow)

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
    from edge_tts.voices.kokoro.student import StudentGenerator
    from edge_tts.voices.kokoro.voice import FAST_CONDITION, FAST_GENERATOR
    from edge_tts.voices.kokoro.windows import WindowedGenerator

    of = Recorders(lambda name: OnnxEngine(folder / f"{name}.onnx"))
    ids = [symbol_ids()[symbol] for symbol in PHRASE]
    style = StyleTables().row(SPEAKER, len(ids))
    model = AcousticModel(of("encoder"), of("prosody"), of("decoder"))
    acoustics = model.run(ids, style, speed=1.0)
    generator = WindowedGenerator(
        of("stream_generator"), HarmonicSource(mixer), StatisticsModel.read()
    )
    _exhaust(generator.run(acoustics))
    if (folder / f"{FAST_GENERATOR}.onnx").is_file():
        student = StudentGenerator(
            of(FAST_GENERATOR), of(FAST_CONDITION), _states(folder / f"{FAST_GENERATOR}.onnx")
        )
        _exhaust(student.run(acoustics))
    of.save(folder)


def _states(graph: Path) -> Dict[str, Tuple[int, ...]]:
    shapes = graph_inputs(graph)
    return {
        name: tuple(int(size) for size in shape)
        for name, shape in shapes.items()
        if name.startswith("state_")
    }


def _exhaust(pieces: "Iterator[np.ndarray]") -> None:
    for _ in pieces:
        pass


class Recorders:
    """Opens every part once, behind a recorder."""

    def __init__(self, open_engine: Callable[[str], Engine]) -> None:
        self._open = open_engine
        self._opened: Dict[str, Recorder] = {}

    def __call__(self, name: str) -> Recorder:
        """The recorder of a part."""
        if name not in self._opened:
            self._opened[name] = Recorder(self._open(name))
        return self._opened[name]

    def save(self, folder: Path, names: Optional[Sequence[str]] = None) -> None:
        """Write what the parts (by default all) were given into `folder`; close every engine."""
        for name, recorder in self._opened.items():
            if names is None or name in names:
                recorder.save(recording_path(folder, name))
            recorder.close()


def recording_path(folder: Path, part: str) -> Path:
    """Where the recorded input of a part lies."""
    return folder / f"{part}.recording.npz"


def _narrowed(array: "np.ndarray") -> "np.ndarray":
    return array.astype(np.int32) if array.dtype == np.int64 else array


def _size(arrays: "Mapping[str, np.ndarray]") -> int:
    return sum(array.size for array in arrays.values())
