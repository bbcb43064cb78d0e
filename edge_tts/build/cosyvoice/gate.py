"""Do the exported engines make the sound that the checkpoint makes in torch?"""

from __future__ import annotations

import platform
from typing import Callable

import numpy as np

from edge_tts.build.kokoro.gate import mel_distance_db
from edge_tts.errors import ModelError
from edge_tts.runtime.onnx import runtime_version
from edge_tts.voices.cosyvoice import assembly
from edge_tts.voices.cosyvoice.assembly import EngineOf
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.tables import Tables
from edge_tts.voices.manifest import Gate

LIMIT_DB = 0.5
_N_TOKENS = 60


def measure(known: Tables, constants: Settings, torch_engine: EngineOf, engine: EngineOf) -> Gate:
    """Render the same speech tokens with both. Raises ModelError beyond `LIMIT_DB`."""
    expected, found = (_sound(known, constants, made) for made in (torch_engine, engine))
    distance_db = mel_distance_db(expected, found)
    if not distance_db <= LIMIT_DB:
        raise ModelError(
            f"the exported voice differs from its checkpoint by {distance_db:.2f} dB (at most "
            f"{LIMIT_DB} dB); nothing was written, please report this machine",
            code="model.gate_failed",
        )
    return Gate(
        mel_distance_db=round(distance_db, 4),
        limit_db=LIMIT_DB,
        runtime=f"onnxruntime {runtime_version()}",
        machine=platform.machine() or "unknown",
    )


def _sound(known: Tables, constants: Settings, engine: Callable) -> "np.ndarray":
    tokens = np.random.RandomState(0).randint(0, constants.n_speech_tokens, _N_TOKENS)
    embedding = np.ones(known.flow_speaker.weight.shape[1], np.float32)
    speaker = known.flow_speaker.of_direction(embedding)
    renderer = assembly.renderer(known, constants, engine)
    randomness = Randomness(0, len(known.mixer) - 1)
    return renderer.whole(tokens, FlowPrompt.empty(), speaker, randomness)
