"""`edge-tts build`: make a voice from a CosyVoice or a lite checkpoint."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from edge_tts.cli import build_engines
from edge_tts.errors import EXIT_OK, ModelError

_NEEDED = ("torch", "onnx")


def add_parser(subparsers: Any) -> None:
    """Add `build` to the command line."""
    parser = subparsers.add_parser(
        "build",
        help="make a voice from a checkpoint, or a voice's TensorRT engines",
        description="Make a voice from an official CosyVoice checkpoint folder (300M-SFT, 300M, "
        "300M-Instruct or CosyVoice2-0.5B), or from a T5 over EnCodec codes as docs/lite.md "
        "describes it. Needs torch, which the finished voice does not.",
    )
    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT_DIR",
        type=Path,
        help="holds llm.pt, flow.pt and hift.pt, or config.json",
    )
    parser.add_argument(
        "--out",
        metavar="VOICE_DIR",
        type=Path,
        help="the folder to make; its name is the voice's name "
        "(default: the checkpoint's name, among the installed voices)",
    )
    parser.add_argument(
        "--precision",
        metavar="PRESET",
        default="exact",
        help="exact (fp32, the default), balanced (language model in 8 bits), small (in 4 bits), "
        "fast (small, with the flow in 8 bits too), or a list such as lm=int4,flow=fp16",
    )
    parser.add_argument(
        "--keep",
        metavar="NAMES",
        action="append",
        default=[],
        help="CosyVoice only: layers that stay fp32, a shell pattern of node names, such as "
        "'*/mid_blocks.3*'; may be repeated",
    )
    parser.add_argument(
        "--vocabulary",
        metavar="FILE",
        type=Path,
        help="CosyVoice 1 only: Whisper's multilingual.tiktoken, or the openai-whisper package",
    )
    build_engines.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Build the voice; progress goes to stderr."""
    if build_engines.wants_engines(args):
        return build_engines.run(args)
    from edge_tts.build.lite.recognition import is_lite_checkpoint
    from edge_tts.paths import voices_install_dir

    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ModelError(
            f"building a voice needs {' and '.join(missing)}; run: "
            "pip install 'edge-tts-device[build]' on a workstation and copy the voice over"
        )
    out = args.out or voices_install_dir() / args.checkpoint.resolve().name
    if is_lite_checkpoint(args.checkpoint):
        from edge_tts.build.lite import precision as precisions
        from edge_tts.build.lite.prepare import build as build_lite

        wanted = precisions.parse(args.precision)
        build_lite(args.checkpoint, out, _report, precision=wanted)
        return EXIT_OK
    from edge_tts.build.cosyvoice.precision import Precision
    from edge_tts.build.cosyvoice.prepare import build
    from edge_tts.build.quantisation.layers import Exclusion

    precision = Precision.parse(args.precision, Exclusion(tuple(args.keep)))
    build(args.checkpoint, out, _report, precision=precision, vocabulary=args.vocabulary)
    return EXIT_OK


def _report(line: str) -> None:
    print(f"edge-tts: {line}", file=sys.stderr, flush=True)
