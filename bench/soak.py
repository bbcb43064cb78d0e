"""A thousand mixed requests of five hundred different lengths; the memory must not grow.

Texts have 1 to 500 characters (Chinese ones a third, which takes as long to say). Up to
`WHOLE_LENGTH` they are heard to the end, as are some of the longer ones; the others are cut, as
announcements are: stopped once they are heard, or their client vanishes. Counting begins after
`WARM_UP` such requests, when the engine has met its largest segments and its memory has grown to
the size at which it works.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import List, Tuple

from running_service import RunningService

from edge_tts.service.client import Client

MAX_GROWTH_MIB = 10.0
N_LENGTHS = 500
WARM_UP = 60
WHOLE_LENGTH = 100
WORDS = ("the", "next", "stop", "on", "this", "line", "is", "a", "station", "near", "old", "bridge")
CHARACTERS = "前方路口请向右转然后直行两百米到达目的地谢谢您的乘坐"
SAMPLES = 20
SETTLE_S = 6.0  # the end of a segment, and the service's next measurement while idle


def main() -> int:
    """Soak; 0 when the tree has grown by no more than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--voice", help="the service's voice instead of the default one")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--quick", action="store_true", help="10 requests of at most 30 characters")
    args = parser.parse_args()
    n_requests, longest = (10, 30) if args.quick else (args.requests, N_LENGTHS)
    environment = dict(os.environ)
    if args.voice is not None:
        environment["EDGE_TTS_VOICE"] = args.voice
    chance = random.Random(args.seed)
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.pcm"
        with RunningService(
            Path(folder), output_file=output, environment=environment
        ) as service, service.client() as client:
            first_mib = settled_mib(service)
            for _ in range(min(WARM_UP, n_requests // 3)):
                request(service, client, chance.randint(1, longest), chance)
            points = soak(service, client, n_requests, longest, chance)
            used_mib = float(client.status()["budget"]["used_mib"])
            errors = service.log().count("Traceback")
    slope, growth_mib = fit(points)
    print(
        f"soak: {n_requests} requests of {longest} lengths in {time.monotonic() - began_s:.0f} s, "
        f"{first_mib:.1f} MiB when started, {points[0][1]:.1f} warm, {points[-1][1]:.1f} last, "
        f"growth {growth_mib:+.1f} MiB, slope {1000 * slope:+.2f} MiB per 1000, {errors} errors; "
        f"{used_mib:.1f} MiB with program files at the end"
    )
    return 0 if growth_mib <= MAX_GROWTH_MIB and not errors else 1


def soak(
    service: RunningService, client: Client, n_requests: int, longest: int, chance: random.Random
) -> List[Tuple[int, float]]:
    """Make the requests; returns (request number, MiB of the tree) every now and then.

    MiB that no file backs: `RunningService.anonymous_mib`.
    """
    points: List[Tuple[int, float]] = []
    lengths = list(range(1, longest + 1))
    chance.shuffle(lengths)
    for number in range(n_requests):
        if number % max(1, n_requests // (SAMPLES if n_requests > SAMPLES else 2)) == 0:
            points.append((number, settled_mib(service)))
            print(f"soak: {points[-1]}", file=sys.stderr, flush=True)
        request(service, client, lengths[number % longest], chance)
    points.append((n_requests, settled_mib(service)))
    return points


def request(service: RunningService, client: Client, length: int, chance: random.Random) -> None:
    """One request of one of the kinds that clients make."""
    text = hanzi(chance, length) if chance.random() < 0.4 else sentence(chance, length)
    is_whole = length <= WHOLE_LENGTH or chance.random() < 0.1
    kind = chance.random()
    if kind < 0.6:
        speak(client, text, chance.choice([0.9, 1.0, 1.2]), is_whole)
    elif kind < 0.8:
        synthesize(service, text, is_whole)
    elif kind < 0.95:
        with service.client() as other:
            other.ask("edge-speak", "edge-accepted", text=text)
    else:
        ends = [frame.data.get("code") for frame in client.speak(text, speaker="nobody")]
        if ends[-1] != "input.unknown_speaker":
            raise SystemExit(f"soak: an unknown speaker ended as {ends[-1]}")


def speak(client: Client, text: str, speed: float, is_whole: bool) -> None:
    """On the service's sink, to the end or to the first sound."""
    for frame in client.speak(text, speed=speed):
        if frame.type == "edge-started" and not is_whole:
            client.send("edge-stop", id=frame.data["id"])


def synthesize(service: RunningService, text: str, is_whole: bool) -> None:
    """As a Wyoming client, to the end or to the first sound."""
    last = "audio-stop" if is_whole else "audio-chunk"
    with service.client() as other:
        other.send("synthesize", text=text)
        while other.receive(120.0).type not in (last, "audio-stop"):
            pass


def settled_mib(service: RunningService) -> float:
    """The tree's memory at rest: a worker whose request was cut is still busy for a moment."""
    time.sleep(SETTLE_S)
    return service.anonymous_mib()


def fit(points: List[Tuple[int, float]]) -> Tuple[float, float]:
    """Slope in MiB per request, and growth from the first to the last quarter of the points."""
    numbers, sizes = zip(*points)
    mean_number, mean_size = statistics.mean(numbers), statistics.mean(sizes)
    covariance = sum((n - mean_number) * (s - mean_size) for n, s in points)
    slope = covariance / sum((n - mean_number) ** 2 for n in numbers)
    quarter = max(1, len(sizes) // 4)
    return slope, statistics.mean(sizes[-quarter:]) - statistics.mean(sizes[:quarter])


def sentence(chance: random.Random, length: int) -> str:
    """English of about `length` characters."""
    text = ""
    while len(text) < length:
        text += chance.choice(WORDS) + (". " if chance.random() < 0.1 else " ")
    return text[:length].strip() + "."


def hanzi(chance: random.Random, length: int) -> str:
    """Chinese of about `length` / 3 characters, which take as long to say."""
    return "".join(chance.choice(CHARACTERS) for _ in range(max(1, length // 3))) + "。"


if __name__ == "__main__":
    sys.exit(main())
