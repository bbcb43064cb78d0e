"""`edge-tts http`: serve speech over HTTP from the running service."""

from __future__ import annotations

import argparse
import os
from typing import Any

from edge_tts.errors import EXIT_OK

DEFAULT_LISTEN = "127.0.0.1:8765"
_SMALL_PROCESS = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def add_parser(subparsers: Any) -> None:
    """Add `http` to the command line."""
    parser = subparsers.add_parser(
        "http",
        help="serve speech over HTTP from the running service",
        description="Serve HTTP in the foreground until SIGTERM, as a client of the running "
        "service. With http.listen set, the service does this by itself.",
    )
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help=f"where to listen, instead of http.listen (default {DEFAULT_LISTEN})",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until stopped."""
    for name, value in _SMALL_PROCESS.items():
        os.environ.setdefault(name, value)
    from edge_tts import config as configuration
    from edge_tts.http.access import check_installed
    from edge_tts.http.server import serve
    from edge_tts.service.sockets import listen_tcp

    check_installed()
    config = configuration.load(args.config, {"http.listen": args.listen})
    with listen_tcp(config.http.listen or DEFAULT_LISTEN, "http.listen") as listener:
        serve(config.http, config.service.socket, listener)
    return EXIT_OK
