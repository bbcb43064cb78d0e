"""From mel to sound: F0, excitation, and the convolution stack with its inverse STFT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.voices.cosyvoice.randomness import Excitation
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.source import HarmonicSource


@dataclass(frozen=True)
class Sound:
    """`samples` float32 [L] and the excitation they were made with, float32 [1, 1, L]."""

    samples: "np.ndarray"
    source: "np.ndarray"


class Vocoder:
    """Renders mel float32 [1, 80, T] into T · samples-per-frame samples."""

    def __init__(
        self, f0: Engine, generator: Engine, source: HarmonicSource, settings: Settings
    ) -> None:
        self._f0 = f0
        self._generator = generator
        self.source = source
        self._settings = settings

    @property
    def samples_per_frame(self) -> int:
        """Samples that one mel frame becomes."""
        return self._settings.samples_per_frame

    def n_samples(self, mel: "np.ndarray") -> int:
        """Length of the sound of `mel`."""
        return int(mel.shape[2]) * self._settings.samples_per_frame

    def f0_hz(self, mel: "np.ndarray") -> "np.ndarray":
        """Pitch float32 [T] of each frame; below 10 Hz the frame is unvoiced."""
        pitch: np.ndarray = self._f0.run({"mel": mel})["f0_hz"][0]
        return pitch

    def render(
        self,
        mel: "np.ndarray",
        excitation: Excitation,
        earlier_source: Optional["np.ndarray"] = None,
    ) -> Sound:
        """Sound of `mel`. `earlier_source` replaces the beginning of the excitation."""
        waves = self.source.waves(self.f0_hz(mel), excitation.turns, excitation.noise)
        source = self.source.signal(waves)
        if earlier_source is not None:
            source[:, :, : earlier_source.shape[2]] = earlier_source
        return Sound(self.generate(mel, source), source)

    def generate(self, mel: "np.ndarray", source: "np.ndarray") -> "np.ndarray":
        """Sound float32 [L] of `mel` with the given excitation."""
        audio: np.ndarray = self._generator.run({"mel": mel, "source": source})["audio"].ravel()
        return audio

    def close(self) -> None:
        """Release both engines."""
        self._f0.close()
        self._generator.close()
