"""What the engines of a voice are given while it speaks.

Families open their engines themselves, so the class they open is watched for the time of a speech.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Mapping, Sequence, Tuple

import numpy as np

from edge_tts.build.quantisation.comparing import MAX_RUNS, Run
from edge_tts.paths import VOICES_DIR_VARIABLE
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.speaker import Speaker


@dataclass(frozen=True)
class Speech:
    """Sound of texts, and the first runs of every engine by the stem of its file."""

    sounds: Tuple["np.ndarray", ...]
    sample_rate_hz: int
    runs: Dict[str, List[Run]]


def speak(voice: Path, texts: Sequence[str]) -> Speech:
    """Have the voice directory `voice` speak `texts`. Raises what speaking raises."""
    with _only_voices_in(voice.parent), _watched() as runs:
        speaker = Speaker(voice.name)
        sounds = tuple(speaker.synthesize(text).samples for text in texts)
        return Speech(sounds, speaker.sample_rate_hz, runs)


@contextmanager
def _watched() -> "Iterator[Dict[str, List[Run]]]":
    run = OnnxEngine.run
    found: Dict[str, List[Run]] = {}

    def watching(engine: OnnxEngine, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        outputs = run(engine, inputs)
        kept = found.setdefault(engine._path.stem, [])
        if len(kept) < MAX_RUNS:
            # Copies: callers give views of buffers that they go on filling.
            kept.append(Run({name: np.array(value) for name, value in inputs.items()}, outputs))
        return outputs

    setattr(OnnxEngine, "run", watching)  # noqa: B010 - mypy forbids the plain form
    try:
        yield found
    finally:
        setattr(OnnxEngine, "run", run)  # noqa: B010


@contextmanager
def _only_voices_in(folder: Path) -> "Iterator[None]":
    before = os.environ.get(VOICES_DIR_VARIABLE)
    os.environ[VOICES_DIR_VARIABLE] = str(folder.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ[VOICES_DIR_VARIABLE]
        else:
            os.environ[VOICES_DIR_VARIABLE] = before
