"""A real uvicorn on a loopback port, on a thread of the test."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any, Optional

HOLD = "x" * 400
"""Lasts 20 s; the slow tone source takes 10 s over it."""


class HttpSide:
    """What the service's HTTP process runs, in this process. `url` is where it listens."""

    def __init__(
        self,
        service: Optional[Path],
        *,
        token: Optional[bytes] = None,
        n_requests: int = 8,
        deadline_s: float = 30.0,
        body_bytes: int = 262144,
    ) -> None:
        import uvicorn

        from edge_tts.http.access import Access
        from edge_tts.http.admission import Admission
        from edge_tts.http.app import build_app
        from edge_tts.http.protocol import BoundedProtocol
        from edge_tts.http.response import Studio

        self.studio = Studio(service, Admission(n_requests), deadline_s)
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        options: Any = {"http": BoundedProtocol, "loop": "asyncio", "ws": "none"}
        options.update(lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        app = build_app(self.studio, Access(True, token), body_bytes)
        self._server = uvicorn.Server(uvicorn.Config(app, **options))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True
        )

    def __enter__(self) -> "HttpSide":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.should_exit = True
        self._thread.join(15)
        assert not self._thread.is_alive()
        self._listener.close()

    def client(self, **options: Any) -> Any:
        """A client of this server only: no proxy of the environment's."""
        import httpx

        return httpx.Client(base_url=self.url, timeout=20, trust_env=False, **options)


def n_syntheses(service: Any) -> int:
    """Texts that a running front has in synthesis for clients."""
    found: int = service.call(lambda: service.front.n_syntheses)
    return found


def wait_until(condition: Any, within_s: float = 20.0) -> None:
    """Return once `condition()` holds; fail when it does not within `within_s`."""
    until_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < until_s, "waited in vain"
        time.sleep(0.01)
