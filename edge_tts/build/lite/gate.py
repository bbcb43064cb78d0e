"""Do the exported engines compute what the checkpoint does in torch?"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Callable, Mapping

import numpy as np

from edge_tts.build.kokoro.gate import mel_distance_db
from edge_tts.build.quantisation.kinds import FP16, FP32, INT4, INT8, INT8_WEIGHTS
from edge_tts.errors import ModelError
from edge_tts.runtime.engine import Engine
from edge_tts.runtime.onnx import runtime_version
from edge_tts.voices.lite.cache import SelfCache
from edge_tts.voices.lite.codec import CodecDecoder
from edge_tts.voices.lite.language_model import LanguageModel
from edge_tts.voices.lite.sampling import probabilities
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tables import Tables
from edge_tts.voices.manifest import Gate

SOUND_LIMIT_DB = 0.5
DIVERGENCE_LIMITS = {FP32: 1e-3, FP16: 1e-2, INT8: 0.1, INT8_WEIGHTS: 0.1, INT4: 0.5}
"""In nats. Set without a trained checkpoint at hand: wide enough for random weights."""

_N_FRAMES = 40
_N_TEXT_IDS = 12

EngineOf = Callable[[str], Engine]


@dataclass(frozen=True)
class Distance:
    """How far a voice is from its checkpoint.

    `sound_db` is the mean log-mel distance for the same codes, in two chunks against whole;
    `divergence` the mean Kullback-Leibler divergence of the next code, in nats.
    """

    sound_db: float
    divergence: float


def measure(known: Tables, settings: Settings, ours: EngineOf, theirs: EngineOf) -> Distance:
    """Have both speak the same codes; `theirs` are the checkpoint's own modules."""
    codes = np.random.RandomState(0).randint(
        0, settings.codec.codebook_size, (_N_FRAMES, settings.codec.n_codebooks)
    )
    whole = CodecDecoder(theirs("codec"), known.codebooks, known.codec_state).stream()
    chunked = CodecDecoder(ours("codec"), known.codebooks, known.codec_state).stream()
    halves = np.split(codes, [_N_FRAMES // 2])
    sound_db = mel_distance_db(
        whole.decode(codes), np.concatenate([chunked.decode(half) for half in halves])
    )
    wanted, found = (_scores(known, settings, engine, codes) for engine in (theirs, ours))
    divergence = (wanted * np.log(wanted / found)).sum(axis=1).mean()
    return Distance(sound_db, max(0.0, float(divergence)))


def accept(distance: Distance, precision: Mapping[str, str]) -> Gate:
    """The manifest's record. Raises ModelError when `precision` should be closer than this."""
    limit = max(DIVERGENCE_LIMITS[precision.get(part, FP32)] for part in ("encoder", "decoder"))
    # Written so that a distance that is not a number is refused as well.
    if not (distance.sound_db <= SOUND_LIMIT_DB and distance.divergence <= limit):
        raise ModelError(
            f"the voice differs from its checkpoint by {distance.sound_db:.2f} dB (at most "
            f"{SOUND_LIMIT_DB}) and {distance.divergence:.4f} nats (at most {limit}); nothing was "
            "written, choose a higher --precision",
            code="model.gate_failed",
        )
    return Gate(
        mel_distance_db=round(distance.sound_db, 4),
        limit_db=SOUND_LIMIT_DB,
        runtime=f"onnxruntime {runtime_version()}",
        machine=platform.machine() or "unknown",
    )


def _scores(
    known: Tables, settings: Settings, engine: EngineOf, codes: "np.ndarray"
) -> "np.ndarray":
    """Probabilities [positions, ids] of the next code after each of the same codes."""
    model = LanguageModel(engine("encoder"), engine("decoder"), known, settings)
    cross = model.read(np.random.RandomState(1).randint(0, len(known.text), _N_TEXT_IDS))
    cache = SelfCache(settings, 1 + codes.size)
    first = np.arange(settings.codec.n_codebooks) * settings.codec.codebook_size
    rows = [settings.codec.start_row, *(codes + first).ravel()]
    return np.stack(
        [
            np.maximum(probabilities(model.step(np.array([[row]]), cache, cross)), 1e-30)
            for row in rows
        ]
    )
