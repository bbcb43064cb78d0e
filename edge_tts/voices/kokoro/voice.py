"""The Kokoro voice: phonemes in, speech out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from edge_tts.audio.level import gain_to_target
from edge_tts.errors import InputError, ModelError
from edge_tts.runtime.engine import Engine
from edge_tts.text.g2p.vocabulary import symbol_ids
from edge_tts.voices.engines import open_engines
from edge_tts.voices.kokoro.acoustic_model import AcousticModel
from edge_tts.voices.kokoro.generator import Generator
from edge_tts.voices.kokoro.source import HarmonicSource
from edge_tts.voices.kokoro.speakers import LOUDNESS_LUFS, STYLE_DIR, StyleTables
from edge_tts.voices.kokoro.statistics import StatisticsModel
from edge_tts.voices.kokoro.student import StudentGenerator
from edge_tts.voices.kokoro.windows import WindowedGenerator
from edge_tts.voices.voice import DEFAULT_PRESET, DEFAULT_STYLE, Preset, Style, Voice, VoiceInfo

if TYPE_CHECKING:
    from edge_tts.text.tokens import Segment, Token
    from edge_tts.voices.manifest import VoiceDirectory

SEGMENT_LIMIT = 105
"""Phonemes per segment: about 6 s of speech. The exact generator holds a whole segment at 24 MB per
second of speech, so this is what keeps a process within its 350 MB."""

SPEED_RANGE = (0.7, 1.4)

GENERATOR, STREAM_GENERATOR = "generator", "stream_generator"
FAST_GENERATOR, FAST_CONDITION = "fast_generator", "fast_generator_condition"
ACOUSTIC_PARTS = ("encoder", "prosody", "decoder")
PRESET_PARTS = {
    Preset.EXACT: (GENERATOR,),
    Preset.STREAM: (STREAM_GENERATOR,),
    Preset.FAST: (FAST_GENERATOR, FAST_CONDITION),
}

AnyGenerator = Union[Generator, WindowedGenerator, StudentGenerator]


class KokoroVoice(Voice):
    """Kokoro-82M in four engines and a harmonic source computed here."""

    reads_phonemes = True

    def __init__(
        self,
        info: VoiceInfo,
        acoustic_model: AcousticModel,
        generator: AnyGenerator,
    ) -> None:
        self.info = info
        self._acoustic_model = acoustic_model
        self._generator = generator
        self._styles = StyleTables()
        self._ids = symbol_ids()

    @classmethod
    def load(
        cls,
        directory: "VoiceDirectory",
        n_threads: Optional[int] = None,
        preset: Preset = DEFAULT_PRESET,
    ) -> "KokoroVoice":
        """Check and open an installed voice. Raises ModelError or EngineError."""
        directory.check(hashes=True)
        _check_parts(directory, preset)
        parts = (*ACOUSTIC_PARTS, *PRESET_PARTS[preset])
        engines = open_engines(directory, parts, n_threads)
        acoustic_model = AcousticModel(*(engines[part] for part in ACOUSTIC_PARTS))
        generator = _generator(directory, preset, engines.__getitem__)
        voice = cls(directory.manifest.info, acoustic_model, generator)
        voice.engines = engines
        return voice

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

    def synthesize(
        self, segment: "Segment", speaker: str, speed: float, style: Style = DEFAULT_STYLE
    ) -> Iterator["np.ndarray"]:
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
        if self.engines is not None:
            self.engines.close()

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


def open_acoustic_model(
    directory: "VoiceDirectory", n_threads: Optional[int] = None
) -> AcousticModel:
    """The three parts before the generator alone, on ONNX Runtime, as building a voice needs them.

    Raises ModelError or EngineError.
    """
    from edge_tts.runtime.onnx import OnnxEngine

    return AcousticModel(
        *(OnnxEngine(directory.file(part), n_threads=n_threads) for part in ACOUSTIC_PARTS)
    )


def _generator(
    directory: "VoiceDirectory", preset: Preset, engine: Callable[[str], Engine]
) -> AnyGenerator:
    if preset is Preset.FAST:
        shapes = directory.manifest.part(FAST_GENERATOR).inputs
        states = {k: [int(d) for d in v] for k, v in shapes.items() if k.startswith("state_")}
        return StudentGenerator(engine(FAST_GENERATOR), engine(FAST_CONDITION), states)
    source = HarmonicSource(np.load(directory.file("source"), allow_pickle=False))
    if preset is Preset.STREAM:
        return WindowedGenerator(engine(STREAM_GENERATOR), source, StatisticsModel.read())
    return Generator(engine(GENERATOR), source)


def _check_parts(directory: "VoiceDirectory", preset: Preset) -> None:
    known = {part.name for part in directory.manifest.parts}
    if known.issuperset(PRESET_PARTS[preset]):
        return
    name = directory.manifest.info.name
    if preset is Preset.FAST and not (STYLE_DIR / f"{FAST_GENERATOR}.onnx").is_file():
        message = (
            f"no weights of the preset {preset.value!r} are released yet; choose the preset "
            f"{Preset.STREAM.value!r}, or train them: docs/fast_voice.md"
        )
    else:
        message = (
            f"voice {name!r} was installed without the files of the preset {preset.value!r}; "
            f"run: edge-tts voices install {name}, or choose another preset"
        )
    raise ModelError(message, code="model.preset_missing")
