"""A new speaker for a built voice, from a recording, through the checkpoint's own networks.

`campplus.onnx` hears who speaks, `speech_tokenizer_v*.onnx` what is said; the flow's own mel of the
recording comes with it. The voice's speakers are replaced in one step: the new table is written
under a name of its own, and it counts when the manifest that names it is in place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Dict, Sequence

import numpy as np

from edge_tts.errors import EngineError, InputError, ModelError
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.frontend import FrontEnd
from edge_tts.voices.cosyvoice.bpe import TextTokenizer
from edge_tts.voices.cosyvoice.features import (
    SAMPLE_RATE_HZ,
    speaker_features,
    tokenizer_features,
)
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.mel import log_mel
from edge_tts.voices.cosyvoice.plausibility import MAX_TOKENS_PER_ID, usual_seconds
from edge_tts.voices.cosyvoice.recording import Recording, unusable
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.speakers import SpeakerPrompt, read_speakers, write_speakers
from edge_tts.voices.cosyvoice.tables import Tables
from edge_tts.voices.cosyvoice.text import model_text
from edge_tts.voices.cosyvoice.voice import ENROLMENT_PARTS, SEGMENT_LIMIT
from edge_tts.voices.manifest import VoiceDirectory
from edge_tts.voices.rewriting import rewrite

SPEAKER_ENCODER, SPEECH_TOKENIZER = ENROLMENT_PARTS

NEUTRAL = "neutral"
"""The speaker of a voice whose checkpoint brings none: nobody's timbre, until one is enrolled."""

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_SLOWEST, _FASTEST = 4.0, 0.25
_FRAMES_PER_TOKEN = 2  # CosyVoice 2
_MAX_TEXT_TOKENS = 1000


@dataclass(frozen=True)
class Enrolment:
    """Who is to be added: the recording at `path` and the words said in it, empty if unknown."""

    name: str
    path: Path
    text: str = ""
    may_replace: bool = False


def enrol(directory: VoiceDirectory, wanted: Enrolment) -> None:
    """Add a speaker to the voice on disk; a voice in use speaks with it once it is opened anew.

    Raises InputError for a name or recording that cannot be used, ModelError for a voice without
    the networks or that cannot be written, EngineError when a network fails.
    """
    info = directory.manifest.info
    _check_name(wanted, info.speakers)
    recording = Recording.read(wanted.path)
    _check_rate_of_speech(wanted, recording)
    directory.check(hashes=True)
    prompt = _prompt(directory, wanted, recording)
    speakers = read_speakers(directory.file("speakers"), info.speakers)
    # Whoever is enrolled takes the place of nobody.
    known = {name: who for name, who in speakers.items() if name != NEUTRAL}
    _write(directory, {**known, wanted.name: prompt})


def _check_name(wanted: Enrolment, speakers: Sequence[str]) -> None:
    if not _NAME.fullmatch(wanted.name) or wanted.name == NEUTRAL:
        raise InputError(
            f"{wanted.name!r} cannot be a speaker's name: use letters, digits, '.', '_' and '-'"
        )
    if wanted.name in speakers and not wanted.may_replace:
        raise InputError(
            f"the voice has a speaker {wanted.name!r} already; choose another name, or say "
            "--replace"
        )


def _check_rate_of_speech(wanted: Enrolment, recording: Recording) -> None:
    usual_s, spoken_s = usual_seconds(wanted.text), recording.audible_seconds
    if wanted.text and not _FASTEST * usual_s <= spoken_s <= _SLOWEST * usual_s:
        raise unusable(
            wanted.path,
            f"{spoken_s:.1f} s of speech cannot be the given text, which takes about "
            f"{usual_s:.1f} s; give exactly the words that are said",
        )


def _prompt(directory: VoiceDirectory, wanted: Enrolment, recording: Recording) -> SpeakerPrompt:
    settings = Settings.read(directory.file("settings"))
    samples = recording.at(SAMPLE_RATE_HZ)
    size = Tables.read(directory.path).flow_speaker.weight.shape[1]
    embedding = _embedding(_network(directory, SPEAKER_ENCODER), samples, size)
    tokens = _tokens(_network(directory, SPEECH_TOKENIZER), samples, settings.n_speech_tokens)
    mel = log_mel(
        recording.at(settings.sample_rate_hz), settings.sample_rate_hz, settings.samples_per_frame
    )
    if settings.is_second:
        n = min(len(tokens), len(mel) // _FRAMES_PER_TOKEN)
        tokens, mel = tokens[:n], mel[: _FRAMES_PER_TOKEN * n]
    text_ids = _text_ids(directory, wanted.text)
    room = settings.max_positions - (MAX_TOKENS_PER_ID + 1) * SEGMENT_LIMIT
    if len(text_ids) and len(tokens) + len(text_ids) > room:
        longest_s = (room - len(text_ids)) / settings.token_rate_hz
        raise unusable(
            wanted.path, f"with its text, this voice has room for {max(0.0, longest_s):.0f} s of it"
        )
    return SpeakerPrompt(embedding, text_ids, FlowPrompt(tokens, mel))


def _network(directory: VoiceDirectory, name: str) -> Path:
    if name not in {part.name for part in directory.manifest.parts}:
        raise ModelError(
            f"the voice {directory.manifest.info.name!r} cannot learn speakers: it was built "
            "without campplus.onnx and speech_tokenizer_v1.onnx or speech_tokenizer_v2.onnx; put "
            "them into the checkpoint folder and build it again",
            code="model.file_missing",
        )
    return directory.file(name)


def _embedding(path: Path, samples: "np.ndarray", size: int) -> "np.ndarray":
    with OnnxEngine(path) as engine:
        features = speaker_features(samples)[None]
        outputs = engine.run({engine.inputs[0]: features})
        embedding: np.ndarray = outputs[engine.outputs[0]].ravel()
    if embedding.shape != (size,) or not np.isfinite(embedding).all():
        raise EngineError(
            f"{path.name} yielded {embedding.shape[0]} numbers instead of {size} finite ones; "
            "it does not belong to this voice",
            code="engine.output_invalid",
        )
    return embedding.astype(np.float32)


def _tokens(path: Path, samples: "np.ndarray", n_known: int) -> "np.ndarray":
    with OnnxEngine(path) as engine:
        features = tokenizer_features(samples)[None]
        lengths = np.array([features.shape[2]], np.int32)
        outputs = engine.run(dict(zip(engine.inputs, (features, lengths))))
        tokens: np.ndarray = outputs[engine.outputs[0]].ravel()
    if not len(tokens) or tokens.min() < 0 or tokens.max() >= n_known:
        raise EngineError(
            f"{path.name} yielded tokens that this voice does not know; it does not belong to it",
            code="engine.output_invalid",
        )
    return tokens.astype(np.int32)


def _text_ids(directory: VoiceDirectory, text: str) -> "np.ndarray":
    tokenizer = TextTokenizer.read(directory.file("tokenizer"))
    front_end = FrontEnd(None, len, _MAX_TEXT_TOKENS, control_words=tokenizer.words)
    tokens = [token for segment in front_end.segments(text) for token in segment.tokens]
    return tokenizer.encode(model_text(tokens))


def _write(directory: VoiceDirectory, speakers: Dict[str, SpeakerPrompt]) -> None:
    info = directory.manifest.info
    names = tuple(speakers)
    defaults = tuple(who if who in speakers else names[-1] for who in info.default_speakers)

    def fill(path: Path) -> None:
        write_speakers(path, speakers)

    rewrite(directory, "speakers", fill, replace(info, speakers=names, default_speakers=defaults))
