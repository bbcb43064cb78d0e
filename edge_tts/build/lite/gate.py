"""Do the exported engines compute what the checkpoint does in torch?"""

from __future__ import annotations

from typing import Callable, Mapping

import numpy as np

from edge_tts.build.mel_distance import mel_distance_db
from edge_tts.build.quantisation.kinds import FP32
from edge_tts.build.torch_voice import gate
from edge_tts.build.torch_voice.gate import Distance
from edge_tts.runtime.engine import Engine
from edge_tts.voices.lite.cache import SelfCache
from edge_tts.voices.lite.codec import CodecDecoder
from edge_tts.voices.lite.language_model import LanguageModel
from edge_tts.voices.lite.sampling import probabilities
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tables import Tables
from edge_tts.voices.manifest import Gate

SOUND_LIMIT_DB = 0.5

_N_FRAMES = 40
_N_TEXT_IDS = 12

EngineOf = Callable[[str], Engine]


def measure(known: Tables, settings: Settings, ours: EngineOf, theirs: EngineOf) -> Distance:
    """Have both speak the same codes; `theirs` are the checkpoint's own modules.

    Ours decodes sound in two chunks, theirs whole.
    """
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
    stored = (precision.get(part, FP32) for part in ("encoder", "decoder"))
    return gate.accept(distance, SOUND_LIMIT_DB, stored)


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
