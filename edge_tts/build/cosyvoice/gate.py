"""Do the exported engines speak as the checkpoint does in torch?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict

import numpy as np

from edge_tts.build.cosyvoice.precision import Precision
from edge_tts.build.mel_distance import mel_distance_db
from edge_tts.build.quantisation.comparing import (
    Closeness,
    RecordedEngine,
    Recording,
    replay,
    snr_db,
)
from edge_tts.build.quantisation.kinds import FP16, FP32, INT4, INT8, INT8_WEIGHTS
from edge_tts.build.torch_voice import gate
from edge_tts.build.torch_voice.gate import Distance
from edge_tts.runtime.engine import Engine
from edge_tts.voices.cosyvoice import assembly
from edge_tts.voices.cosyvoice.assembly import EngineOf
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.sampling import log_softmax
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.tables import Tables
from edge_tts.voices.manifest import Gate

SOUND_LIMITS_DB = {FP32: 0.5, FP16: 0.5, INT8: 2.5, INT8_WEIGHTS: 2.5, INT4: 2.5}

_N_TOKENS = 60
_N_TEXT_IDS = 10


@dataclass(frozen=True)
class Comparison:
    """The distance of a whole voice, and how near each of its engines is on its own."""

    distance: Distance
    by_part: Dict[str, Closeness]


_SOUND_PARTS = ("flow_encoder", "estimator", "f0", "vocoder")
_TOKEN_PARTS = ("lm", "text_encoder")


def compare(known: Tables, constants: Settings, ours: EngineOf, theirs: EngineOf) -> Comparison:
    """Have both speak the same speech tokens; `theirs` are the checkpoint's own modules."""
    recording = Recording()

    def recorded(part: str) -> Engine:
        return RecordedEngine(theirs(part), part, recording)

    wanted, found = (_sound(known, constants, engine) for engine in (recorded, ours))
    expected, scores = (_scores(known, constants, engine) for engine in (recorded, ours))
    divergence = (np.exp(expected) * (expected - scores)).sum(axis=1).mean()
    distance = Distance(
        mel_distance_db(wanted, found), max(0.0, float(divergence)), snr_db(wanted, found)
    )
    return Comparison(
        distance, {part: replay(ours(part), runs) for part, runs in recording.runs.items()}
    )


def accept(distance: Distance, precision: Precision) -> Gate:
    """The manifest's record. Raises ModelError when `precision` should be closer than this."""
    limit_db = max(SOUND_LIMITS_DB[precision.of(part)] for part in _SOUND_PARTS)
    return gate.accept(distance, limit_db, map(precision.of, _TOKEN_PARTS))


def _sound(known: Tables, constants: Settings, engine: EngineOf) -> "np.ndarray":
    speaker = known.flow_speaker.of_direction(_embedding(known))
    renderer = assembly.renderer(known, constants, engine)
    randomness = Randomness(0, len(known.mixer) - 1)
    return renderer.whole(_tokens(constants), FlowPrompt.empty(), speaker, randomness)


def _scores(known: Tables, constants: Settings, engine: EngineOf) -> "np.ndarray":
    """Log probabilities [steps, ids] after each of the same tokens."""
    text = assembly.text_model(known, engine)
    model = assembly.language_model(known, constants, engine)
    ids = np.random.RandomState(1).randint(0, len(known.text), _N_TEXT_IDS)
    prefix = text.prefix(ids, _embedding(known), np.zeros(0, np.int64), model)
    decoding = model.begin(len(prefix) + _N_TOKENS)
    logits = [model.step(prefix, decoding).logits]
    for token in _tokens(constants):
        logits.append(model.step(model.embed(np.array([token])), decoding).logits)
    return np.stack([log_softmax(row.astype(np.float64)) for row in logits])


def _tokens(constants: Settings) -> "np.ndarray":
    return np.random.RandomState(0).randint(0, constants.n_speech_tokens, _N_TOKENS)


def _embedding(known: Tables) -> "np.ndarray":
    return np.ones(known.flow_speaker.weight.shape[1], np.float32)
