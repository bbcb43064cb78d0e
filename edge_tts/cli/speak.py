"""`edge-tts speak`: say a text on the sound device, or write it to a file or pipe."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, Iterator, NoReturn, Sequence

from edge_tts.audio import unfinished
from edge_tts.cli import announcing
from edge_tts.errors import EXIT_OK, AudioError, ConfigError, InputError

if TYPE_CHECKING:
    from edge_tts.audio.sink import Sink
    from edge_tts.config import Config
    from edge_tts.service.client import Ending
    from edge_tts.speaker import Speaker, Text
    from edge_tts.text.report import Report

STDIO = "-"
READ_BYTES = 64 * 1024
MORE_TEXT_S = 0.05
"""How long a writer may take between two pieces of what is still one text."""
NO_DEVICE = ("audio.no_device", "audio.no_portaudio")


def add_parser(subparsers: Any) -> None:
    """Add `speak` to the command line."""
    parser = subparsers.add_parser(
        "speak",
        help="speak a text, or write it to a file",
        description="Speak TEXT, or standard input when TEXT is '-' or missing.",
    )
    parser.add_argument("text", nargs="?", default=STDIO, metavar="TEXT")
    parser.add_argument(
        "-o",
        "--output",
        type=_file_name,
        metavar="FILE",
        help="write WAV to FILE, '-' for stdout",
    )
    parser.add_argument(
        "--raw", action="store_true", help="bare 16 bit PCM instead of WAV (to stdout without -o)"
    )
    parser.add_argument("--voice", metavar="NAME", help="a speaker, a voice, or VOICE/SPEAKER")
    parser.add_argument(
        "--preset",
        choices=("exact", "stream", "fast"),
        help="how sound is made, see docs/voices.md",
    )
    parser.add_argument("--ssml", action="store_true", help="TEXT is an SSML document")
    parser.add_argument("--lang", choices=("auto", "zh", "en"), help="language of the text")
    parser.add_argument("--speed", metavar="X", help="speaking rate, 0.5 to 2")
    parser.add_argument("--volume", metavar="X", help="factor on the amplitude, 0 to 2")
    parser.add_argument(
        "--instruct", metavar="TEXT", help="how to speak, for voices that take instructions"
    )
    parser.add_argument("--seed", metavar="N", help="another performance, by voices that draw lots")
    parser.add_argument("--device", metavar="NAME", help="sound device, see `edge-tts devices`")
    parser.add_argument(
        "--fallback-file",
        type=_file_name,
        metavar="FILE",
        help="write WAV here without a device",
    )
    announcing.add_arguments(parser)


def _file_name(argument: str) -> str:
    # An unset shell variable must not turn a file into loud speech.
    if not argument:
        raise argparse.ArgumentTypeError("the file name is empty")
    return argument


def run(args: argparse.Namespace) -> int:
    """Speak; exits 0 also for a text without words, saying so."""
    from edge_tts import config as configuration

    flags = {"language": args.lang, "speed": args.speed, "volume": args.volume}
    flags.update(device=args.device, preset=args.preset, instruct=args.instruct, seed=args.seed)
    config = configuration.load(args.config, flags)
    text = text_argument(args.text)
    _heed_signals()
    try:
        if announcing.is_wanted(args):
            ending = announcing.announce(text, args, config)
            if ending is not None:
                _say_how_it_ended(ending)
                return announcing.exit_code(ending.reason)
        _speak_here(text, args, config)
    except _Signalled as signalled:
        _exit_now(signalled)
    return EXIT_OK


def _speak_here(text: "Text", args: argparse.Namespace, config: "Config") -> None:
    from edge_tts.speaker import open_speaker

    with open_speaker(config, args.voice) as speaker:
        try:
            sink = _open_sink(args, config, speaker.sample_rate_hz)
        except AudioError as error:
            # A text without words needs no device: its result is the same everywhere.
            if error.code not in NO_DEVICE or any(
                True for _ in speaker.segments(text, ssml=args.ssml)
            ):
                raise
            n_samples = 0
        else:
            # A signal before the first chunk, too, must discard the file and not complete it.
            with sink:
                n_samples = _send(speaker, text, sink, args)
        _say_what_is_missing(speaker.report, n_samples)


def _send(speaker: "Speaker", text: "Text", sink: "Sink", args: argparse.Namespace) -> int:
    try:
        return speaker.send(text, sink, ssml=args.ssml)
    except _Signalled as signalled:
        # A device has been silenced; closing the voice would wait for what the model computes.
        _exit_now(signalled)


class _Signalled(BaseException):
    """SIGINT or SIGTERM, raised in the main thread so that no half-written file stays."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def _heed_signals() -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _on_signal)
    signal.signal(signal.SIGTERM, _on_signal)


