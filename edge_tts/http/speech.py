"""One utterance as a streaming response, in the format that was asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Optional, Tuple

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from edge_tts.audio.encoded import Encoder, Encoding
from edge_tts.audio.wav import to_pcm16, wav_header
from edge_tts.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.http.admission import Admission

SEND_TIMEOUT_S = 30.0
FORMATS = ("wav", "pcm", "flac", "opus")


class PcmCoder:
    """16 bit samples after an optional head; the counterpart of `Encoder`."""

    def __init__(self, head: bytes) -> None:
        self._head = head

    def encode(self, samples: "np.ndarray") -> bytes:
        """The bytes of these samples, the head before the first."""
        head, self._head = self._head, b""
        return head + bytes(to_pcm16(samples).tobytes())

    def finish(self) -> bytes:
        """The head, where there was no sample."""
        return self._head


def open_coder(wanted: str, rate_hz: int) -> Tuple[Any, str]:
    """A coder and its media type. Raises InputError for a format that is not offered."""
    if wanted == "wav":
        return PcmCoder(wav_header(rate_hz, None)), "audio/wav"
    if wanted == "pcm":
        return PcmCoder(b""), "audio/pcm"
    if wanted not in FORMATS:
        raise InputError(f"there is no format {wanted!r}; choose one of {', '.join(FORMATS)}")
    encoding = Encoding(wanted)
    return Encoder(encoding, rate_hz), encoding.media_type


class Utterance:
    """The sound of one request, rendered in a thread chunk by chunk; holds its turn until closed.

    Must be entered with the turn taken.
    """

    def __init__(self, chunks: Any, coder: Any, admission: "Admission") -> None:
        self._chunks = chunks
        self._coder = coder
        self._admission = admission
        self._first: Optional[AudioChunk] = None
        self._is_open = True

    async def begin(self) -> None:
        """Render the first chunk, so that a failure still has a status of its own."""
        self._first = await run_in_threadpool(next, self._chunks, None)

    async def parts(self) -> AsyncIterator[bytes]:
        """The bytes of the response."""
        chunk = self._first
        while chunk is not None:
            self._admission.counts.sound_s += chunk.duration_s
            data = self._coder.encode(chunk.samples)
            if data:
                yield data
            chunk = await run_in_threadpool(next, self._chunks, None)
        yield self._coder.finish()

    def close(self) -> None:
        """Stop rendering and give the turn away. Idempotent."""
        if self._is_open:
            self._is_open = False
            self._chunks.close()
            self._coder.finish()
            self._admission.leave()


class SpeechResponse(StreamingResponse):
    """Closes its utterance however it ends: spoken, failed, or left by its listener."""

    def __init__(self, utterance: Utterance, media_type: str, headers: Dict[str, str]) -> None:
        self._utterance = utterance
        super().__init__(utterance.parts(), media_type=media_type, headers=headers)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, _impatient(send))
        finally:
            self._utterance.close()


def _impatient(send: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A listener that does not read must not keep the voice from the others."""

    async def bounded(message: Any) -> None:
        await asyncio.wait_for(send(message), SEND_TIMEOUT_S)

    return bounded
