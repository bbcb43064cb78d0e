"""Malformed frames and random event orders against a running service: no crash, no hang, no growth.

The service is real; its worker is too. Frames are broken in their bytes, their lengths and their
fields. An order is all that one connection says: a few valid events in an order no sane client
chooses, read or not read, then it vanishes; several such connections live at a time. After every
batch the service must still answer a ping on a new connection.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

from running_service import RunningService

from edge_tts.errors import EdgeTTSError
from edge_tts.service.client import Client
from edge_tts.service.codec import Frame, encode

FRAMES_PER_CONNECTION = 50
CONNECTIONS_AT_ONCE = 20
EVENTS_PER_ORDER = (2, 12)
MAX_GROWTH_MIB = 10.0

TEXTS = ["Hi.", "", "。", "One two. Three.", "你好", "a" * 300]
KINDS = [
    "describe",
    "ping",
    "synthesize",
    "synthesize-start",
    "synthesize-chunk",
    "synthesize-stop",
    "edge-speak",
    "edge-stop",
    "edge-pause",
    "edge-resume",
    "edge-status",
    "edge-session-open",
    "edge-session-close",
    "edge-subscribe",
    "unknown",
]


def main() -> int:
    """Fuzz; 0 when the service has borne it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--orders", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of it")
    args = parser.parse_args()
    share = 50 if args.quick else 1
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.pcm"
        with RunningService(Path(folder), output_file=output, connections=128) as service:
            warm_up(service, chance)
            before, before_mib = budget(service), service.anonymous_mib()
            n_frames = repeat(service, broken_connection, args.frames // share, chance)
            n_orders = repeat(service, disorderly_connections, args.orders // share, chance)
            settle(service)
            after, after_mib = budget(service), service.anonymous_mib()
            log = service.log()
    growth_mib = after_mib - before_mib
    n_faults = log.count("Traceback")
    print(
        f"fuzz: {n_frames} malformed frames, {n_orders} random orders of valid events, "
        f"{n_faults} internal errors, memory {growth_mib:+.1f} MiB"
        f" (tree {before['used_mib']:.1f} to {after['used_mib']:.1f},"
        f" front {before['front_mib']:.1f} to {after['front_mib']:.1f})"
    )
    return 0 if n_faults == 0 and growth_mib <= MAX_GROWTH_MIB else 1


def repeat(
    service: RunningService,
    attack: Callable[[RunningService, random.Random], int],
    n_wanted: int,
    chance: random.Random,
) -> int:
    """Attack until `n_wanted` attacks are counted; the service must answer in between."""
    n_sent = 0
    while n_sent < n_wanted:
        n_sent += attack(service, chance)
        with service.client() as client:
            client.ask("ping", "pong")
    return n_sent


def broken_connection(service: RunningService, chance: random.Random) -> int:
    """Send broken frames, each on a connection that may already have been closed for it."""
    n_sent = 0
    for _ in range(FRAMES_PER_CONNECTION):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(service.socket))
            link.settimeout(5)
            # The service may close while it is still being sent to.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                link.sendall(broken_frame(chance))
                link.shutdown(socket.SHUT_WR)
                while link.recv(65536):
                    pass
            n_sent += 1
    return n_sent


def broken_frame(chance: random.Random) -> bytes:
    """A frame with one thing wrong, or noise."""
    frame = bytearray(encode(random_event(chance)))
    breakage = chance.randrange(6)
    if breakage == 0:
        return chance.getrandbits(8 * 64).to_bytes(64, "big")
    if breakage == 1:
        return bytes(frame[: chance.randrange(len(frame))])
    if breakage == 2:
        for _ in range(1 + chance.randrange(8)):
            frame[chance.randrange(len(frame))] = chance.randrange(256)
        return bytes(frame)
    if breakage == 3:
        lengths = [-1, 2**31, 10**18, 1.5, "7", None, True, [], 65537]
        header = {"type": "edge-speak", "data_length": chance.choice(lengths)}
        return json.dumps(header).encode() + b"\n{}"
    if breakage == 4:
        return b'{"type": "x", "data": ' + b"[" * chance.randrange(1, 20_000) + b"\n"
    return b"x" * chance.randrange(1, 20_000) + b"\n"


def disorderly_connections(service: RunningService, chance: random.Random) -> int:
    """Carry out several random orders by turns, an event each; returns how many."""
    with contextlib.ExitStack() as stack:
        orders = [
            (stack.enter_context(service.client()), chance.randint(*EVENTS_PER_ORDER))
            for _ in range(CONNECTIONS_AT_ONCE)
        ]
        for turn in range(EVENTS_PER_ORDER[1]):
            for client, n_events in orders:
                if turn < n_events:
                    say_something(client, chance)
                elif turn == n_events:
                    client.close()
    return CONNECTIONS_AT_ONCE


def say_something(client: Client, chance: random.Random) -> None:
    """Send an event and, sometimes, read an answer; refusals are part of the game."""
    event = random_event(chance)
    client.send(event.type, **dict(event.data))
    if chance.random() < 0.3:
        with contextlib.suppress(EdgeTTSError):
            client.receive(0.5)


def random_event(chance: random.Random) -> Frame:
    """An event whose fields are mostly right."""
    kind = chance.choice(KINDS)
    names = ("a", "b", "c")
    data: Dict[str, Any] = {}
    if "synthesize" in kind or kind == "edge-speak":
        data["text"] = chance.choice(TEXTS)
    if kind.startswith("edge-s"):
        data["session"] = chance.choice(names)
    if kind == "edge-speak":
        optional: List[Any] = [None, "x", "y"]
        data.pop("session")
        data.update(
            key=chance.choice(optional),
            priority=chance.choice(["alert", "navigation", "message", "background"]),
            ttl_s=chance.choice([None, 0.0, 0.05, 10]),
        )
    if kind == "edge-stop":
        data = chance.choice([{"all": True}, {"key": "x"}, {"session": "a"}, {"id": "u1"}])
    return Frame(kind, data)


def warm_up(service: RunningService, chance: random.Random) -> None:
    """Bring every part to its working size."""
    with service.client() as client:
        for text in TEXTS:
            list(client.speak(text))
    repeat(service, broken_connection, 500, chance)
    repeat(service, disorderly_connections, 500, chance)
    settle(service)


def settle(service: RunningService) -> None:
    """End what is queued and let the measurements come round."""
    with service.client() as client:
        client.ask("edge-resume", "edge-paused")
        client.ask("edge-stop", "edge-stopped", all=True)
    time.sleep(2.5)


def budget(service: RunningService) -> Dict[str, float]:
    """The tree's memory as the service itself states it."""
    with service.client() as client:
        status: Dict[str, float] = client.status()["budget"]
    return status


if __name__ == "__main__":
    sys.exit(main())
