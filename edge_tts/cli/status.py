"""`edge-tts status`: what the running service does and how it fares."""

from __future__ import annotations

import argparse
from typing import Any, Dict, Iterator

from edge_tts.errors import EXIT_OK


def add_parser(subparsers: Any) -> None:
    """Add `status` to the command line."""
    parser = subparsers.add_parser(
        "status",
        help="show what the running service does",
        description="Show the state of the running service. It holds no text of any utterance.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON object")
    form.add_argument("--prometheus", action="store_true", help="print Prometheus' text format")


def run(args: argparse.Namespace) -> int:
    """Print the status. Raises ServiceError when no service runs."""
    from edge_tts.cli.stop import connect

    with connect(args) as client:
        status = client.status()
    if args.json:
        import json

        print(json.dumps(status, ensure_ascii=False, indent=2))
    elif args.prometheus:
        from edge_tts.service.status import prometheus

        print(prometheus(status), end="")
    else:
        print("\n".join(_lines(status)))
    return EXIT_OK


def _lines(status: Dict[str, Any]) -> Iterator[str]:
    budget, queue, counts = status["budget"], status["queue"], status["counts"]
    voice = status["voice"]
    yield f"service   {status['version']}, up {status['uptime_s']:.0f} s"
    yield f"voice     {voice.get('name', 'none')} {voice.get('version', '')}".rstrip()
    engines = voice.get("engines") or {}
    if any(backend != "onnx" for backend in engines.values()):
        listed = ", ".join(f"{part}: {backend}" for part, backend in engines.items())
        yield f"engines   {listed}"
    yield f"worker    {status['worker']['state']}, {status['worker']['restarts']} restarts"
    if status["worker"]["fault"]:
        yield f"          {status['worker']['fault']}"
    on_air = queue["on_air"]
    now = f"speaking {on_air['id']} ({on_air['priority']})" if on_air else "silent"
    paused = ", paused" if queue["paused"] else ""
    yield f"queue     {now}{paused}, {queue['waiting']} waiting, {status['clients']} clients"
    yield (
        f"memory    {budget['used_mib']:.0f} of {budget['budget_mib']:.0f} MiB"
        f" (peak {budget['peak_mib']:.0f}), step {budget['step']}"
    )
    if status["http"]["state"] != "off":
        yield f"http      {status['http']['state']}, {status['http']['restarts']} restarts"
    device = status["device"]
    yield (
        f"device    {device['state']}, {device['losses']} losses, {device['underruns']} underruns"
    )
    prompts = status["prompts"]
    yield (
        f"phrases   {prompts['cached']} cached ({prompts['cache_bytes'] / 1024**2:.1f} MiB),"
        f" hit rate {100 * prompts['cache_hit_rate']:.0f} %"
    )
    finished = ", ".join(f"{n} {reason}" for reason, n in sorted(counts["finished"].items()))
    yield f"finished  {finished or 'nothing yet'}"
    for source, histogram in sorted(status["first_sound"].items()):
        yield (
            f"latency   {source}: {histogram['mean_s'] * 1000:.0f} ms on average"
            f" to the first sample, {histogram['n']} utterances"
        )
