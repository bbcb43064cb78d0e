"""A voice's engines and tables put together into the three stages of speech."""

from __future__ import annotations

from typing import Callable, Tuple

from edge_tts.runtime.engine import Engine
from edge_tts.voices.cosyvoice.flow import DoublingFlow, StretchingFlow
from edge_tts.voices.cosyvoice.language_model import LanguageModel
from edge_tts.voices.cosyvoice.prefix import TextModel
from edge_tts.voices.cosyvoice.rendering import DoublingRenderer, Renderer, StretchingRenderer
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.source import HarmonicSource
from edge_tts.voices.cosyvoice.tables import Tables
from edge_tts.voices.cosyvoice.vocoder import Vocoder

EngineOf = Callable[[str], Engine]
"""An engine by its part's name."""


def parts(known: Tables) -> Tuple[str, ...]:
    """Names of all engines that the functions below ask for."""
    first = ("text_encoder",) if known.lm_speaker is not None else ()
    return (*first, "lm", "flow_encoder", "estimator", "f0", "vocoder")


def text_model(known: Tables, engine: EngineOf) -> TextModel:
    """The text side."""
    encoder = engine("text_encoder") if known.lm_speaker is not None else None
    return TextModel(known.text, known.marks, encoder, known.lm_speaker)


def language_model(known: Tables, constants: Settings, engine: EngineOf) -> LanguageModel:
    """The loop over speech tokens."""
    return LanguageModel(engine("lm"), known.speech, known.positions, constants)


def vocoder(known: Tables, constants: Settings, engine: EngineOf) -> Vocoder:
    """From mel to sound."""
    source = HarmonicSource(known.mixer[:-1], float(known.mixer[-1]), constants)
    return Vocoder(engine("f0"), engine("vocoder"), source, constants)


def renderer(known: Tables, constants: Settings, engine: EngineOf) -> Renderer:
    """From speech tokens to sound."""
    encoder, estimator = engine("flow_encoder"), engine("estimator")
    sound = vocoder(known, constants, engine)
    if constants.is_second:
        return DoublingRenderer(DoublingFlow(encoder, estimator, constants), sound)
    return StretchingRenderer(StretchingFlow(encoder, estimator, constants), sound, constants)
