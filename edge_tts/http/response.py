"""The answer to a request for speech: sent as it is made, ended by whoever ends first."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Awaitable, Callable, Optional

from fastapi.responses import StreamingResponse

from edge_tts.errors import EdgeTTSError, ServiceError
from edge_tts.http.admission import Admission
from edge_tts.http.speech import Order, Speech

_log = logging.getLogger(__name__)

_SEND_S = 30.0


@dataclass(frozen=True)
class Studio:
    """Where speech comes from: the service's socket (None: the usual places), and the limits."""

    service: Optional[Path]
    admission: Admission
    deadline_s: float


class SpeechResponse(StreamingResponse):
    """Speaks `order`. A client that leaves ends its own synthesis at once, and nobody else's.

    An error before the first sound is raised, and has a status of its own; after it, the answer is
    broken off, which HTTP/1.1 clients see as an incomplete body.
    """

    def __init__(self, studio: Studio, order: Order) -> None:
        super().__init__((), media_type=order.form.media_type)
        self.headers["Cache-Control"] = "no-store"
        self._studio = studio
        self._order = order
        self._is_begun = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI: speak, unless the client leaves or the deadline passes first."""
        with self._studio.admission.admitted():
            speaking = asyncio.ensure_future(self._speak(send))
            leaving = asyncio.ensure_future(_left(receive))
            both = {speaking, leaving}
            try:
                await asyncio.wait(
                    both,
                    timeout=self._studio.deadline_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                is_spoken, has_left = speaking.done(), leaving.done()
            finally:
                for task in both:
                    task.cancel()
                await asyncio.gather(*both, return_exceptions=True)
            if is_spoken:
                self._conclude(speaking.exception())
            elif has_left:
                self._studio.admission.counts.n_left += 1
            else:
                self._conclude(self._late())

    async def _speak(self, send: Callable[[Any], Awaitable[None]]) -> None:
        speech = await Speech.begin(self._studio.service, self._order)
        try:
            self.headers["X-Sample-Rate-Hz"] = str(speech.sample_rate_hz)
            self._is_begun = True
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            async for piece in speech.pieces():
                await _send(send, piece, is_last=False)
            await _send(send, b"", is_last=True)
        finally:
            speech.close()
            sound_s = speech.n_samples / speech.sample_rate_hz
            self._studio.admission.counts.sound_s += sound_s

    def _conclude(self, fault: Optional[BaseException]) -> None:
        if fault is None:
            return
        if not (self._is_begun and isinstance(fault, EdgeTTSError)):
            raise fault
        self._studio.admission.counts.n_broken_off += 1
        _log.error("an answer was broken off: %s", fault)

    def _late(self) -> ServiceError:
        return ServiceError(
            f"the request took longer than {self._studio.deadline_s:g} s; send less text",
            code="service.deadline",
        )


async def _send(send: Callable[[Any], Awaitable[None]], piece: bytes, *, is_last: bool) -> None:
    """A client that does not read must not keep its place for ever."""
    message = {"type": "http.response.body", "body": piece, "more_body": not is_last}
    try:
        await asyncio.wait_for(send(message), _SEND_S)
    except asyncio.TimeoutError as error:
        raise ServiceError(
            f"the client has read nothing for {_SEND_S:g} s", code="service.slow_reader"
        ) from error


async def _left(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
