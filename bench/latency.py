"""From request to first sample at a real sound server, and from stop to silence there."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List

from running_service import RunningService
from sound_server import Ear, SoundServer

from edge_tts.service.client import Client

MAX_STOP_P95_S = 0.1
PROMPT = "Please mind the gap."
PLACES = ("station", "harbour", "museum", "airport", "market", "library", "bridge", "stadium")


class Stages:
    """Times of one kind of request, in seconds: rendering, sink, and both to the first sample."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rendered: List[float] = []
        self.audible: List[float] = []

    def line(self) -> str:
        """Median and 95th percentile, with the share of each stage in the median."""
        total_s = statistics.median(self.audible)
        rendered_s = min(total_s, statistics.median(self.rendered))
        share = 100.0 * rendered_s / total_s
        return (
            f"{self.name} p50 {1000 * total_s:.0f} ms, p95 {1000 * p95(self.audible):.0f} ms"
            f" (sound {share:.0f} %, sink {100 - share:.0f} %)"
        )


def main() -> int:
    """Measure; 0 when a stop is heard in time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="four rounds")
    args = parser.parse_args()
    n_rounds = 4 if args.quick else args.rounds
    cached, uncached, stops = Stages("cached"), Stages("uncached"), []
    with tempfile.TemporaryDirectory() as name, SoundServer(Path(name) / "sound") as server:
        folder = Path(name)
        with RunningService(folder, environment=server.environment) as service:
            ear = Ear(server)
            with service.client() as client:
                for _ in range(3):
                    list(client.speak(PROMPT))
                for number in range(n_rounds):
                    measure(ear, client, cached, PROMPT)
                    place = PLACES[number % len(PLACES)]
                    measure(ear, client, uncached, f"Turn left at {place} {number}.")
                    stops.append(stop(ear, client, number))
                underruns = client.status()["device"]["underruns"]
            ear.close()
    print(
        f"latency: {cached.line()}; {uncached.line()}; stop to silence "
        f"p50 {1000 * statistics.median(stops):.0f} ms, p95 {1000 * p95(stops):.0f} ms; "
        f"{underruns} underruns"
    )
    return 0 if p95(stops) <= MAX_STOP_P95_S else 1


def measure(ear: Ear, client: Client, stages: Stages, text: str) -> None:
    """One request, from its sending to its first sample at the monitor."""
    time.sleep(0.3)
    ear.forget()
    began_s = time.monotonic()
    events: Dict[str, Dict[str, float]] = {e.type: dict(e.data) for e in client.speak(text)}
    times = ear.loud_times()
    stages.rendered.append(events["edge-started"]["rendered_s"])
    stages.audible.append(float(times[0]) - began_s)


def stop(ear: Ear, client: Client, number: int) -> float:
    """Seconds from a stop to the last loud sample."""
    client.send("edge-speak", text=f"This sentence, number {number}, is going to be cut short now.")
    while client.receive(60.0).type != "edge-started":
        pass
    time.sleep(0.5)
    began_s = time.monotonic()
    client.send("edge-stop", all=True)
    while client.receive().type != "edge-stopped":
        pass
    time.sleep(0.6)
    return max(0.0, float(ear.loud_times()[-1]) - began_s)


def p95(values: List[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


if __name__ == "__main__":
    sys.exit(main())
