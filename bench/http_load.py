"""Thirty-two HTTP clients at once, each asking again as soon as it has its answer.

Every client checks what it is told: a refusal has a known code and, where waiting helps, a
Retry-After, by which the client waits; a whole answer holds the samples that its text always has.
Some clients leave in the middle. How soon a client that leaves is noticed is measured before the
load, on a service that has nothing else to do. Memory is the service's own figure for its tree.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import http.client
import json
import os
import random
import socket
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Counter, Dict, List, Optional, Tuple

from running_service import RunningService

from edge_tts.errors import CODES, ServiceError

MAX_FIRST_BYTE_P95_S = 10.0
"""On two cores with nothing else to do: four texts at a time are spoken in turn."""
MAX_LEAVE_P95_S = 0.1
MAX_GROWTH_MIB = 16.0
N_LEAVES = 10
TIMEOUT_S = 120.0
LEAVE_SHARE = 0.05
LONG_TEXT = "The quick brown fox jumps over the lazy dog, and on it goes without an end. " * 40
TEXTS = [
    "Turn left in two hundred metres.",
    "You have one new message. Do you want to hear it?",
    "前方路口右转。",
    "Speed limit ahead, sixty.",
    "The next stop is Central Station. Please mind the gap between the train and the platform.",
    "前方两百米有测速摄像头，请减速慢行。",
    "Your order number forty-two is ready at counter three.",
    "欢迎使用 self check-in 自助服务。",
]


@dataclass
class Answer:
    """One exchange. `first_byte_s` None where the answer was a refusal."""

    status: int
    code: str = ""
    retry_after_s: Optional[float] = None
    first_byte_s: Optional[float] = None
    sound: bytes = b""
    has_left: bool = False


@dataclass
class Tally:
    """What one client has seen."""

    first_bytes_s: List[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=collections.Counter)
    faults: List[str] = field(default_factory=list)
    n_left: int = 0
    sound_bytes: int = 0


class Target:
    """Where the clients send, and the sound that each text has."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._sounds: Dict[str, str] = {}
        self._lock = threading.Lock()

    def ask(self, text: str, *, leave: bool = False) -> Answer:
        """Ask for a text as PCM; with `leave`, hang up after the first piece of sound."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        body = json.dumps({"input": text, "response_format": "pcm"})
        try:
            began_s = time.monotonic()
            link.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
            reply = link.getresponse()
            if reply.status != 200:
                return _refusal(reply)
            first = reply.read(1)
            first_byte_s = time.monotonic() - began_s
            sound = b"" if leave else first + reply.read()
            return Answer(200, first_byte_s=first_byte_s, sound=sound, has_left=leave)
        finally:
            link.close()

    def is_expected(self, text: str, sound: bytes) -> bool:
        """True when `text` sounds as it did the first time."""
        digest = hashlib.sha256(sound).hexdigest()
        with self._lock:
            return len(sound) > 1000 and self._sounds.setdefault(text, digest) == digest

    def get(self, path: str) -> "Tuple[int, Dict[str, object]]":
        """Status and JSON of a GET."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            link.request("GET", path)
            reply = link.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            link.close()


def _refusal(reply: http.client.HTTPResponse) -> Answer:
    retry = reply.getheader("Retry-After")
    code = str(json.loads(reply.read())["error"]["code"])
    return Answer(reply.status, code, None if retry is None else float(retry))


def run_client(target: Target, seed: int, deadline_s: float) -> Tally:
    """Ask, wait when told to, ask again, until the deadline."""
    chance, tally = random.Random(seed), Tally()
    while time.monotonic() < deadline_s:
        text = chance.choice(TEXTS)
        leave = chance.random() < LEAVE_SHARE
        try:
            answer = target.ask(text, leave=leave)
        except (OSError, http.client.HTTPException, ValueError) as error:
            tally.faults.append(f"client {seed}: {type(error).__name__}: {error}")
            time.sleep(1.0)
            continue
        if answer.first_byte_s is None:
            _take_refusal(tally, answer)
            time.sleep((answer.retry_after_s or 1.0) * chance.uniform(1.0, 1.5))
            continue
        tally.first_bytes_s.append(answer.first_byte_s)
        tally.n_left += answer.has_left
        tally.sound_bytes += len(answer.sound)
        if not answer.has_left and not target.is_expected(text, answer.sound):
            tally.faults.append(f"client {seed}: other samples for {text!r}")
    return tally


def _take_refusal(tally: Tally, answer: Answer) -> None:
    tally.refusals[f"{answer.status} {answer.code}"] += 1
    is_typed = answer.code in CODES and answer.status in (429, 503)
    if not is_typed or answer.retry_after_s is None:
        tally.faults.append(f"refused with {answer.status} {answer.code!r}")


def measure_leaves(service: RunningService, target: Target, n_leaves: int) -> List[float]:
    """Seconds from hanging up in the middle of a long text to the end of its synthesis."""
    times: List[float] = []
    with service.client() as client:
        for _ in range(n_leaves):
            target.ask(LONG_TEXT, leave=True)
            began_s = time.monotonic()
            while client.status()["syntheses"]:
                time.sleep(0.002)
            times.append(time.monotonic() - began_s)
    return times


