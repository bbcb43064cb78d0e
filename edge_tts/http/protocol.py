"""uvicorn's HTTP/1.1 protocol, with bounds on connections and on those that do not speak."""

from __future__ import annotations

import json
from typing import Any, Optional

from uvicorn.protocols.http.h11_impl import H11Protocol

from edge_tts.errors import EdgeTTSError, ServiceError
from edge_tts.http.faults import answer

MAX_CONNECTIONS = 128
_LOOK_EVERY_S = 10.0


class BoundedProtocol(H11Protocol):
    """A connection. Without a request in work for 10 to 20 s it is closed."""

    _watch: Any = None
    _seen: Any = None

    def connection_made(self, transport: Any) -> None:
        """asyncio: a client is here; one too many is told so and closed."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            message = f"{MAX_CONNECTIONS} clients are connected; try again later"
            self._refuse(ServiceError(message, code="service.too_many_connections"))
            return
        self._watch = self.loop.call_later(_LOOK_EVERY_S, self._look)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        """asyncio: the client is gone."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """uvicorn: what came is not HTTP."""
        self._refuse(ServiceError(msg, code="service.bad_request"))

    def _look(self) -> None:
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.cycle is self._seen:
            self.transport.close()
            return
        self._seen = self.cycle
        self._watch = self.loop.call_later(_LOOK_EVERY_S, self._look)

    def _refuse(self, fault: EdgeTTSError) -> None:
        status, body, headers = answer(fault)
        content = json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} Refused", "Content-Type: application/json"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"Content-Length: {len(content)}", "Connection: close", "", ""]
        self.transport.write("\r\n".join(lines).encode("ascii") + content)
        self.transport.close()
