"""Speaking through the running service: what `edge-tts speak` does when there is one."""

from __future__ import annotations

import argparse
import dataclasses
import logging
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional

from edge_tts.errors import (
    EXIT_BUSY,
    EXIT_INTERRUPTED,
    EXIT_NO_SERVICE,
    EXIT_OK,
    InputError,
    ServiceError,
)

if TYPE_CHECKING:
    from edge_tts.config import Config
    from edge_tts.service.client import Client, Ending
    from edge_tts.speaker import Text

LONGEST_TEXT = 20_000
"""Characters the service takes in one request; what is longer is sent as several, one by one."""

SLICE = 4_000
"""Characters of a long text that are looked at together; at most so much becomes one part."""

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
    is_style = args.instruct is not None or args.seed is not None
    elsewhere = args.output or args.raw or args.device or args.preset or is_style
    return not (elsewhere or args.no_service)


def announce(text: "Text", args: argparse.Namespace, config: "Config") -> "Optional[Ending]":
    """Speak through the service, sentences of a stream as they come; returns how that ended.

    None when no service answers; nothing of the text has been read then. Raises InputError
    `input.text_too_long` for a long text that nobody waits for.
    """
    from edge_tts.service.client import Client

    try:
        client = Client(config.service.socket)
    except ServiceError as error:
        if error.code != "service.not_running":
            raise
        log.info("%s; speaking in this process", error)
        return None
    with client:
        if args.no_wait or args.ssml:
            return client.announce(_whole(text), wait=not args.no_wait, **_fields(args))
        return _announce_parts(client, parts(text), _fields(args))


def _announce_parts(client: "Client", texts: Iterator[str], fields: Dict[str, Any]) -> "Ending":
    """Speak one part after the other until one does not come to its end."""
    ending = client.announce(next(texts, ""), **fields)
    unspoken, was_spoken = list(ending.unspoken), ending.reason == "done"
    # It is the beginning that must not come too late.
    fields = {**fields, "ttl_s": None}
    while ending.reason in ("done", "empty"):
        text = next(texts, "")
        if not text:
            break
        ending = client.announce(text, **fields)
        unspoken += ending.unspoken
        was_spoken = was_spoken or ending.reason == "done"
    is_over = ending.reason in ("done", "empty")
    reason = "done" if is_over and was_spoken else ending.reason
    return dataclasses.replace(ending, reason=reason, unspoken=tuple(unspoken))


def exit_code(end: str) -> int:
    """What the process returns for an utterance that ended so."""
    return EXIT_CODES.get(end, EXIT_OK)


def _fields(args: argparse.Namespace) -> Dict[str, Any]:
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
        "ssml": args.ssml or None,
        "volume": None if args.volume is None else float(args.volume),
    }


def parts(text: "Text") -> Iterator[str]:
    """A text as the service takes it: whole, or the sentences of a long or growing one as they end.

    An empty piece says that no more of a growing text is there yet: its whole sentences become a
    part. What has been read by the time the part before is over becomes the next part.
    """
    if isinstance(text, str) and len(text) <= LONGEST_TEXT:
        yield text
        return
    from edge_tts.service.sentences import SentenceBuffer

    buffer = SentenceBuffer()
    for piece in _slices([text] if isinstance(text, str) else text):
        buffer.add(piece)
        is_full = len(buffer) > LONGEST_TEXT - SLICE
        part = buffer.take() if is_full or not piece else ""
        if is_full and not part:
            part = buffer.take_all()
        if part:
            yield part
    rest = buffer.take_all()
    if rest.strip():
        yield rest


def _slices(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        for start in range(0, len(piece) or 1, SLICE):
            yield piece[start : start + SLICE]


def _whole(text: "Text") -> str:
    read: List[str] = []
    for piece in [text] if isinstance(text, str) else text:
        read.append(piece)
        if sum(map(len, read)) > LONGEST_TEXT:
            raise InputError(
                f"a text of more than {LONGEST_TEXT} characters is sent in parts, each when the"
                " one before is over; leave out --no-wait, and cut an SSML document yourself",
                code="input.text_too_long",
            )
    return "".join(read)
