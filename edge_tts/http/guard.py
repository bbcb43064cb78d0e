"""What every request meets before it is looked at: names, token, size of the body and patience."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections import Counter
from typing import Any, Awaitable, Callable, Dict, MutableMapping, Tuple
from urllib.parse import urlsplit

from edge_tts.errors import EdgeTTSError, ServiceError
from edge_tts.http.access import Access
from edge_tts.http.faults import answer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

BODY_S = 10.0
# How long a refused body is still read: closed with bytes unread, a connection is reset, and the
# answer is lost to a sender that has not come to read it.
_LINGER_S = 1.0
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
# They hold no speech and nothing of the service's state but whether it stands; and a browser loads
# them before it can send a token.
_PUBLIC = frozenset({"/", "/docs", "/openapi.json", "/healthz"})


class Guard:
    """ASGI application around the routes; counts the answers by status."""

    def __init__(self, app: App, access: Access, body_bytes: int, answers: "Counter[int]") -> None:
        self._app = app
        self._access = access
        self._body_bytes = body_bytes
        self._answers = answers

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """ASGI: serve one request."""
        if scope["type"] != "http":
            return
        counted = self._counted(send)
        headers = {name.lower(): value for name, value in scope["headers"]}
        body = _Body(headers, receive, self._body_bytes)
        try:
            self._check_names(headers)
            self._check_token(scope["path"], headers)
            content = await body.read()
        except EdgeTTSError as fault:
            await _refuse(counted, fault, body)
        else:
            await self._app(scope, _replayed(content, receive), counted)

    def _counted(self, send: Send) -> Send:
        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answers[message["status"]] += 1
            await send(message)

        return counting

    def _check_names(self, headers: Dict[bytes, bytes]) -> None:
        """A page from elsewhere must not reach us: by a name that leads here, or as itself."""
        host = headers.get(b"host", b"").decode("latin-1")
        if self._access.is_loopback and _host_name(host) not in _LOOPBACK_NAMES:
            raise _foreign("the request's Host is not a name of this machine; use 127.0.0.1")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            raise _foreign("requests from pages of other sites are not served")

    def _check_token(self, path: str, headers: Dict[bytes, bytes]) -> None:
        if self._access.token is None or path in _PUBLIC:
            return
        wanted = b"Bearer " + self._access.token
        if not hmac.compare_digest(headers.get(b"authorization", b""), wanted):
            raise ServiceError(
                "send the header 'Authorization: Bearer TOKEN' with the token of this device",
                code="service.unauthorized",
            )


class _Body:
    """The body of one request, as far as it is wanted."""

    def __init__(self, headers: Dict[bytes, bytes], receive: Receive, limit_bytes: int) -> None:
        self._receive = receive
        self._limit_bytes = limit_bytes
        self._announced_bytes = int(headers.get(b"content-length", 0))
        # Its sender holds the body back until it is asked for, which a look at it does.
        self._is_held_back = b"expect" in headers
        self._is_whole = False

    async def read(self) -> bytes:
        """All of it; ServiceError where it is too large or too slow."""
        if self._announced_bytes > self._limit_bytes:
            raise self._too_large()
        self._is_held_back = False
        try:
            return await asyncio.wait_for(self._read(), BODY_S)
        except asyncio.TimeoutError as error:
            raise _SlowBodyError() from error

    async def discard(self) -> None:
        """Read what is left, and keep none of it, for `_LINGER_S` at most."""
        if self._is_held_back:
            return
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._drain(), _LINGER_S)

    async def _read(self) -> bytes:
        body = bytearray()
        while not self._is_whole:
            body += await self._part()
            if len(body) > self._limit_bytes:
                raise self._too_large()
        return bytes(body)

    async def _drain(self) -> None:
        while not self._is_whole:
            await self._part()

    async def _part(self) -> bytes:
        message = await self._receive()
        self._is_whole = not message.get("more_body", False)
        return bytes(message.get("body", b""))

    def _too_large(self) -> ServiceError:
        return ServiceError(
            f"the body may have at most {self._limit_bytes} bytes; send the text in parts",
            code="service.body_too_large",
        )


class _SlowBodyError(ServiceError):
    default_code = "service.bad_request"

    def __init__(self) -> None:
        super().__init__(f"the request's body did not arrive within {BODY_S:g} s")


async def _refuse(send: Send, fault: EdgeTTSError, body: _Body) -> None:
    status, document, extra = answer(fault, 408 if isinstance(fault, _SlowBodyError) else 0)
    content = json.dumps(document).encode()
    headers: Tuple[Tuple[bytes, bytes], ...] = (
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        # What is left of a large or slow body after a while is not read.
        (b"connection", b"close"),
        *((name.lower().encode(), value.encode()) for name, value in extra.items()),
    )
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": content, "more_body": True})
    await body.discard()
    await send({"type": "http.response.body", "body": b""})


def _replayed(body: bytes, receive: Receive) -> Receive:
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _foreign(message: str) -> ServiceError:
    return ServiceError(message, code="service.host_refused")
