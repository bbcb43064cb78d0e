"""What is checked before a request is looked at: host, token, size and patience."""

from __future__ import annotations

import asyncio
import hmac
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from edge_tts.http.replies import refusal

MAX_BODY_BYTES = 128 * 1024
BODY_TIMEOUT_S = 10.0
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OPEN_PATHS = ("/", "/docs", "/healthz")
"""What shows nothing of value, and what a browser loads before it can send a token."""


@dataclass(frozen=True)
class Access:
    """Who is served: only who names a loopback host, and only who knows the token, if any."""

    loopback_only: bool = True
    token: Optional[str] = None


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: Any, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        reply = self._refused(scope["path"], headers)
        body = b""
        if reply is None:
            body, reply = await _read(receive)
        if reply is not None:
            await reply(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), send)

    def _refused(self, path: str, headers: Dict[bytes, str]) -> Any:
        # A page of another site may point its own name here (DNS rebinding).
        if self._access.loopback_only and _host(headers.get(b"host", "")) not in LOOPBACK:
            return refusal(403, "service.bad_request", "the Host header must be a loopback name")
        token = self._access.token
        if token is None or path in OPEN_PATHS:
            return None
        expected = f"Bearer {token}".encode("ascii")
        if hmac.compare_digest(headers.get(b"authorization", "").encode("latin-1"), expected):
            return None
        return refusal(401, "service.unauthorized", "send the token as `Authorization: Bearer …`")


def _host(header: str) -> str:
    if header.startswith("["):
        return header.partition("]")[0].lower() + "]"
    return header.partition(":")[0].lower()


async def _read(receive: Any) -> Tuple[bytes, Any]:
    try:
        body = await asyncio.wait_for(_body(receive), BODY_TIMEOUT_S)
    except asyncio.TimeoutError:
        return b"", refusal(408, "service.bad_request", "the request's body did not arrive in time")
    if len(body) > MAX_BODY_BYTES:
        message = f"the request is larger than {MAX_BODY_BYTES} bytes; divide the text"
        return b"", refusal(413, "service.bad_request", message)
    return body, None


async def _body(receive: Any) -> bytes:
    """The body, read no further than just past the limit."""
    body = bytearray()
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body)


def _replayed(body: bytes, receive: Any) -> Any:
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return pending.pop() if pending else await receive()

    return replay
