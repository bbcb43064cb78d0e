"""`edge-tts plan`: what a voice will take of a machine, before it is built."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any, Dict, List, Mapping

from edge_tts.errors import EXIT_OK, ConfigError, ModelError

DEFAULT_BUDGET_MIB = 1000.0
DEFAULT_SECONDS = 10.0


def add_parser(subparsers: Any) -> None:
    """Add `plan` to the command line."""
    parser = subparsers.add_parser(
        "plan",
        help="predict what a voice takes, before it is built",
        description="Predict the memory of each precision of a CosyVoice checkpoint on ONNX "
        "Runtime; or, with --platform, derive memory and the floors under all times of the known "
        "voices on a board.",
    )
    parser.add_argument("checkpoint", metavar="CHECKPOINT_DIR", type=Path, nargs="?")
    parser.add_argument(
        "--budget",
        metavar="MIB",
        type=float,
        default=DEFAULT_BUDGET_MIB,
        help=f"memory of the whole process (default {DEFAULT_BUDGET_MIB:.0f})",
    )
    parser.add_argument("--platform", metavar="NAME", help="xavier-nx, orin, thor or raspberry-pi")
    parser.add_argument(
        "--precision",
        metavar="LIST",
        action="append",
        default=[],
        help="one more choice to predict, as `edge-tts build --precision` takes it",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=float,
        default=DEFAULT_SECONDS,
        help=f"length of the longest segment's sound (default {DEFAULT_SECONDS:.0f})",
    )


def run(args: argparse.Namespace) -> int:
    """Print the plan."""
    if args.budget <= 0 or args.seconds <= 0:
        raise ConfigError("--budget and --seconds must be more than 0", code="usage.invalid")
    if (args.checkpoint is None) == (args.platform is None):
        raise ConfigError("give a CHECKPOINT_DIR, or a --platform", code="usage.invalid")
    for line in _board_lines(args) if args.platform else _checkpoint_lines(args):
        print(line)
    return EXIT_OK


def _board_lines(args: argparse.Namespace) -> List[str]:
    from edge_tts.build.plan.board import lines
    from edge_tts.build.plan.platforms import PLATFORMS
    from edge_tts.build.plan.published import VOICES

    if args.platform not in PLATFORMS:
        raise ConfigError(
            f"no platform {args.platform!r} is known; known: {', '.join(PLATFORMS)}",
            code="usage.invalid",
        )
    return lines(VOICES, PLATFORMS[args.platform], args.budget, args.seconds)


def _checkpoint_lines(args: argparse.Namespace) -> List[str]:
    if importlib.util.find_spec("torch") is None:
        raise ModelError(
            "reading a checkpoint needs torch; run: pip install 'edge-tts-device[build]'"
        )
    from edge_tts.build.cosyvoice.precision import PRESETS, Precision
    from edge_tts.build.plan.checkpoint import voice_size
    from edge_tts.build.plan.resident import lines

    choices: Dict[str, Mapping[str, str]] = dict(PRESETS)
    choices.update({text: Precision.parse(text).by_part for text in args.precision})
    return lines(voice_size(args.checkpoint), choices, args.budget, args.seconds)
