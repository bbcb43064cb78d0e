"""The networks of a checkpoint that hear a recording: they go with the voice, as they are."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Dict

from edge_tts.errors import EngineError, ModelError
from edge_tts.runtime.integrity import what_instead_of_a_model
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.voices.cosyvoice.enrolment import SPEAKER_ENCODER, SPEECH_TOKENIZER

_PATTERNS = {
    SPEAKER_ENCODER: ("campplus.onnx", 1),
    SPEECH_TOKENIZER: ("speech_tokenizer_v[0-9].onnx", 2),
}
"""How each part's file is called, and how many inputs it has."""


def find_networks(checkpoint: Path) -> Dict[str, Path]:
    """The networks by part name: both, or none when one of them is missing.

    Raises ModelError for a file that is not such a network.
    """
    found = {}
    for name, (pattern, n_inputs) in _PATTERNS.items():
        for path in sorted(checkpoint.glob(pattern))[:1]:
            _check(path, n_inputs)
            found[name] = path
    return found if len(found) == len(_PATTERNS) else {}


def copy_networks(networks: Dict[str, Path], directory: Path) -> None:
    """Put them into a voice directory under their parts' names."""
    for name, path in networks.items():
        shutil.copyfile(str(path), str(directory / f"{name}.onnx"))


def _check(path: Path, n_inputs: int) -> None:
    impostor = what_instead_of_a_model(path)
    if impostor:
        raise ModelError(
            f"{path} is {impostor}; download the checkpoint again", code="model.not_a_model"
        )
    try:
        with OnnxEngine(path) as engine:
            found = len(engine.inputs)
    except EngineError as error:
        raise ModelError(
            f"{path} is damaged: {error}; download the checkpoint again",
            code="model.checkpoint_invalid",
        ) from error
    if found != n_inputs:
        raise ModelError(
            f"{path} has {found} inputs instead of {n_inputs}; download the checkpoint again",
            code="model.checkpoint_invalid",
        )