class MemoryWatch(threading.Thread):
    """Reads the tree's memory every second until stopped."""

    def __init__(self, target: Target) -> None:
        super().__init__(daemon=True)
        self._target = target
        self.used_mib: List[float] = []
        self.last: Dict[str, float] = {}
        self._is_over = threading.Event()

    def run(self) -> None:
        """Measure."""
        while not self._is_over.wait(1.0):
            status, body = self._target.get("/v1/status")
            if status == 200:
                self.last = body["budget"]  # type: ignore[assignment]
                self.used_mib.append(self.last["used_mib"])

    def stop(self) -> None:
        """End, with the last reading taken."""
        self._is_over.set()
        self.join(TIMEOUT_S)

    def thirds(self) -> "Tuple[float, float]":
        """Median of the second and of the last third, in MiB: the first is warming up."""
        third = max(1, len(self.used_mib) // 3)
        middle, end = self.used_mib[third : 2 * third], self.used_mib[-third:]
        return statistics.median(middle or end), statistics.median(end)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_http(target: Target, limit_s: float = 30.0) -> None:
    """Return when the HTTP side says that it can speak."""
    until_s = time.monotonic() + limit_s
    while time.monotonic() < until_s:
        try:
            if target.get("/healthz")[0] == 200:
                return
        except OSError:
            pass  # not listening yet
        time.sleep(0.1)
    raise ServiceError("the HTTP side did not become ready")


def run_clients(target: Target, n_clients: int, seconds: float) -> List[Tally]:
    """Run everyone to the end."""
    deadline_s = time.monotonic() + seconds
    tallies: List[Tally] = []
    threads = [
        threading.Thread(
            target=lambda seed=seed: tallies.append(run_client(target, seed, deadline_s))
        )
        for seed in range(n_clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 2 * TIMEOUT_S)
    if len(tallies) < n_clients:
        tallies.append(Tally(faults=["a client still waits"]))
    return tallies


def main() -> int:
    """Load the HTTP side; 0 when every promise was kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--quick", action="store_true", help="20 seconds")
    args = parser.parse_args()
    seconds = 20.0 if args.quick else args.seconds
    target = Target(free_port())
    environment = {**os.environ, "EDGE_TTS_HTTP_LISTEN": f"127.0.0.1:{target.port}"}
    with tempfile.TemporaryDirectory() as folder:
        silent = Path(folder) / "out.pcm"
        with RunningService(Path(folder), environment=environment, output_file=silent) as service:
            wait_for_http(target)
            leaves = measure_leaves(service, target, N_LEAVES)
            watch = MemoryWatch(target)
            watch.start()
            tallies = run_clients(target, args.clients, seconds)
            watch.stop()
            n_tracebacks = service.log().count("Traceback")
    return report(tallies, leaves, watch, seconds, n_tracebacks)


def report(
    tallies: List[Tally],
    leaves: List[float],
    watch: MemoryWatch,
    seconds: float,
    n_tracebacks: int,
) -> int:
    """Print the line of figures; 0 when all is well."""
    first_s = sorted(value for tally in tallies for value in tally.first_bytes_s)
    refusals: Counter[str] = sum((tally.refusals for tally in tallies), collections.Counter())
    faults = [fault for tally in tallies for fault in tally.faults]
    for fault in faults[:10]:
        print(fault, file=sys.stderr)
    p50_s, p95_s = _quantiles(first_s)
    _, leave_p95_s = _quantiles(leaves)
    before_mib, after_mib = watch.thirds()
    sound_s = sum(tally.sound_bytes for tally in tallies) / 48000
    memory = watch.last
    print(
        f"http_load: {len(tallies)} clients, {seconds:.0f} s: {len(first_s)} answers, "
        f"{sum(tally.n_left for tally in tallies)} left in the middle, "
        f"{sound_s / seconds:.1f} s of sound per s, "
        f"first byte p50 {p50_s:.2f} s p95 {p95_s:.2f} s, "
        f"refused {dict(sorted(refusals.items()))}, "
        f"{len(faults)} faults, {n_tracebacks} internal errors, "
        f"leaving noticed p95 {leave_p95_s * 1000:.0f} ms, "
        f"memory {before_mib:.0f} then {after_mib:.0f} MiB (HTTP {memory['http_mib']:.0f}), "
        f"peak {memory['peak_mib']:.0f} of {memory['budget_mib']:.0f} MiB"
    )
    is_flat = after_mib - before_mib <= MAX_GROWTH_MIB
    is_held = memory["peak_mib"] <= memory["budget_mib"]
    is_prompt = p95_s <= MAX_FIRST_BYTE_P95_S and leave_p95_s <= MAX_LEAVE_P95_S
    return 0 if not faults and not n_tracebacks and is_flat and is_held and is_prompt else 1


def _quantiles(values: List[float]) -> "Tuple[float, float]":
    """Median and 95th percentile; infinite where there is nothing."""
    if len(values) < 2:
        return float("inf"), float("inf")
    return statistics.median(values), statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())
