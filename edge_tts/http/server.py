"""Runs the HTTP process: beside the service, as its child, or on its own as a client of it."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from edge_tts.config import Http
from edge_tts.errors import EdgeTTSError
from edge_tts.http.access import access_for, check_installed

if TYPE_CHECKING:
    import uvicorn

_HEADER_BYTES = 16 * 1024
_GRACE_S = 2
_KEEP_ALIVE_S = 5


def serve(
    http: Http,
    service: Optional[Path],
    listener: socket.socket,
    lifeline: Optional[socket.socket] = None,
) -> None:
    """Serve on `listener` until SIGTERM or SIGINT, or until the other end of `lifeline` closes.

    `service` is the service's socket; None stands for the usual places. Raises ConfigError, and
    ServiceError `service.library_missing` without the extra `http`.
    """
    check_installed()
    import uvicorn

    from edge_tts.http.admission import Admission
    from edge_tts.http.app import build_app
    from edge_tts.http.protocol import BoundedProtocol
    from edge_tts.http.response import Studio

    access = access_for(listener, http.token_file)
    studio = Studio(service, Admission(http.requests), http.deadline_s)
    options = uvicorn.Config(
        build_app(studio, access, http.body_kib * 1024),
        http=BoundedProtocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
    )
    # One line per wrong request would let anyone fill the log.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    asyncio.run(_run(uvicorn.Server(options), listener, lifeline))


async def _run(
    server: "uvicorn.Server", listener: socket.socket, lifeline: Optional[socket.socket]
) -> None:
    if lifeline is not None:
        loop = asyncio.get_event_loop()

        def stop() -> None:
            server.should_exit = True
            loop.remove_reader(lifeline.fileno())

        loop.add_reader(lifeline.fileno(), stop)
    await server.serve(sockets=[listener])


def main(argv: List[str]) -> int:
    """Entry point of the service's child: `--fd N --socket PATH --options JSON`."""
    parser = argparse.ArgumentParser(prog="edge-tts http process")
    parser.add_argument("--fd", type=int, required=True, help="the bound listener")
    parser.add_argument("--socket", type=Path, required=True, help="the service's")
    parser.add_argument("--options", type=json.loads, required=True, help="JSON of config.Http")
    args = parser.parse_args(argv)
    options = dict(args.options)
    options["token_file"] = options["token_file"] and Path(options["token_file"])
    logging.basicConfig(format="edge-tts: %(levelname)s: %(name)s: %(message)s")
    lifeline = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    try:
        serve(Http(**options), args.socket, socket.socket(fileno=args.fd), lifeline)
    except EdgeTTSError as error:
        print(f"edge-tts: error[{error.code}]: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
