"""`edge-tts stop`: end utterances of the running service."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from edge_tts.errors import EXIT_OK

if TYPE_CHECKING:
    from edge_tts.service.client import Client


def add_parser(subparsers: Any) -> None:
    """Add `stop` to the command line."""
    parser = subparsers.add_parser(
        "stop",
        help="stop speaking",
        description="Stop the utterances that match all that is given; everything by default.",
    )
    parser.add_argument("--id", help="only the utterance of this id")
    parser.add_argument("--session", help="only utterances of this session")
    parser.add_argument("--key", help="only utterances of this key")


def run(args: argparse.Namespace) -> int:
    """Stop and say how many utterances ended. Raises ServiceError when no service runs."""
    with connect(args) as client:
        everything = (args.id, args.session, args.key) == (None, None, None)
        answer = client.ask(
            "edge-stop",
            "edge-stopped",
            id=args.id,
            session=args.session,
            key=args.key,
            all=everything,
        )
    print(f"{answer.data['utterances']} stopped")
    return EXIT_OK


def connect(args: argparse.Namespace) -> "Client":
    """A connection to the service that the configuration names."""
    from edge_tts import config as configuration
    from edge_tts.service.client import Client

    return Client(configuration.load(args.config).service.socket)
