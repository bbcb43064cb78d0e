"""Fifty clients with all priorities, sessions and disconnects: nothing lost, nothing doubled.

Every client checks what it is told: each accepted utterance ends exactly once, each refusal has a
code. Urgent utterances come first, so one of the background may wait as long as the load lasts; its
client asks meanwhile whether the service still answers, and waits for the queue to empty. One more
client stops an utterance of its own every few seconds and measures how long the service takes to
say that it is silent.
"""

from __future__ import annotations

import argparse
import collections
import random
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Counter, List, Optional, Set

from running_service import RunningService

from edge_tts.errors import EdgeTTSError, ServiceError
from edge_tts.service.client import Client
from edge_tts.service.codec import Frame

MAX_STOP_P95_S = 0.1
PRIORITIES = ["alert", "navigation", "message", "message", "message", "background", "background"]
PATIENCE_S = 10.0
"""Within this a service answers a ping, whatever it is busy with."""
DRAIN_S = 300.0
"""Within this after the load the queue is empty, or something has been lost."""
TEXTS = [
    "Turn left in two hundred metres.",
    "You have one new message.",
    "前方路口右转。",
    "Speed limit ahead, sixty.",
    "The next stop is Central Station.",
]


class Client50:
    """One of the fifty: speaks, listens, sometimes vanishes. Counts everything it is told."""

    def __init__(self, service: RunningService, number: int, seed: int, deadline_s: float) -> None:
        self._service = service
        self._number = number
        self._chance = random.Random(seed * 1000 + number)
        self._deadline_s = deadline_s
        self.outcomes: Counter[str] = collections.Counter()
        self.faults: List[str] = []

    def run(self) -> None:
        """Live until the deadline."""
        try:
            while time.monotonic() < self._deadline_s:
                self._one_connection()
        except Exception as error:  # noqa: BLE001 - a client's fault is the bench's result
            self.faults.append(f"client {self._number}: {type(error).__name__}: {error}")

    def _one_connection(self) -> None:
        with self._service.client() as client:
            live: Set[str] = set()
            uses_session = self._chance.random() < 0.5
            if uses_session:
                client.ask("edge-session-open", "edge-session", session=f"s{self._number % 10}")
            for number in range(self._chance.randrange(1, 6)):
                self._speak(client, number, uses_session, live)
                time.sleep(self._chance.uniform(0.0, 2.0))
            if self._chance.random() < 0.25:
                self.outcomes["vanished"] += len(live)
                return
            self._listen(client, live)

    def _speak(self, client: Client, number: int, uses_session: bool, live: Set[str]) -> None:
        uid = f"c{self._number}-{number}-{time.monotonic_ns()}"
        live.add(uid)
        client.send(
            "edge-speak",
            text=self._chance.choice(TEXTS),
            id=uid,
            priority=self._chance.choice(PRIORITIES),
            session=f"s{self._number % 10}" if uses_session else None,
            ttl_s=self._chance.choice([None, 5.0, 30.0]),
            key=self._chance.choice([None, None, f"k{self._number}"]),
        )

    def _listen(self, client: Client, live: Set[str]) -> None:
        """Hear every utterance to its end, or to its refusal."""
        was_asked = False
        while live:
            frame = next_frame(client)
            if frame is None:
                self._ask_for_life(client, live, was_asked)
            was_asked = frame is None
            if frame is None or frame.type not in ("edge-finished", "error"):
                continue
            uid = frame.data["id"]
            if uid not in live:
                self.faults.append(f"{uid} ended twice or was never ours")
            live.discard(uid)
            self.outcomes[frame.data.get("reason") or frame.data["code"]] += 1

    def _ask_for_life(self, client: Client, live: Set[str], was_asked: bool) -> None:
        """A queue may be long; a service that is mute or has lost something is a fault."""
        if was_asked:
            raise ServiceError("a ping is not answered")
        if time.monotonic() > self._deadline_s + DRAIN_S:
            raise ServiceError(f"{sorted(live)} never ended")
        client.send("ping")


def next_frame(client: Client) -> Optional[Frame]:
    """The next frame, refusals included; None when none comes within the patience."""
    try:
        return client.receive_any(PATIENCE_S)
    except ServiceError as error:
        if isinstance(error.__cause__, socket.timeout):
            return None
        raise


def main() -> int:
    """Load the service; 0 when every promise was kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="20 clients for 15 seconds")
    args = parser.parse_args()
    n_clients, seconds = (20, 15.0) if args.quick else (args.clients, args.seconds)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.pcm"
        with RunningService(Path(folder), output_file=output, connections=128) as service:
            clients, stops = run_clients(service, n_clients, args.seed, seconds)
            with service.client() as client:
                status = client.status()
            n_tracebacks = service.log().count("Traceback")
    return report(clients, stops, status, n_tracebacks)


def run_clients(
    service: RunningService, n_clients: int, seed: int, seconds: float
) -> "tuple[List[Client50], List[float]]":
    """Run everyone to the end."""
    deadline_s = time.monotonic() + seconds
    clients = [Client50(service, number, seed, deadline_s) for number in range(n_clients)]
    threads = [threading.Thread(target=client.run, daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    stops = measure_stops(service, deadline_s)
    for thread in threads:
        thread.join(DRAIN_S + 3 * PATIENCE_S)
        if thread.is_alive():
            clients[0].faults.append("a client still waits")
    return clients, stops


def measure_stops(service: RunningService, deadline_s: float) -> List[float]:
    """Times from sending a stop to the end of the utterance it stops, in seconds."""
    times: List[float] = []
    with service.client() as client:
        while time.monotonic() < deadline_s:
            uid = f"stop-{len(times)}"
            text = "A long text that is going to be stopped. " * 5
            try:
                client.ask("edge-speak", "edge-accepted", text=text, id=uid, priority="alert")
            except EdgeTTSError:
                time.sleep(0.5)
                continue
            time.sleep(0.5)
            began_s = time.monotonic()
            client.send("edge-stop", id=uid)
            while client.receive(30.0).type != "edge-stopped":
                pass
            times.append(time.monotonic() - began_s)
            time.sleep(1.0)
    return times


def report(
    clients: List[Client50], stops: List[float], status: "dict[str, object]", n_tracebacks: int
) -> int:
    """Print the line of figures; 0 when all is well."""
    outcomes: Counter[str] = collections.Counter()
    faults: List[str] = []
    for client in clients:
        outcomes.update(client.outcomes)
        faults += client.faults
    for fault in faults[:10]:
        print(fault, file=sys.stderr)
    budget = status["budget"]
    assert isinstance(budget, dict)  # noqa: S101 - the protocol's shape
    p95_s = statistics.quantiles(stops, n=20)[-1] if len(stops) > 1 else float("inf")
    is_held = budget["peak_mib"] <= budget["budget_mib"]
    print(
        f"load: {sum(outcomes.values())} outcomes {dict(sorted(outcomes.items()))}, "
        f"{len(faults)} faults, {n_tracebacks} internal errors, "
        f"peak {budget['peak_mib']} of {budget['budget_mib']} MiB, "
        f"stop p95 {p95_s * 1000:.0f} ms of {len(stops)}"
    )
    return 0 if not faults and not n_tracebacks and is_held and p95_s <= MAX_STOP_P95_S else 1


if __name__ == "__main__":
    sys.exit(main())
