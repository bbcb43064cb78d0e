"""Does the prepared voice sound like the graph it was made from?

Both speak the same phrases; the mean distance of their log-mel spectra is the measure. The int8
graph amplifies rounding, so that two faithful versions of it differ by about 1 dB.
"""

from __future__ import annotations

from pathlib import Path
from typing import Iterator, Tuple

import numpy as np

from edge_tts.build.kokoro.parts import PARTS
from edge_tts.build.mel_distance import mel_distance_db
from edge_tts.errors import ModelError
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.g2p.vocabulary import symbol_ids
from edge_tts.voices.kokoro.acoustic_model import PAD_ID, AcousticModel
from edge_tts.voices.kokoro.generator import Generator
from edge_tts.voices.kokoro.silence import select
from edge_tts.voices.kokoro.source import SAMPLES_PER_FRAME, HarmonicSource
from edge_tts.voices.kokoro.speakers import StyleTables
from edge_tts.voices.kokoro.statistics import StatisticsModel
from edge_tts.voices.kokoro.windows import WindowedGenerator

LIMIT_DB = 2.5

_PHRASES: Tuple[Tuple[str, str], ...] = (
    ("af_heart", "wˈɛlkəm əbˈɔɹd, plˈiz hˈOld ˈɔn."),
    ("zm_yunyang", "ni↓xau↓, xwan→iŋ↗."),
)


def measure(source: Path, prepared: Path, mixer: "np.ndarray") -> float:
    """Mean log-mel distance in dB between the published graph and the parts in `prepared`.

    That of the preset which is further away. Raises ModelError when the two say phrases of
    different length, EngineError when one fails.
    """
    stock = OnnxEngine(source)
    encoder, prosody, decoder, generator, stream_generator = (
        OnnxEngine(prepared / f"{part.name}.onnx") for part in PARTS
    )
    acoustic_model = AcousticModel(encoder, prosody, decoder)
    harmonic_source = HarmonicSource(mixer)
    exact = Generator(generator, harmonic_source)
    stream = WindowedGenerator(stream_generator, harmonic_source, StatisticsModel.read())
    styles = StyleTables()
    distances = []
    for speaker, phonemes in _PHRASES:
        ids = [symbol_ids()[symbol] for symbol in phonemes]
        style = styles.row(speaker, len(ids))
        acoustics = acoustic_model.run(ids, style, speed=1.0)
        whole = _speak(stock, ids, style)
        selection = select(acoustics.energy)
        frames = (selection.start, selection.end), stream.frames(acoustics)
        pieces = exact.run(acoustics), stream.run(acoustics)
        distances.append([_distance(whole, *preset) for preset in zip(frames, pieces)])
    return float(np.mean(distances, axis=0).max())


def _distance(
    whole: "np.ndarray", frames: Tuple[int, int], pieces: "Iterator[np.ndarray]"
) -> float:
    start, end = frames
    expected = whole[start * SAMPLES_PER_FRAME : end * SAMPLES_PER_FRAME]
    spoken = np.concatenate(list(pieces))
    if len(expected) != len(spoken):
        raise ModelError(
            f"the prepared voice speaks {len(spoken)} samples instead of {len(expected)}",
            code="model.gate_failed",
        )
    return mel_distance_db(expected, spoken)


def _speak(stock: OnnxEngine, ids: "list[int]", style: "np.ndarray") -> "np.ndarray":
    tokens = np.array([[PAD_ID, *ids, PAD_ID]], np.int64)
    outputs = stock.run({"tokens": tokens, "style": style, "speed": np.ones(1, np.float32)})
    audio: np.ndarray = outputs["audio"].ravel()
    return audio
