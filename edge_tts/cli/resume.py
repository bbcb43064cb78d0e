"""`edge-tts resume`: go on after a pause."""

from __future__ import annotations

import argparse
from typing import Any

from edge_tts.errors import EXIT_OK


def add_parser(subparsers: Any) -> None:
    """Add `resume` to the command line."""
    subparsers.add_parser(
        "resume",
        help="go on after a pause",
        description="Go on where 'edge-tts pause' held speech.",
    )


def run(args: argparse.Namespace) -> int:
    """Tell the service. Raises ServiceError when no service runs."""
    from edge_tts.cli.stop import connect

    with connect(args) as client:
        client.ask("edge-resume", "edge-paused")
    return EXIT_OK
