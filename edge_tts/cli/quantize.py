"""`edge-tts quantize`: a voice in fewer bits beside the old one, with a page that compares them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Dict

from edge_tts.errors import EXIT_OK, InputError

DEFAULT_SEARCH_S = 300.0


def add_parser(subparsers: Any) -> None:
    """Add `quantize` to the command line."""
    parser = subparsers.add_parser(
        "quantize",
        help="store a voice in fewer bits and compare it with the old",
        description="Rewrite engines of a built voice into fewer bits. The result is a voice of "
        "its own; a page shows size, speed, spectrograms and the error of every layer.",
    )
    parser.add_argument("voice", metavar="VOICE_DIR", type=Path)
    parser.add_argument("--out", metavar="NEW_DIR", type=Path, required=True)
    parser.add_argument(
        "--precision",
        metavar="LIST",
        required=True,
        help="engines and kinds, such as lm=int8,estimator=fp16; kinds: fp16, int8, int8-static, "
        "int8-weights, int4",
    )
    parser.add_argument(
        "--texts",
        metavar="FILE",
        type=Path,
        required=True,
        help="texts to measure with, by line, or a table .tsv of id, lang, text, spoken",
    )
    parser.add_argument(
        "--keep", metavar="NAMES", action="append", default=[], help="layers to leave, a pattern"
    )
    parser.add_argument(
        "--keep-type", metavar="TYPE", action="append", default=[], help="MatMul or Gemm"
    )
    parser.add_argument(
        "--target-db",
        metavar="DB",
        type=float,
        help="keep the most sensitive layers until every engine's output is this far above its "
        "error",
    )
    parser.add_argument(
        "--search-seconds",
        metavar="S",
        type=float,
        default=DEFAULT_SEARCH_S,
        help=f"time for that search, by engine (default {DEFAULT_SEARCH_S:.0f})",
    )
    parser.add_argument(
        "--judge", metavar="DIR", type=Path, help="a speech judge that listens before and after"
    )
    parser.add_argument("--page", metavar="FILE", type=Path, help="write the comparison here")


def run(args: argparse.Namespace) -> int:
    """Quantise, compare, report."""
    from edge_tts.build.quantisation.layers import Exclusion
    from edge_tts.build.quantisation.page import write_page
    from edge_tts.build.quantisation.sentences import read_sentences
    from edge_tts.build.quantisation.tool import Wish, quantise_voice

    exclusion = Exclusion(tuple(args.keep), tuple(args.keep_type))
    wish = Wish(_by_part(args.precision), exclusion, args.target_db, args.search_seconds)
    sentences = read_sentences(args.texts)
    outcome = quantise_voice(args.voice, args.out, sentences, wish, _report)
    if args.judge:
        _report("having both judged")
        outcome = outcome.judged(args.judge)
    for line in outcome.lines():
        print(line)
    if args.page:
        write_page(outcome, args.page)
    return EXIT_OK


def _by_part(text: str) -> Dict[str, str]:
    from edge_tts.build.quantisation.kinds import FP32, KINDS

    chosen = {}
    for item in text.split(","):
        part, _, kind = item.strip().partition("=")
        if not part or kind not in KINDS or kind == FP32:
            wanted = ", ".join(known for known in KINDS if known != FP32)
            raise InputError(
                f"{item!r} is not understood; give engine=kind, where kind is one of {wanted}"
            )
        chosen[part] = kind
    return chosen


def _report(line: str) -> None:
    print(f"edge-tts: {line}", file=sys.stderr, flush=True)
