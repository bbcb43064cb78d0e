"""Memory of the process tree at idle, speaking and under load, and the CPU of doing nothing.

The service plays to a real sound server where there is one. Its idle CPU is measured twice: with
the device kept open, and at rest after `audio.keep_warm_s`, which is the state it waits in for
hours and the one with a limit.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict

from running_service import RunningService
from sound_server import SoundServer

from edge_tts.service.client import Client

MAX_FRONT_MIB = 60.0
MAX_IDLE_CPU_PERCENT = 1.0
KEEP_WARM_S = 6.0
LOAD_TEXTS = 40
TEXT = "The quick brown fox jumps over the lazy dog. 前方两百米右转，然后直行。 "


def main() -> int:
    """Measure; 0 when front, tree and idle CPU keep their limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle-seconds", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help="10 idle seconds, little load")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        idle, warm_percent, rest_percent = measure_idle(
            folder, 10.0 if args.quick else args.idle_seconds
        )
        speaking, loaded = measure_work(folder, 2 if args.quick else LOAD_TEXTS)
    print(
        f"memory: idle {idle['used_mib']} MiB (front {idle['front_mib']}), "
        f"speaking {speaking['used_mib']}, after load {loaded['used_mib']}, "
        f"peak {loaded['peak_mib']} of {loaded['budget_mib']:.0f} MiB; "
        f"idle CPU {rest_percent:.2f} %, with the device kept open {warm_percent:.2f} %"
    )
    is_small = loaded["front_mib"] <= MAX_FRONT_MIB and loaded["peak_mib"] <= loaded["budget_mib"]
    return 0 if is_small and rest_percent <= MAX_IDLE_CPU_PERCENT else 1


def measure_idle(folder: Path, idle_s: float) -> "tuple[Dict[str, float], float, float]":
    """The budget of an idle service; CPU in percent with the device open, and at rest."""
    (folder / "idle").mkdir()
    with contextlib.ExitStack() as stack:
        environment = dict(os.environ)
        options = {"output_file": folder / "idle.pcm"}
        if shutil.which("pulseaudio") and shutil.which("pactl"):
            environment = stack.enter_context(SoundServer(folder / "sound")).environment
            options = {}
        environment["EDGE_TTS_AUDIO_KEEP_WARM_S"] = str(KEEP_WARM_S)
        service = RunningService(folder / "idle", environment=environment, **options)
        client = stack.enter_context(stack.enter_context(service).client())
        list(client.speak("Ready."))
        warm_percent = idle_cpu_percent(service, min(idle_s, KEEP_WARM_S - 1.0))
        time.sleep(KEEP_WARM_S)
        idle = budget(client)
        return idle, warm_percent, idle_cpu_percent(service, idle_s)


def measure_work(folder: Path, n_texts: int) -> "tuple[Dict[str, float], Dict[str, float]]":
    """The budget after one text, and after many into a file, which takes them at once."""
    output = folder / "out.pcm"
    with RunningService(folder, output_file=output) as service, service.client() as client:
        list(client.speak(TEXT))
        time.sleep(1.5)
        speaking = budget(client)
        for number in range(n_texts):
            list(client.speak(f"{TEXT}{number}. " * (1 + number % 5)))
        time.sleep(1.5)
        return speaking, budget(client)


def budget(client: Client) -> Dict[str, float]:
    """The budget part of the service's status."""
    status: Dict[str, float] = client.status()["budget"]
    return status


def idle_cpu_percent(service: RunningService, idle_s: float) -> float:
    """CPU time of the tree over `idle_s`, in percent of one core."""
    before_s = cpu_s(service)
    time.sleep(idle_s)
    return 100.0 * (cpu_s(service) - before_s) / idle_s


def cpu_s(service: RunningService) -> float:
    """User and system time of the tree so far."""
    times = [process.cpu_times() for process in service.processes()]
    return sum(time_.user + time_.system for time_ in times)


if __name__ == "__main__":
    sys.exit(main())
