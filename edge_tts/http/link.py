"""A connection to the service, on the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import Any, Deque, Dict, Optional

from edge_tts.errors import InputError, ServiceError
from edge_tts.service.client import fault_in
from edge_tts.service.codec import Decoder, Frame, FrameLimits, encode
from edge_tts.service.sockets import trusted_places

_READ_BYTES = 64 * 1024
_ANSWER_S = 5.0
_LIMITS = FrameLimits(data_bytes=1024 * 1024, payload_bytes=8 * 1024 * 1024)


class Link:
    """Frames to and from the service. Closing it ends what was asked for on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._decoder = Decoder(_LIMITS)
        self._frames: Deque[Frame] = deque()

    @classmethod
    async def open(cls, configured: Optional[Path]) -> "Link":
        """Connect. Raises ServiceError `service.not_running`."""
        for place in trusted_places(configured):
            try:
                return cls(*await asyncio.open_unix_connection(str(place)))
            except OSError:
                continue
        raise ServiceError(
            "no service answers; start it with 'edge-tts service' or systemctl",
            code="service.not_running",
        )

    async def send(self, kind: str, fields: Dict[str, Any]) -> None:
        """Send an event; fields that are None are left out.

        Raises InputError `input.encoding` for text with lone surrogates, which JSON may hold.
        """
        data = {name: value for name, value in fields.items() if value is not None}
        try:
            self._writer.write(encode(Frame(kind, data)))
            await self._writer.drain()
        except UnicodeEncodeError as error:
            raise InputError(
                "the request holds half a surrogate pair; send whole characters",
                code="input.encoding",
            ) from error
        except OSError as error:
            raise _lost() from error

    async def receive(self) -> Frame:
        """The next frame. Raises what an `error` frame says, and ServiceError on loss."""
        while not self._frames:
            try:
                data = await self._reader.read(_READ_BYTES)
            except OSError as error:
                raise _lost() from error
            if not data:
                raise _lost()
            self._frames.extend(self._decoder.feed(data))
        frame = self._frames.popleft()
        if frame.type == "error":
            raise fault_in(frame.data)
        return frame

    def close(self) -> None:
        """End the connection at once. Idempotent."""
        self._writer.transport.abort()


async def ask(configured: Optional[Path], kind: str, answer: str) -> Dict[str, Any]:
    """Ask the service one thing on a connection of its own; the fields of the frame `answer`.

    Raises ServiceError when none answers within 5 s.
    """
    link = await Link.open(configured)
    try:
        return await asyncio.wait_for(_answer(link, kind, answer), _ANSWER_S)
    except asyncio.TimeoutError as error:
        raise ServiceError("the service does not answer; see its log") from error
    finally:
        link.close()


async def _answer(link: Link, kind: str, answer: str) -> Dict[str, Any]:
    await link.send(kind, {})
    while True:
        frame = await link.receive()
        if frame.type == answer:
            return dict(frame.data)


def _lost() -> ServiceError:
    return ServiceError("the service closed the connection; see its log", code="service.failed")
