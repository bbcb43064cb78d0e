"""Kill the worker again and again while it speaks; the sound must not differ by one sample.

A ten-sentence announcement is spoken into a file twice: undisturbed, and with the worker killed by
SIGKILL at random moments. Both files must be equal, and every kill must have hit a live worker.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Tuple

from running_service import RunningService

SENTENCES = [
    "The train to the airport leaves from platform four.",
    "Please keep your luggage with you at all times.",
    "下一站是人民广场，请准备下车。",
    "The restaurant car is in the middle of the train.",
    "Doors close automatically in thirty seconds.",
    "请不要在车门附近停留。",
    "The next stop is Central Station, exit on the left.",
    "Passengers for the harbour change here to line two.",
    "今天下午三点有一次短暂的停车。",
    "We wish you a pleasant journey.",
]


def main() -> int:
    """Run the comparison; 0 when nothing was lost or repeated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="five kills")
    args = parser.parse_args()
    n_kills = 5 if args.quick else args.kills
    text = " ".join(SENTENCES)
    with tempfile.TemporaryDirectory() as folder:
        chance = random.Random(args.seed)
        began_s = time.monotonic()
        expected = speak(Path(folder) / "undisturbed", text, Schedule(0, 0.0, chance))[0]
        # Long enough for a worker to render a few sentences before it dies.
        work_s = 3.0 * (time.monotonic() - began_s) / len(SENTENCES)
        received, n_killed, n_announcements = speak(
            Path(folder) / "disturbed", text, Schedule(n_kills, work_s, chance)
        )
    is_equal = received == expected * n_announcements
    verdict = "equal" if is_equal else "DIFFERENT"
    print(
        f"chaos: {n_killed} kills in {n_announcements} announcements, "
        f"{len(received)} bytes of PCM, {verdict} to the undisturbed run"
    )
    return 0 if is_equal and n_killed >= n_kills else 1


@dataclass(frozen=True)
class Schedule:
    """How many workers are killed, and within which time of their work."""

    n_kills: int
    work_s: float
    chance: random.Random


def speak(folder: Path, text: str, schedule: Schedule) -> Tuple[bytes, int, int]:
    """Speak until every kill has hit; returns the PCM, the kills and the announcements."""
    folder.mkdir()
    n_killed = n_announcements = 0
    output = folder / "out.pcm"
    # A text is given up only when a worker dies of it again and again; here they die of us.
    with RunningService(folder, output_file=output, attempts=1000, cache_mib=0) as service:
        while n_announcements == 0 or n_killed < schedule.n_kills:
            n_killed += announce(service, text, schedule.n_kills - n_killed, schedule)
            n_announcements += 1
    return output.read_bytes(), n_killed, n_announcements


def announce(service: RunningService, text: str, n_kills: int, schedule: Schedule) -> int:
    """Speak the text once, killing workers meanwhile; returns how many kills hit."""
    n_killed = 0
    with service.client() as client:
        client.send("edge-speak", text=text)
        killer = Killer(service, schedule)
        while True:
            frame = service.poll(client, 0.01)
            if frame is not None and frame.type == "edge-finished":
                if frame.data["reason"] != "done":
                    raise SystemExit(f"chaos: the announcement ended as {frame.data}")
                return n_killed
            if n_killed < n_kills:
                n_killed += killer.look()


class Killer:
    """Kills each worker once: one in four while it starts, the others while they work."""

    def __init__(self, service: RunningService, schedule: Schedule) -> None:
        self._service = service
        self._work_s = schedule.work_s
        self._chance = schedule.chance
        self._victim: Optional[int] = None
        self._kill_at_s = 0.0
        self._waits_for_ready = False

    def look(self) -> int:
        """Kill if it is time to; returns the number of kills."""
        worker = self._service.worker_pid()
        if worker is None:
            return 0
        now_s = time.monotonic()
        if worker != self._victim:
            self._victim = worker
            self._waits_for_ready = self._chance.random() < 0.75
            self._kill_at_s = now_s + self._chance.uniform(0.0, self._service.start_s)
        if self._waits_for_ready:
            self._waits_for_ready = not self._service.is_ready()
            self._kill_at_s = now_s + self._chance.uniform(0.0, self._work_s)
            return 0
        if now_s < self._kill_at_s:
            return 0
        os.kill(worker, signal.SIGKILL)
        while self._service.worker_pid() == worker:
            time.sleep(0.005)
        return 1


if __name__ == "__main__":
    sys.exit(main())
