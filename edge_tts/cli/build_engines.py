"""The half of `edge-tts build` that makes TensorRT engines, or the graphs they are made from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from edge_tts.errors import EXIT_OK


def add_options(parser: Any) -> None:
    """Add the options to `build`; with any of the first two, no voice is made."""
    group = parser.add_argument_group(
        "TensorRT engines", "for an installed voice: edge-tts build VOICE --platform PLATFORM"
    )
    group.add_argument(
        "--platform", metavar="PLATFORM", help="build engines on this board: xavier-nx, orin, "
        "thor or generic"
    )  # fmt: skip
    group.add_argument(
        "--graphs",
        metavar="DIR",
        type=Path,
        help="with --platform: graphs made on a workstation; without: write the graphs of "
        "CHECKPOINT_DIR there",
    )
    group.add_argument(
        "--source", metavar="PATH", type=Path, help="kokoro's model, or the folder of its packages"
    )
    group.add_argument("--recipe", metavar="FILE", type=Path, help="instead of engines/VOICE.yaml")
    group.add_argument(
        "--part", metavar="NAME", action="append", default=[], help="only this engine; repeatable"
    )
    group.add_argument(
        "--ahead-of-time",
        metavar="SM",
        default="",
        help="build for this compute capability without a GPU, as a proof; such engines are never "
        "used",
    )


def wants_engines(args: argparse.Namespace) -> bool:
    """Whether the command line asks for engines or graphs instead of a voice."""
    return args.platform is not None or args.graphs is not None


def run(args: argparse.Namespace) -> int:
    """Build engines or write graphs; progress goes to stderr."""
    from edge_tts.build.tensorrt.command import Order, build_engines, export_graphs

    if args.platform is None:
        export_graphs(args.checkpoint, args.graphs, _report)
        return EXIT_OK
    order = Order(
        voice=str(args.checkpoint),
        platform=args.platform,
        source=args.source,
        graphs=args.graphs,
        recipe=args.recipe,
        parts=tuple(args.part),
        ahead_of_time_sm=args.ahead_of_time,
    )
    build_engines(order, _report)
    return EXIT_OK


def _report(line: str) -> None:
    print(f"edge-tts: {line}", file=sys.stderr, flush=True)
