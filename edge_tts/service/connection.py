"""One client connection: frames in, requests to the announcer, frames out, every limit typed."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Set, Type, cast

from edge_tts import __version__
from edge_tts.errors import EdgeTTSError, ServiceError
from edge_tts.service import messages, replies
from edge_tts.service.codec import Decoder, Frame, FrameLimits, encode
from edge_tts.service.scheduling import Reason, Selector
from edge_tts.service.synthesis import Synthesis

if TYPE_CHECKING:
    from edge_tts.service.front import Front

_log = logging.getLogger(__name__)

# For a client to read why it is dropped; it holds its place among the connections meanwhile.
_LINGER_S = 5.0


@dataclass(frozen=True)
class ConnectionLimits:
    """`n_requests`: live utterances of one connection. `backlog_bytes`: what it may leave unread.

    `idle_s`: silence after which a connection with nothing live is closed.
    """

    n_connections: int = 64
    n_requests: int = 32
    backlog_bytes: int = 4 * 1024 * 1024
    idle_s: float = 600.0


class Connection(asyncio.Protocol):
    """A client. Reading never waits for the voice: requests are handled as they arrive."""

    def __init__(self, name: str, front: "Front") -> None:
        self.name = name
        self._front = front
        self._announcer = front.announcer
        self._limits = front.settings.connections
        self._decoder = Decoder(FrameLimits())
        self._transport: Optional[asyncio.Transport] = None
        self._live: Set[str] = set()
        self._syntheses: Dict[str, Synthesis] = {}
        self._stream: Optional[Synthesis] = None
        self._n_syntheses = 0
        self._idle_timer: Optional[asyncio.TimerHandle] = None
        self._is_subscribed = False

    # --- Client --------------------------------------------------------------------------------

    def send(self, frame: Frame) -> None:
        """Queue a frame; a client that leaves too much unread is told so and dropped."""
        if self._transport is None or self._transport.is_closing():
            return
        if self.backlog_bytes > self._limits.backlog_bytes:
            self._drop_slow_reader()
            return
        self._transport.write(encode(frame))

    @property
    def backlog_bytes(self) -> int:
        """Bytes queued and not yet taken by the client."""
        return self._transport.get_write_buffer_size() if self._transport else 0

    def release(self, uid: str) -> None:
        """An utterance of this connection has ended."""
        self._live.discard(uid)

    # --- asyncio -------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the client is here."""
        self._transport = cast(asyncio.Transport, transport)
        if not self._front.register(self):
            self._refuse(
                "service.too_many_connections",
                f"{self._limits.n_connections} clients are connected; try again later",
            )
            return
        self._arm_idle_timer()

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes from the client."""
        try:
            frames = self._decoder.feed(data)
        except ServiceError as fault:
            self._front.announcer.metrics.refused[fault.code] += 1
            self.send(replies.error(fault))
            self.close()
            return
        for frame in frames:
            self._serve(frame)
        if frames:
            self._arm_idle_timer()

    def resume_writing(self) -> None:
        """asyncio: the client has caught up."""
        self._announcer.renderer.wake()

    def connection_lost(self, error: Optional[Exception]) -> None:
        """asyncio: the client is gone; its own work ends, and nothing else does."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._front.unregister(self)
        self._announcer.subscribers.discard(self)
        for synthesis in list(self._syntheses.values()):
            synthesis.cancel()
        self._announcer.stop(Selector(owner=self.name), Reason.DISCONNECTED)
        self._announcer.sessions.leave(self.name)

    def close(self) -> None:
        """Send what is queued, for a moment, then close."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            asyncio.get_event_loop().call_later(_LINGER_S, self._transport.abort)

    # --- serving -------------------------------------------------------------------------------

    def _serve(self, frame: Frame) -> None:
        try:
            request = messages.parse(frame)
            if request is not None:
                _HANDLERS[type(request)](self, request)
        except EdgeTTSError as fault:
            self.send(replies.error(fault, _named(frame), self._front.retry_s(fault)))
        except Exception:  # noqa: BLE001 - the request boundary: one request must not end the others
            _log.exception("internal error while serving %s", frame.type)
            internal = EdgeTTSError("internal error; see the service's log", code="internal")
            self.send(replies.error(internal, _named(frame)))

    def _describe(self, request: messages.Describe) -> None:
        self.send(replies.info(self._announcer.facts, __version__))

    def _ping(self, request: messages.Ping) -> None:
        self.send(replies.pong(request.text))

    def _speak(self, request: messages.Speak) -> None:
        self._check_n_requests()
        ticket = self._announcer.speak(request, self, self.name)
        if not request.detached and self._announcer.is_live(ticket.uid):
            self._live.add(ticket.uid)

    def _stop(self, request: messages.Stop) -> None:
        selector = Selector(request.uid, request.session, request.key)
        self.send(replies.stopped(self._announcer.stop(selector, Reason.STOPPED)))

    def _pause(self, request: messages.Pause) -> None:
        self._announcer.pause()
        self.send(replies.paused(True))

    def _resume(self, request: messages.Resume) -> None:
        self._announcer.resume()
        self.send(replies.paused(False))

    def _status(self, request: messages.QueryStatus) -> None:
        self.send(Frame("edge-status", self._front.status()))

    def _open_session(self, request: messages.OpenSession) -> None:
        self._announcer.sessions.open(request.session, self.name)
        self.send(replies.session(request.session, True))

    def _close_session(self, request: messages.CloseSession) -> None:
        self._announcer.sessions.close(request.session)
        self._announcer.stop(Selector(session=request.session), Reason.CLOSED)
        self.send(replies.session(request.session, False))

    def _subscribe(self, request: messages.Subscribe) -> None:
        self._is_subscribed = True
        self._announcer.subscribers.add(self)
        self.send(Frame("edge-subscribed"))

    # --- sound for this client -----------------------------------------------------------------

    def _synthesize(self, request: messages.Synthesize) -> None:
        if self._stream is not None:
            # Wyoming clients repeat a streamed text whole, for servers that do not stream.
            return
        synthesis = self._new_synthesis(request.manner)
        synthesis.add_text(request.text)
        synthesis.complete()

    def _start_stream(self, request: messages.SynthesizeStart) -> None:
        if self._stream is not None:
            raise ServiceError(
                "a stream is open on this connection; end it first", code="service.bad_request"
            )
        self._stream = self._new_synthesis(request.manner)
        self._stream.is_streamed = True

    def _continue_stream(self, request: messages.SynthesizeChunk) -> None:
        stream = self._open_stream()
        try:
            stream.add_text(request.text)
        except EdgeTTSError as fault:
            self._stream = None
            stream.abandon(fault)

    def _end_stream(self, request: messages.SynthesizeStop) -> None:
        stream = self._open_stream()
        self._stream = None
        stream.complete()

    def _open_stream(self) -> Synthesis:
        if self._stream is None:
            raise ServiceError(
                "no stream is open; send synthesize-start first", code="service.bad_request"
            )
        return self._stream

    def _new_synthesis(self, manner: messages.Manner) -> Synthesis:
        self._announcer.check_admission()
        self._check_n_requests()
        self._front.check_n_syntheses()
        self._n_syntheses += 1
        uid = f"{self.name}/s{self._n_syntheses}"
        full = manner.over(self._announcer.settings.manner)
        synthesis = Synthesis(uid, self, self._announcer.renderer, full, self.name, self._forget)
        self._syntheses[uid] = synthesis
        return synthesis

    def _forget(self, synthesis: Synthesis) -> None:
        self._syntheses.pop(synthesis.uid, None)
        if self._stream is synthesis:
            self._stream = None

    @property
    def n_syntheses(self) -> int:
        """Syntheses under way for this client."""
        return len(self._syntheses)

    @property
    def held_bytes(self) -> int:
        """What this client's syntheses hold: text, and sound that it has not read."""
        return self.backlog_bytes + sum(s.n_text_bytes for s in self._syntheses.values())

    def end_syntheses(self, fault: EdgeTTSError) -> None:
        """Give up all that is synthesised for this client, who learns why."""
        for synthesis in list(self._syntheses.values()):
            synthesis.abandon(fault)

    # --- limits --------------------------------------------------------------------------------

    def _check_n_requests(self) -> None:
        if len(self._live) + len(self._syntheses) >= self._limits.n_requests:
            raise ServiceError(
                f"this connection has {self._limits.n_requests} live requests; "
                "wait until one has finished",
                code="service.too_many_requests",
            )

    def _arm_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        loop = asyncio.get_event_loop()
        self._idle_timer = loop.call_later(self._limits.idle_s, self._on_idle)

    def _on_idle(self) -> None:
        if self._live or self._syntheses or self._is_subscribed:
            self._arm_idle_timer()
            return
        self._refuse("service.idle_timeout", f"nothing came for {self._limits.idle_s:g} s")

    def _drop_slow_reader(self) -> None:
        _log.warning("%s does not read; dropped", self.name)
        fault = ServiceError(
            f"more than {self._limits.backlog_bytes} bytes wait unread; read while you ask",
            code="service.slow_reader",
        )
        self._announcer.metrics.refused[fault.code] += 1
        if self._transport is not None:
            self._transport.write(encode(replies.error(fault)))
        self.close()

    def _refuse(self, code: str, message: str) -> None:
        self._announcer.metrics.refused[code] += 1
        self.send(replies.error(ServiceError(message, code=code)))
        self.close()


def _named(frame: Frame) -> Optional[str]:
    """The id a client gave to its request, to be repeated in the error."""
    uid = frame.data.get("id")
    return uid if isinstance(uid, str) else None


_HANDLERS: Dict[Type[Any], Callable[[Connection, Any], None]] = {
    messages.Describe: Connection._describe,
    messages.Ping: Connection._ping,
    messages.Synthesize: Connection._synthesize,
    messages.SynthesizeStart: Connection._start_stream,
    messages.SynthesizeChunk: Connection._continue_stream,
    messages.SynthesizeStop: Connection._end_stream,
    messages.Speak: Connection._speak,
    messages.Stop: Connection._stop,
    messages.Pause: Connection._pause,
    messages.Resume: Connection._resume,
    messages.QueryStatus: Connection._status,
    messages.OpenSession: Connection._open_session,
    messages.CloseSession: Connection._close_session,
    messages.Subscribe: Connection._subscribe,
}