def _on_signal(number: int, frame: object) -> NoReturn:
    # A second one must not cut off the tidying up after the first.
    for heeded in (signal.SIGINT, signal.SIGTERM):
        signal.signal(heeded, signal.SIG_IGN)
    raise _Signalled(number)


def _exit_now(signalled: _Signalled) -> NoReturn:
    # The synthesis thread may be inside the model, which a regular exit would wait for.
    unfinished.remove_all()
    sys.stderr.flush()
    os._exit(signalled.exit_code)


def _say_what_is_missing(report: "Report", n_samples: int) -> None:
    """Tell what was not spoken: the reason for an empty result, and letters no voice has."""
    lost = report.unspeakable if n_samples else report.losses
    _say_what_was_lost([str(loss) for loss in lost], is_empty=n_samples == 0)


def _say_what_was_lost(lost: Sequence[str], *, is_empty: bool) -> None:
    if is_empty:
        only = f", only {', '.join(lost)}" if lost else ""
        _note(f"nothing to speak: the text holds no word{only}")
    elif lost:
        _note(f"not spoken: {', '.join(lost)}")


def _say_how_it_ended(ending: "Ending") -> None:
    _say_what_was_lost(ending.unspoken, is_empty=ending.reason == "empty")
    if ending.reason not in ("done", "accepted", "empty"):
        _note(f"not spoken to its end: {ending.reason}")


def _note(message: str) -> None:
    print(f"edge-tts: {message}", file=sys.stderr)


def text_argument(argument: str) -> "Text":
    """The text named by a TEXT argument: itself, or standard input as it arrives for "-"."""
    if argument != STDIO:
        _refuse_surrogates(argument)
        return argument
    if sys.stdin is None or sys.stdin.isatty():
        raise ConfigError(
            "no text: give it as an argument or on standard input", code="usage.invalid"
        )
    return _decoded(sys.stdin.fileno())


def _refuse_surrogates(argument: str) -> None:
    """Arguments that are not UTF-8 reach Python as lone surrogates."""
    at = next((i for i, c in enumerate(argument) if 0xD800 <= ord(c) <= 0xDFFF), None)
    if at is not None:
        raise InputError(
            f"the text is not valid UTF-8 at character {at}; convert it first, for example with"
            " iconv",
            code="input.encoding",
        )


def _decoded(descriptor: int) -> Iterator[str]:
    """Standard input as it arrives, so that speech can start before its end.

    An empty piece says that no more is there yet.
    """
    import codecs
    import select

    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    n_bytes = 0
    while True:
        data = os.read(descriptor, READ_BYTES)
        n_bytes += len(data)
        try:
            piece = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode()
            at = n_bytes - len(error.object) + error.start
            raise InputError(
                f"standard input is not valid UTF-8 at byte {at}; convert it first, for example"
                " with iconv",
                code="input.encoding",
            ) from error
        if piece:
            yield piece
        if not data:
            return
        if not select.select([descriptor], [], [], MORE_TEXT_S)[0]:
            yield ""


def _open_sink(args: argparse.Namespace, config: "Config", sample_rate_hz: int) -> "Sink":
    from edge_tts.audio.sink import DeviceSink, RawSink, WavSink

    if args.raw:
        return RawSink(args.output or STDIO, sample_rate_hz)
    if args.output:
        return WavSink(args.output, sample_rate_hz)
    sink = DeviceSink(
        config.device, sample_rate_hz=sample_rate_hz, lead_in_s=config.audio.lead_in_s
    )
    try:
        sink.open()
    except AudioError as error:
        if args.fallback_file is None or error.code not in NO_DEVICE:
            raise
        _note(f"{error}; writing {args.fallback_file} instead")
        return WavSink(args.fallback_file, sample_rate_hz)
    return sink
