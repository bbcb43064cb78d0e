"""`edge-tts voices enroll`: teach a CosyVoice voice a speaker from a recording."""

from __future__ import annotations

import argparse
from pathlib import Path

from edge_tts.errors import EXIT_OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `enroll`."""
    parser.add_argument("name", metavar="NAME", help="the new speaker's name")
    parser.add_argument("--voice", required=True, metavar="VOICE", help="an installed voice")
    parser.add_argument(
        "--prompt",
        required=True,
        type=Path,
        metavar="FILE",
        help="WAV of 1 to 30 s, 16 kHz or more, of one person speaking",
    )
    parser.add_argument(
        "--text",
        default="",
        help="exactly what is said in it; without, only the timbre is taken over",
    )
    parser.add_argument(
        "--replace", action="store_true", help="when the voice has this speaker already"
    )


def run(args: argparse.Namespace) -> int:
    """Add the speaker to the voice on disk."""
    from edge_tts.errors import ModelError
    from edge_tts.voices import catalog

    directory = catalog.find(args.voice)
    if directory.manifest.info.family != "cosyvoice":
        raise ModelError(
            f"the voice {args.voice!r} cannot learn speakers; build a CosyVoice voice for that",
            code="model.invalid",
        )
    from edge_tts.voices.cosyvoice.enrolment import Enrolment, enrol

    enrol(directory, Enrolment(args.name, args.prompt, args.text, args.replace))
    print(f"enrolled {args.name}; try: edge-tts speak --voice {args.voice}/{args.name}")
    return EXIT_OK
