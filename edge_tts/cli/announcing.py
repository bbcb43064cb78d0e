"""Speaking through the running service: what `edge-tts speak` does when there is one."""

from __future__ import annotations

import argparse
import logging
from itertools import chain
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Tuple

from edge_tts.errors import (
    EXIT_BUSY,
    EXIT_INTERRUPTED,
    EXIT_NO_SERVICE,
    EXIT_OK,
    ServiceError,
)

if TYPE_CHECKING:
    from edge_tts.config import Config
    from edge_tts.speaker import Text

LONGEST_TEXT = 20_000
"""Characters the service takes in one request; what is longer is spoken in this process."""

MAX_TTL_S = 86_400
"""Longest `--ttl` the service takes."""

# Exit codes of the ends that are not "done"; being replaced or preempted is as it should be.
EXIT_CODES = {
    "stopped": EXIT_INTERRUPTED,
    "expired": EXIT_BUSY,
    "budget": EXIT_BUSY,
    "shutdown": EXIT_NO_SERVICE,
}

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that only the service understands, and the one that avoids it."""
    parser.add_argument("--priority", choices=("alert", "navigation", "message", "background"))
    parser.add_argument(
        "--ttl", type=_ttl_s, metavar="S", help="drop it when it cannot begin in S seconds"
    )
    parser.add_argument("--key", help="take the place of the waiting utterance of this key")
    parser.add_argument("--no-wait", action="store_true", help="return when it is queued")
    parser.add_argument("--no-service", action="store_true", help="speak in this process")


def _ttl_s(argument: str) -> float:
    try:
        ttl_s = float(argument)
    except ValueError:
        ttl_s = -1.0
    if not 0 <= ttl_s <= MAX_TTL_S:  # NaN is in no range
        raise argparse.ArgumentTypeError(f"must be seconds from 0 to {MAX_TTL_S}, not {argument!r}")
    return ttl_s


def is_wanted(args: argparse.Namespace) -> bool:
    """Whether these arguments leave the choice of the sound device to the service."""
    elsewhere = args.output or args.raw or args.device or args.preset
    return not (elsewhere or args.no_service)


def announce(
    text: "Text", args: argparse.Namespace, config: "Config"
) -> Tuple[Optional[str], "Text"]:
    """Speak through the service; returns how the utterance ended and the text.

    The end is None when no service answers or the text is too long for it; the text is then still
    whole, even if it is a stream.
    """
    from edge_tts.service.client import Client

    try:
        client = Client(config.service.socket)
    except ServiceError as error:
        if error.code != "service.not_running":
            raise
        log.info("%s; speaking in this process", error)
        return None, text
    with client:
        whole, text = _whole(text)
        if whole is None:
            log.warning("the text is too long for the service; speaking in this process")
            return None, text
        return client.announce(whole, wait=not args.no_wait, **_fields(args)), text


def exit_code(end: str) -> int:
    """What the process returns for an utterance that ended so."""
    return EXIT_CODES.get(end, EXIT_OK)


def _fields(args: argparse.Namespace) -> Dict[str, object]:
    """Only what was asked for: the service has a configuration of its own."""
    voice, _, speaker = (args.voice or "").partition("/")
    return {
        "priority": args.priority,
        "ttl_s": args.ttl,
        "key": args.key,
        "voice": voice or None,
        "speaker": speaker or None,
        "language": args.lang,
        "speed": None if args.speed is None else float(args.speed),
        "volume": None if args.volume is None else float(args.volume),
    }


def _whole(text: "Text") -> Tuple[Optional[str], "Text"]:
    """The text as one string, None when it is too long, and the text again."""
    if isinstance(text, str):
        return (text if len(text) <= LONGEST_TEXT else None), text
    pieces: Iterator[str] = iter(text)
    read: List[str] = []
    for piece in pieces:
        read.append(piece)
        if sum(map(len, read)) > LONGEST_TEXT:
            return None, chain(read, pieces)
    whole = "".join(read)
    return whole, whole
