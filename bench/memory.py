"""Memory of the process tree at idle, speaking and under load, and the CPU of doing nothing."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict

from running_service import RunningService

from edge_tts.service.client import Client

MAX_FRONT_MIB = 60.0
MAX_IDLE_CPU_PERCENT = 1.0
LOAD_TEXTS = 40
TEXT = "The quick brown fox jumps over the lazy dog. 前方两百米右转，然后直行。 "


def main() -> int:
    """Measure; 0 when front, tree and idle CPU keep their limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle-seconds", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help="10 idle seconds, little load")
    args = parser.parse_args()
    idle_s = 10.0 if args.quick else args.idle_seconds
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.pcm"
        with RunningService(
            Path(folder), output_file=output
        ) as service, service.client() as client:
            time.sleep(2.5)
            idle = budget(client)
            cpu_percent = idle_cpu_percent(service, idle_s)
            list(client.speak(TEXT))
            time.sleep(1.5)
            speaking = budget(client)
            for number in range(2 if args.quick else LOAD_TEXTS):
                list(client.speak(f"{TEXT}{number}. " * (1 + number % 5)))
            time.sleep(1.5)
            loaded = budget(client)
    print(
        f"memory: idle {idle['used_mib']} MiB (front {idle['front_mib']}), "
        f"speaking {speaking['used_mib']}, after load {loaded['used_mib']}, "
        f"peak {loaded['peak_mib']} of {loaded['budget_mib']:.0f} MiB; idle CPU {cpu_percent:.2f} %"
    )
    is_small = loaded["front_mib"] <= MAX_FRONT_MIB and loaded["peak_mib"] <= loaded["budget_mib"]
    return 0 if is_small and cpu_percent <= MAX_IDLE_CPU_PERCENT else 1


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
