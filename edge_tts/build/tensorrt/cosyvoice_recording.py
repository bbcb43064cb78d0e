"""Inputs of CosyVoice's parts, recorded while the checkpoint's own modules speak. Needs torch."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np

from edge_tts.build.cosyvoice import constants
from edge_tts.build.cosyvoice.checkpoint import Checkpoint
from edge_tts.build.cosyvoice.parts import parts
from edge_tts.build.tensorrt.cosyvoice import LENGTH
from edge_tts.build.tensorrt.recording import Recorders
from edge_tts.build.torch_voice.export import TorchEngine
from edge_tts.voices.cosyvoice import assembly
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.randomness import Randomness

_N_TOKENS, _N_TEXT_IDS, _N_STEPS = 60, 12, 40


def record(checkpoint: Checkpoint, folder: Path) -> None:
    """Write the recorded input of every part into `folder`."""
    known, fixed = constants.tables(checkpoint), constants.settings(checkpoint)
    engines = {part.name: part for part in parts(checkpoint)}
    of = Recorders(lambda name: TorchEngine(engines[name]))
    random = np.random.RandomState(0)
    tokens = random.randint(0, fixed.n_speech_tokens, _N_TOKENS)
    embedding = np.ones(known.flow_speaker.weight.shape[1], np.float32)
    renderer = assembly.renderer(known, fixed, of)
    speaker = known.flow_speaker.of_direction(embedding)
    renderer.whole(tokens, FlowPrompt.empty(), speaker, Randomness(0, len(known.mixer) - 1))
    ids = random.randint(0, len(known.text), _N_TEXT_IDS)
    model = assembly.language_model(known, fixed, of)
    prefix = assembly.text_model(known, of).prefix(ids, embedding, np.zeros(0, np.int64), model)
    with contextlib.closing(model.begin(len(prefix) + _N_STEPS)) as decoding:
        model.step(prefix, decoding)
        for token in tokens[:_N_STEPS]:
            model.step(model.embed(np.array([token])), decoding)
    lm = of("lm").recorded
    lm[LENGTH] = np.array([len(lm["cache"])], np.int32)
    of.save(folder)
