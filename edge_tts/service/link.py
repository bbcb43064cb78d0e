"""The front's end of the socket to the worker: replies in order, flow control, a hang alarm."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Callable, Deque, Optional, cast

from edge_tts.errors import ServiceError
from edge_tts.service.codec import Decoder, encode
from edge_tts.service.worker_link import (
    LIMITS,
    Order,
    Ping,
    Pong,
    Ready,
    Reply,
    reply_from,
    to_frame,
)

# Replies that wait to be read; beyond this the worker is held back by its full socket.
_MAX_REPLIES = 8


class WorkerLink(asyncio.Protocol):
    """Protocol object of one worker's life. `on_hang` is called when a watched worker is mute."""

    def __init__(self, on_hang: Callable[[], None]) -> None:
        self._on_hang = on_hang
        self._loop = asyncio.get_event_loop()
        self._decoder = Decoder(LIMITS)
        self._transport: Optional[asyncio.Transport] = None
        self._replies: Deque[Reply] = deque()
        self._arrived = asyncio.Event()
        self._lost = asyncio.Event()
        self._alarm: Optional[asyncio.TimerHandle] = None
        self._silence_s: Optional[float] = None
        self._is_pinged = False
        self._wanted = 0
        """Number of the request whose replies are kept; those of others are dropped on arrival."""

    # --- used by the supervisor --------------------------------------------------------------

    def send(self, order: Order) -> None:
        """Send an order; without effect once the worker is gone."""
        if self._transport is not None and not self._lost.is_set():
            self._transport.write(encode(to_frame(order)))

    def ping(self, ping: Ping, silence_s: float) -> None:
        """Send a ping and expect the answer within `silence_s`."""
        self.send(ping)
        if not self._is_pinged and self._silence_s is None:
            self._is_pinged = True
            self._arm(silence_s)

    def watch(self, silence_s: Optional[float]) -> None:
        """Expect something from the worker every `silence_s`; None expects nothing."""
        self._silence_s = silence_s
        self._is_pinged = False
        self._arm(silence_s)

    def want(self, request: int) -> None:
        """Keep the replies to this request only, and let a waiting `next_reply` return."""
        self._wanted = request
        self._replies.clear()
        if self._transport is not None and not self._lost.is_set():
            self._transport.resume_reading()
        self._arrived.set()

    @property
    def is_lost(self) -> bool:
        """True when the worker is gone and its last reply has been read."""
        return self._lost.is_set() and not self._replies

    async def next_reply(self) -> Optional[Reply]:
        """The next reply; None when there is a reason to look again (loss, a change of wants)."""
        while not self._replies:
            if self._lost.is_set():
                return None
            self._arrived.clear()
            await self._arrived.wait()
            if not self._replies:
                return None
        reply = self._replies.popleft()
        if self._transport is not None and not self._lost.is_set():
            self._transport.resume_reading()
        return reply

    async def lost_within(self, timeout_s: float) -> bool:
        """Wait for the loss of the worker, at most `timeout_s`; True when it is lost."""
        waiter = self._loop.create_task(self._lost.wait())
        await asyncio.wait({waiter}, timeout=timeout_s)
        waiter.cancel()
        return self._lost.is_set()

    def close(self) -> None:
        """Close the socket. A worker without its front ends by itself."""
        self._arm(None)
        if self._transport is not None:
            self._transport.abort()

    # --- called by asyncio -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the socket is ready."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes from the worker."""
        try:
            replies = [reply_from(frame) for frame in self._decoder.feed(data)]
        except ServiceError:
            # A worker that does not speak the codec has lost its mind.
            self._on_hang()
            return
        for reply in replies:
            if isinstance(reply, Pong):
                self._is_pinged = False
            elif isinstance(reply, Ready) or reply.request == self._wanted:
                self._replies.append(reply)
        self._arm(self._silence_s)
        if self._transport is not None and len(self._replies) >= _MAX_REPLIES:
            self._transport.pause_reading()
        self._arrived.set()

    def connection_lost(self, error: Optional[Exception]) -> None:
        """asyncio: the worker has gone."""
        self._arm(None)
        self._lost.set()
        self._arrived.set()

    def _arm(self, silence_s: Optional[float]) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None
        if silence_s is not None:
            self._alarm = self._loop.call_later(silence_s, self._on_hang)
