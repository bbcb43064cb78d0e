"""`edge-tts pause`: hold all speech but alerts."""

from __future__ import annotations

import argparse
from typing import Any

from edge_tts.errors import EXIT_OK


def add_parser(subparsers: Any) -> None:
    """Add `pause` to the command line."""
    subparsers.add_parser(
        "pause",
        help="hold all speech but alerts",
        description="Hold all speech but alerts, to the sample, until 'edge-tts resume'.",
    )


def run(args: argparse.Namespace) -> int:
    """Tell the service. Raises ServiceError when no service runs."""
    from edge_tts.cli.stop import connect

    with connect(args) as client:
        client.ask("edge-pause", "edge-paused")
    return EXIT_OK
