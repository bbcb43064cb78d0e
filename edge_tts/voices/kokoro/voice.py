"""The Kokoro voice: phonemes in, speech out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from edge_tts.audio.level import gain_to_target
from edge_tts.errors import InputError
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.g2p.vocabulary import symbol_ids
from edge_tts.voices.kokoro.acoustic_model import AcousticModel
from edge_tts.voices.kokoro.generator import Generator
from edge_tts.voices.kokoro.source import HarmonicSource
from edge_tts.voices.kokoro.speakers import LOUDNESS_LUFS, StyleTables
from edge_tts.voices.voice import Voice, VoiceInfo

if TYPE_CHECKING:
    from edge_tts.text.tokens import Segment, Token
    from edge_tts.voices.manifest import VoiceDirectory

SEGMENT_LIMIT = 130
"""Phonemes per segment: about 8 s of speech. The generator holds a whole segment at 22 MB per
second of speech, so this is what keeps a process within its 350 MB."""

SPEED_RANGE = (0.7, 1.4)


class KokoroVoice(Voice):
    """Kokoro-82M in four engines and a harmonic source computed here."""

    reads_phonemes = True

    def __init__(
        self, info: VoiceInfo, acoustic_model: AcousticModel, generator: Generator
    ) -> None:
        self.info = info
        self._acoustic_model = acoustic_model
        self._generator = generator
        self._styles = StyleTables()
        self._ids = symbol_ids()

    @classmethod
    def load(cls, directory: "VoiceDirectory", n_threads: Optional[int] = None) -> "KokoroVoice":
        """Check and open an installed voice. Raises ModelError or EngineError."""
        directory.check(hashes=True)
        encoder, prosody, decoder, generator = (
            OnnxEngine(directory.file(part), n_threads=n_threads)
            for part in ("encoder", "prosody", "decoder", "generator")
        )
        source = HarmonicSource(np.load(directory.file("source"), allow_pickle=False))
        return cls(
            directory.manifest.info,
            AcousticModel(encoder, prosody, decoder),
            Generator(generator, source),
        )

    @property
    def segment_limit(self) -> int:
        """Most phonemes a segment may have."""
        return SEGMENT_LIMIT

    @property
    def speed_range(self) -> Tuple[float, float]:
        """Speeds the model was measured to speak clearly at."""
        return SPEED_RANGE

    def gain(self, speaker: str) -> float:
        """Amplitude factor that brings a speaker to the loudness all are played at."""
        return gain_to_target(LOUDNESS_LUFS[speaker])

    def measure(self, tokens: "Sequence[Token]") -> int:
        """Number of phoneme symbols."""
        return sum(len(token.phonemes) for token in tokens)

    def synthesize(self, segment: "Segment", speaker: str, speed: float) -> Iterator["np.ndarray"]:
        """Yield the speech of one segment, without the silence around it."""
        ids = self._encode(segment.phonemes)
        if not ids:
            return
        style = self._styles.row(speaker, len(ids))
        acoustics = self._acoustic_model.run(ids, style, speed)
        yield from self._generator.run(acoustics)

    def close(self) -> None:
        """Release the engines. Idempotent."""
        self._acoustic_model.close()
        self._generator.close()

    def _encode(self, phonemes: str) -> List[int]:
        if len(phonemes) > SEGMENT_LIMIT:
            raise InputError(
                f"a segment has {len(phonemes)} phonemes, at most {SEGMENT_LIMIT} can be spoken",
                code="input.segment_too_long",
            )
        unknown = sorted(set(phonemes).difference(self._ids))
        if unknown:
            raise InputError(
                f"the voice has no symbol for the phoneme {unknown[0]!r}",
                code="input.unknown_symbol",
            )
        return [self._ids[symbol] for symbol in phonemes]
