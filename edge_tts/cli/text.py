"""`edge-tts text`: show what the front end makes of a text, without any voice."""

from __future__ import annotations

import argparse
import json
import unicodedata
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Sequence

from edge_tts.errors import EXIT_OK

if TYPE_CHECKING:
    from edge_tts.text.report import Report
    from edge_tts.text.tokens import Segment, Token

LIMIT_PHONEMES = 510
"""Most phonemes the default voice takes at once (rows of its style tables)."""


def add_parser(subparsers: Any) -> None:
    """Add `text` to the command line."""
    parser = subparsers.add_parser(
        "text",
        help="show what the front end makes of a text",
        description="Show the segments, words, language runs, phonemes and source spans of TEXT, "
        "or of standard input when TEXT is '-' or missing.",
    )
    parser.add_argument("text", nargs="?", default="-", metavar="TEXT")
    parser.add_argument("--lang", choices=("auto", "zh", "en"), help="language of the text")
    parser.add_argument("--lexicon", metavar="FILE", help="YAML file of your own pronunciations")
    parser.add_argument("--ssml", action="store_true", help="TEXT is an SSML document")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the front end's result; a text without words has no segments and says why."""
    from edge_tts import config as configuration
    from edge_tts.cli.speak import text_argument
    from edge_tts.text.boundaries import PauseTable
    from edge_tts.text.frontend import FrontEnd
    from edge_tts.text.g2p.pronouncer import Pronouncer
    from edge_tts.text.lexicon_file import UserLexicon
    from edge_tts.text.segment import count_phonemes
    from edge_tts.text.tokens import Language

    config = configuration.load(args.config, {"language": args.lang})
    path = Path(args.lexicon) if args.lexicon else config.lexicon
    lexicon = UserLexicon(path) if path else None
    pauses = PauseTable(**vars(config.pauses))
    front_end = FrontEnd(
        Pronouncer(), count_phonemes, LIMIT_PHONEMES, lexicon=lexicon, pauses=pauses
    )
    language = None if config.language == "auto" else Language(config.language)
    segments = front_end.segments(text_argument(args.text), language, ssml=args.ssml)
    if args.json:
        _print_json(segments)
        print(f'],\n"losses": {_dumps([vars(loss) for loss in front_end.report.losses])}}}')
    else:
        n_segments = _print_listing(segments)
        _print_report(front_end.report, n_segments)
    return EXIT_OK


def _print_json(segments: "Iterable[Segment]") -> None:
    # Written as it comes: the tokens of a megabyte of text do not fit into memory as objects.
    print('{"segments": [', end="")
    for segment in segments:
        print("," if segment.index else "", _dumps(_segment_record(segment)), sep="\n", end="")


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _segment_record(segment: "Segment") -> Dict[str, object]:
    from edge_tts.text.spoken import spoken_text

    return {
        "index": segment.index,
        "span": segment.span,
        "pause_s": segment.pause_s,
        **{
            name: value for name, value in vars(segment.voicing).items() if value not in (None, 1.0)
        },
        "spoken": spoken_text(segment.tokens),
        "phonemes": segment.phonemes,
        "runs": [
            {"language": run[0].language.value, "span": _span(run), "spoken": spoken_text(run)}
            for run in _runs(segment.tokens)
        ],
        "tokens": [
            {
                "text": token.text,
                "kind": token.kind.value,
                "language": token.language.value,
                "span": token.span,
                "phonemes": token.phonemes,
            }
            for token in segment.tokens
        ],
    }


def _runs(tokens: "Sequence[Token]") -> "List[List[Token]]":
    return [list(run) for _, run in groupby(tokens, key=lambda token: token.language)]


def _span(tokens: "Sequence[Token]") -> List[int]:
    return [min(t.span.start for t in tokens), max(t.span.end for t in tokens)]


def _print_listing(segments: "Iterable[Segment]") -> int:
    from edge_tts.text.spoken import spoken_text

    n_segments = 0
    for segment in segments:
        n_segments += 1
        start, end = segment.span
        print(
            f"segment {segment.index}: characters {start} to {end}, "
            f"{len(segment.phonemes)} phonemes, then {segment.pause_s:.2f} s of silence"
        )
        if not segment.tokens:
            continue
        print(f"  spoken    {spoken_text(segment.tokens)}")
        print(f"  phonemes  {segment.phonemes}")
        for run in _runs(segment.tokens):
            print(f"  run {run[0].language.value}    {spoken_text(run)}")
        _print_tokens(segment.tokens)
    return n_segments


def _print_tokens(tokens: "Sequence[Token]") -> None:
    width = max(_columns(token.text) for token in tokens)
    for token in tokens:
        span = f"{token.span.start}-{token.span.end}"
        padding = " " * (width - _columns(token.text))
        print(f"    {span:>11}  {token.text}{padding}  {token.language.value}  {token.phonemes}")


def _columns(text: str) -> int:
    """Width in a terminal, where East Asian characters take two columns."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _print_report(report: "Report", n_segments: int) -> None:
    if n_segments == 0:
        print("no segments: the text holds no word")
    for loss in report.losses:
        print(f"not spoken: {loss}")
