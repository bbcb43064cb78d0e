"""The sound of one text: asked of the service, and put into the format that was wanted."""

from __future__ import annotations

import asyncio
import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Any, AsyncIterator, Dict, Optional, Tuple

from edge_tts.audio.encoded import Encoder, Encoding
from edge_tts.audio.wav import wav_header
from edge_tts.http.link import Link
from edge_tts.service.messages import check_text_length
from edge_tts.service.replies import SAMPLE_BYTES

# Names that programs written for OpenAI's service send; they leave the choice to us.
_OPENAI_VOICES = (
    *("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable"),
    *("marin", "nova", "onyx", "sage", "shimmer", "verse"),
)
_OPEN = ("", "auto", "default")


class Format(str, enum.Enum):
    """Format of an answer; PCM is 16-bit little-endian mono."""

    WAV = "wav"
    PCM = "pcm"
    FLAC = "flac"
    OPUS = "opus"

    @property
    def media_type(self) -> str:
        """For the Content-Type header."""
        encoding = self.encoding
        return f"audio/{self.value}" if encoding is None else encoding.media_type

    @property
    def encoding(self) -> Optional[Encoding]:
        """The codec of a compressed format."""
        return None if self in (Format.WAV, Format.PCM) else Encoding(self.value)


@dataclass(frozen=True)
class Order:
    """What to speak and how; None and "auto" leave a choice to the service.

    `voice` is a voice, a speaker, VOICE/SPEAKER or a name of OpenAI's; `speaker` only a speaker.
    """

    text: str
    form: Format = Format.WAV
    voice: Optional[str] = None
    speaker: Optional[str] = None
    language: Optional[str] = None
    speed: float = 1.0
    ssml: bool = False

    def fields(self) -> Dict[str, Any]:
        """The fields of the `synthesize` event."""
        voice, speaker = _named(self.voice)
        name = {"name": voice, "speaker": _chosen(self.speaker) or speaker}
        return {
            "text": self.text,
            "text_format": "ssml" if self.ssml else None,
            "voice": {**name, "language": _chosen(self.language)},
            "speed": self.speed,
        }


class Speech:
    """Sound that has begun to arrive. `close` ends its synthesis wherever it is."""

    def __init__(self, link: Link, sample_rate_hz: int, form: Format) -> None:
        self._link = link
        self._form = form
        self.sample_rate_hz = sample_rate_hz
        self.n_samples = 0
        """Samples received so far."""
        encoding = form.encoding
        self._encoder = None if encoding is None else Encoder(encoding, sample_rate_hz)

    @classmethod
    async def begin(cls, service: Optional[Path], order: Order) -> "Speech":
        """Return when the first sound is there. Raises the error by which the text was refused."""
        check_text_length(len(order.text))
        link = await Link.open(service)
        try:
            await link.send("synthesize", order.fields())
            frame = await link.receive()
            while frame.type != "audio-start":
                frame = await link.receive()
            return cls(link, int(frame.data["rate"]), order.form)
        except BaseException:
            # A client that left cancels this: its work must end as well.
            link.close()
            raise

    async def pieces(self) -> AsyncIterator[bytes]:
        """The bytes of the answer. Raises when the voice fails in the middle."""
        if self._form is Format.WAV:
            yield wav_header(self.sample_rate_hz, None)
        frame = await self._link.receive()
        while frame.type != "audio-stop":
            self.n_samples += len(frame.payload) // SAMPLE_BYTES
            piece = await self._encoded(frame.payload)
            if piece:
                yield piece
            frame = await self._link.receive()
        if self._encoder is not None:
            yield self._encoder.finish()

    def close(self) -> None:
        """End the synthesis. Idempotent."""
        self._link.close()

    async def _encoded(self, pcm: bytes) -> bytes:
        encoder = self._encoder
        if encoder is None:
            return pcm
        # In a thread: Opus takes tens of milliseconds, and others wait for the event loop.
        return await asyncio.get_event_loop().run_in_executor(None, _encode, encoder, pcm)


def _encode(encoder: Encoder, pcm: bytes) -> bytes:
    import numpy as np

    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / np.float32(32767.0)
    return encoder.encode(samples)


def _named(wanted: Optional[str]) -> Tuple[Optional[str], Optional[str]]:
    """Voice and speaker that `wanted` stands for; the service's own where it names none."""
    if wanted is None or wanted in (*_OPEN, *_OPENAI_VOICES):
        return None, None
    voice, slash, speaker = wanted.partition("/")
    return (voice or None, speaker or None) if slash else (wanted, None)


def _chosen(name: Optional[str]) -> Optional[str]:
    return None if name in _OPEN else name
