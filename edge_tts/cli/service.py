"""`edge-tts service`: run the announcer in the foreground, as systemd does."""

from __future__ import annotations

import argparse
import contextlib
import os
from typing import TYPE_CHECKING, Any, List

from edge_tts.errors import EXIT_OK

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from edge_tts.config import Config

# A small front process: numpy's linear algebra would otherwise reserve memory for every core.
_SMALL_PROCESS = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def add_parser(subparsers: Any) -> None:
    """Add `service` to the command line."""
    parser = subparsers.add_parser(
        "service",
        help="run the announcer service",
        description="Run the announcer service in the foreground until SIGTERM.",
    )
    parser.add_argument(
        "--release-duck",
        action="store_true",
        help="only raise other sound again if a killed service has left it low",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until stopped; exits 6 when the memory budget ends the service."""
    for name, value in _SMALL_PROCESS.items():
        os.environ.setdefault(name, value)
    import asyncio

    from edge_tts import config as configuration
    from edge_tts.service import settings
    from edge_tts.service.front import serve
    from edge_tts.service.sockets import default_socket

    config = configuration.load(args.config)
    path = config.service.socket or default_socket()
    runtime = settings.runtime_folder(path)
    if args.release_duck:
        return _release_duck(settings.duck_hook(settings.HOOKS, runtime))
    front = settings.front_settings(config, runtime)
    with contextlib.ExitStack() as stack:
        http = settings.http_child(config, path)
        listeners = _listeners(config, path, stack)
        return asyncio.run(serve(front, settings.open_output(config), listeners, http))


def _listeners(
    config: "Config", path: "Path", stack: contextlib.ExitStack
) -> "List[socket.socket]":
    """What systemd has passed, or a socket of our own, which goes with the service; maybe TCP."""
    from edge_tts.service.notify import passed_sockets
    from edge_tts.service.sockets import listen_tcp, listen_unix, removed_at_end

    listeners = passed_sockets()
    if not listeners:
        listeners = [listen_unix(path)]
        stack.enter_context(removed_at_end(path))
    if config.service.tcp is not None:
        listeners.append(listen_tcp(config.service.tcp))
    return listeners


def _release_duck(hook: Any) -> int:
    from edge_tts.service.duck import release_left_over

    if hook is not None:
        release_left_over(hook)
    return EXIT_OK
