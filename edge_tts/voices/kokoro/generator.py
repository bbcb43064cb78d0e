"""From acoustic features to sound: the part of Kokoro that costs nine tenths of the time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

import numpy as np

from edge_tts.errors import EngineError
from edge_tts.runtime.engine import Engine
from edge_tts.voices.kokoro.silence import EDGE_FRAMES, select
from edge_tts.voices.kokoro.source import (
    HARMONIC_FRAMES_PER_FRAME,
    SAMPLES_PER_FRAME,
    HarmonicSource,
)


@dataclass(frozen=True)
class Acoustics:
    """An utterance as the generator reads it, in frames of 12.5 ms (80 Hz).

    `features` float32 [1, 512, n], `f0_hz` and `energy` float32 [n], `style` float32 [1, 256].
    """

    features: "np.ndarray"
    f0_hz: "np.ndarray"
    energy: "np.ndarray"
    style: "np.ndarray"


class Generator:
    """Renders an utterance in one run, leaving out the silence around the speech."""

    def __init__(self, engine: Engine, source: HarmonicSource) -> None:
        self._engine = engine
        self._source = source

    def run(self, acoustics: Acoustics) -> Iterator["np.ndarray"]:
        """Yield the speech as float32 pieces at 24 kHz. Raises EngineError."""
        selection = select(acoustics.energy)
        shares = np.array([selection.lead_share, selection.tail_share], np.float32)
        harmonics = self._source.harmonics(acoustics.f0_hz)
        outputs = self._engine.run(
            {
                "features": np.ascontiguousarray(acoustics.features[:, :, selection.kept]),
                "harmonics": _harmonic_frames(harmonics, selection.kept),
                "style": acoustics.style,
                "padding_shares": shares,
            }
        )
        audio = outputs["audio"].ravel()
        check_samples(audio)
        edge = EDGE_FRAMES * SAMPLES_PER_FRAME
        yield audio[edge:-edge]

    def close(self) -> None:
        """Release the engine."""
        self._engine.close()


def check_samples(audio: "np.ndarray") -> None:
    """Raise EngineError when a generator's samples are not numbers."""
    if not np.isfinite(audio).all():
        raise EngineError(
            "the generator yielded samples that are not numbers; verify the voice",
            code="engine.output_invalid",
        )


def _harmonic_frames(harmonics: "np.ndarray", kept: "np.ndarray") -> "np.ndarray":
    """The harmonic frames of the kept frames, and the one that closes the last of them."""
    within = np.arange(HARMONIC_FRAMES_PER_FRAME)
    index = (kept[:, None] * HARMONIC_FRAMES_PER_FRAME + within).ravel()
    frames: np.ndarray = np.take(harmonics, np.append(index, index[-1] + 1), axis=2)
    return frames
