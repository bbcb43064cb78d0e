"""`edge-tts http`: speech over HTTP, in a process of its own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Optional, Tuple

from edge_tts.errors import EXIT_OK, ConfigError, ServiceError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_CONNECTIONS = 64


def add_parser(subparsers: Any) -> None:
    """Add `http` to the command line."""
    parser = subparsers.add_parser(
        "http",
        help="speak over HTTP",
        description="Serve speech over HTTP with one voice, see docs/http.md.",
    )
    parser.add_argument("--listen", default="127.0.0.1:8765", metavar="HOST:PORT")
    parser.add_argument("--voice", metavar="NAME", help="a speaker, a voice, or VOICE/SPEAKER")
    parser.add_argument("--token-file", metavar="FILE", help="ask for the token in this file")
    parser.add_argument(
        "--max-requests",
        type=int,
        default=4,
        metavar="N",
        help="requests spoken or waiting at once, beyond which 429 is answered (default 4)",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    host, port = parse_address(args.listen)
    token = read_token(args.token_file)
    if host not in LOOPBACK and token is None:
        raise ConfigError(f"{host} may be reached by others; give a token with --token-file")
    if args.max_requests < 1:
        raise ConfigError("--max-requests must be at least 1", code="config.out_of_range")
    try:
        import uvicorn

        from edge_tts.http.app import build_app
        from edge_tts.http.guard import Access
    except ModuleNotFoundError as error:
        raise ServiceError(
            f"HTTP needs the package {error.name}; "
            "install it with `pip install 'edge-tts-device[http]'`"
        ) from error
    from edge_tts import config as configuration
    from edge_tts.speaker import open_speaker

    with open_speaker(configuration.load(args.config, {}), args.voice) as speaker:
        app = build_app(speaker, Access(host in LOOPBACK, token), args.max_requests)
        options: Any = {"ws": "none", "lifespan": "off", "log_level": "warning"}
        options.update(access_log=False, limit_concurrency=MAX_CONNECTIONS)
        uvicorn.run(app, host=host, port=port, **options)
    return EXIT_OK


def parse_address(listen: str) -> Tuple[str, int]:
    """Host and port of HOST:PORT, an IPv6 host in brackets."""
    host, colon, port = listen.rpartition(":")
    if not (colon and host and port.isdigit() and int(port) < 65536):
        raise ConfigError(f"--listen must be HOST:PORT, not {listen!r}")
    return host.strip("[]"), int(port)


def read_token(path: Optional[str]) -> Optional[str]:
    """The token in a file, without the white space around it."""
    if path is None:
        return None
    try:
        token = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the token in {path}: {error}") from error
    if not token:
        raise ConfigError(f"{path} holds no token; write one line of ASCII into it")
    return token
