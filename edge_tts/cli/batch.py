"""`edge-tts batch`: a file of texts to a folder of sound files, or a book to one file."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, List

from edge_tts.errors import EXIT_INPUT, EXIT_OK, ConfigError

if TYPE_CHECKING:
    from edge_tts.batch.lines import Line
    from edge_tts.batch.manifest import Manifest, Result
    from edge_tts.config import Config

_REPORT_EVERY_S = 1.0


def add_parser(subparsers: Any) -> None:
    """Add `batch` to the command line."""
    parser = subparsers.add_parser(
        "batch",
        help="speak a file of texts into a folder, or a book into one file",
        description="Speak every line of FILE (.txt, .csv, .jsonl) into --out DIR, going on where "
        "an earlier run stopped; or the whole of FILE into --one FILE.",
    )
    parser.add_argument("file", metavar="FILE")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--out", metavar="DIR", help="folder of the sound files and manifest.jsonl")
    place.add_argument("--one", metavar="FILE", help="one file: .wav, .flac or .opus")
    parser.add_argument("--format", choices=("wav", "flac", "opus"), default="wav")
    parser.add_argument("--subtitles", metavar="FILE", help="with --one: .srt or .vtt")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes; as many as fit if absent")
    parser.add_argument("--lang", choices=("auto", "zh", "en"), help="language of the texts")
    parser.add_argument("--speed", metavar="X", help="speaking rate, 0.5 to 2")


def run(args: argparse.Namespace) -> int:
    """Speak everything; exits 3 when a line has failed, after the others are done."""
    from edge_tts import config as configuration

    config = configuration.load(args.config, {"language": args.lang, "speed": args.speed})
    return _one(args, config) if args.one else _many(args, config)


def _one(args: argparse.Namespace, config: "Config") -> int:
    from edge_tts.batch.book import speak_book
    from edge_tts.batch.subtitles import SUFFIXES
    from edge_tts.speaker import open_speaker

    subtitles = Path(args.subtitles) if args.subtitles else None
    if subtitles is not None and subtitles.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"--subtitles must end in {' or '.join(SUFFIXES)}", code="usage.invalid")
    began_s = time.monotonic()
    with open_speaker(config) as speaker:
        duration_s = speak_book(speaker, Path(args.file), Path(args.one), subtitles)
    _say(f"{duration_s:.1f} s of sound in {time.monotonic() - began_s:.1f} s: {args.one}")
    return EXIT_OK


def _many(args: argparse.Namespace, config: "Config") -> int:
    import dataclasses

    from edge_tts.batch.lines import read_lines
    from edge_tts.batch.manifest import Manifest
    from edge_tts.batch.rendering import default_jobs

    if args.subtitles:
        raise ConfigError("--subtitles goes with --one", code="usage.invalid")
    if args.jobs is not None and not 1 <= args.jobs <= 64:
        raise ConfigError("--jobs must be from 1 to 64", code="usage.invalid")
    source = Path(args.file)
    n_lines = sum(1 for _ in read_lines(source))
    n_jobs = min(args.jobs or default_jobs(config), max(1, n_lines))
    if not config.threads and n_jobs > 1:
        config = dataclasses.replace(config, threads=1)
    with Manifest(Path(args.out)) as manifest:
        todo = [line for line in read_lines(source) if not manifest.is_done(line, args.format)]
        return _progress(_results(todo, args, config, n_jobs), manifest, n_lines, len(todo))


def _results(
    todo: "List[Line]", args: argparse.Namespace, config: "Config", n_jobs: int
) -> "Iterator[Result]":
    from edge_tts.batch import rendering
    from edge_tts.speaker import open_speaker

    folder = Path(args.out)
    if n_jobs > 1 and len(todo) > 1:
        yield from rendering.render_in_processes(todo, folder, args.format, config, n_jobs)
    elif todo:
        with open_speaker(config) as speaker:
            yield from rendering.render_lines(speaker, todo, folder, args.format)


def _progress(results: "Iterator[Result]", manifest: "Manifest", n_lines: int, n_todo: int) -> int:
    began_s = said_s = time.monotonic()
    n_done = n_failed = 0
    sound_s = 0.0
    for result in results:
        manifest.add(result)
        n_done += 1
        sound_s += result.duration_s
        if result.status == "failed":
            n_failed += 1
            _say(f"line {result.line}: error[{result.code}]: {result.message}")
        now_s = time.monotonic()
        if now_s - said_s >= _REPORT_EVERY_S:
            said_s = now_s
            rate = n_done / (now_s - began_s)
            left_s = (n_todo - n_done) / rate
            _say(f"{n_done}/{n_todo}, {rate:.2f} lines/s, about {left_s:.0f} s left")
    took_s = time.monotonic() - began_s
    _say(
        f"{n_lines} lines: {n_done - n_failed} spoken, {n_failed} failed, {n_lines - n_todo} were "
        f"there; {sound_s:.1f} s of sound in {took_s:.1f} s"
    )
    return EXIT_INPUT if n_failed else EXIT_OK


def _say(message: str) -> None:
    print(f"edge-tts: {message}", file=sys.stderr)
