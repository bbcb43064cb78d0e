"""The sound of texts, and what the engines of the voice were given for it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Sequence, Tuple

import numpy as np

from edge_tts.build.quantisation.comparing import Recording, Run
from edge_tts.paths import VOICES_DIR_VARIABLE
from edge_tts.speaker import Speaker


@dataclass(frozen=True)
class Speech:
    """Sound of texts, and the first runs of every engine by part."""

    sounds: Tuple["np.ndarray", ...]
    sample_rate_hz: int
    runs: Dict[str, List[Run]]


def speak(voice: Path, texts: Sequence[str]) -> Speech:
    """Have the voice directory `voice` speak `texts`. Raises what speaking raises."""
    recording = Recording()
    with _only_voices_in(voice.parent), Speaker(voice.name) as speaker:
        if speaker.engines is not None:
            speaker.engines.observe(recording.add)
        sounds = tuple(speaker.synthesize(text).samples for text in texts)
        return Speech(sounds, speaker.sample_rate_hz, recording.runs)


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
