#!/usr/bin/env python3
"""A full-size lite voice (304 million parameters, random weights) beside transformers and encodec.

    bench/lite_full.py [--interleaving delay|flat] [--precision balanced] [--work DIR] [--quick]

Makes a checkpoint (1.2 GB), builds it with `edge-tts build`, and has both speak the codes of 100
Chinese characters, 22 s of sound in two segments, each in a fresh process pinned to two CPUs.
Then sentences of 3 s are drawn one at a time, in two processes of one thread each, and in packs of
eight as `edge-tts batch` does it: codes only, as the sound costs each way the same.
How soon a voice is ready is the least of three starts: other jobs of the machine only add to it.
`--work` keeps the checkpoint and the voice for the next run; `--quick` speaks a tenth. The peer is
`transformers` at fp32 with its caches (`generate` for flat codes) and the `encodec` package.
Needs torch, transformers, encodec and sentencepiece. Exits 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[1]
WORKER = Path(__file__).with_name("lite_full_worker.py")
SECONDS_PER_CHARACTER = 0.22
N_CHARACTERS, N_SEGMENTS = 100, 2
TIMEOUT_S = 3600
N_STARTS = 3
SENTENCE_FRAMES, N_SENTENCES, PACK = 225, 8, 8
MAX_PEAK_MIB, MAX_READY_S, MAX_DISK_MB, MIN_RATIO = 1000.0, 2.0, 2000.0, 2.0


def main() -> int:
    """Measure both and print a line for each and a verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--interleaving", choices=("delay", "flat"), default="delay")
    parser.add_argument("--precision", default="balanced")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = args.work or Path(temporary)
        checkpoint = work / f"checkpoint-{args.interleaving}"
        voice = work / "voices" / f"{args.interleaving}-{args.precision}"
        prepare(checkpoint, voice, args.interleaving, args.precision)
        n_characters = N_CHARACTERS // 10 if args.quick else N_CHARACTERS
        n_frames = int(n_characters * SECONDS_PER_CHARACTER / N_SEGMENTS * 75)
        ready = start(voice)
        ours = measure("ours", voice, n_frames)
        if not args.quick:
            compare_batches(voice)
        theirs = measure("theirs", checkpoint, n_frames)
        disk_mb = sum(path.stat().st_size for path in voice.iterdir()) / 1e6
    return verdict({**ours, "ready_s": ready}, theirs, disk_mb, args)


def prepare(checkpoint: Path, voice: Path, interleaving: str, precision: str) -> None:
    """Make what is not there yet."""
    if not (checkpoint / "spiece.model").is_file():
        run([str(WORKER), "make", str(checkpoint), interleaving])
    if not (voice / "voice.yaml").is_file():
        build = ["-m", "edge_tts", "build", str(checkpoint), "--out", str(voice)]
        run([*build, "--precision", precision])


def start(voice: Path) -> float:
    """Least seconds until the voice could speak."""
    starts: List[Dict[str, float]] = []
    for _ in range(N_STARTS):
        said = run([str(WORKER), "ready", str(voice), str(time.time())])
        starts.append(json.loads(said.splitlines()[-1]))
    least = min(starts, key=lambda found: found["ready_s"])
    each = ", ".join(f"{found['ready_s']:.2f}" for found in starts)
    print(f"starts  ready after {each} s, CPU time {least['cpu_s']:.2f} s", flush=True)
    return least["ready_s"]


def measure(who: str, path: Path, n_frames: int) -> Dict[str, float]:
    """Figures of one worker."""
    arguments = [str(WORKER), who, str(path), str(n_frames), str(N_SEGMENTS), str(time.time())]
    found: Dict[str, float] = json.loads(run(arguments).splitlines()[-1])
    print(
        f"{who:<7} ready {found['ready_s']:.1f} s, first sound {found['first_s']:.2f} s, "
        f"{found['sound_s']:.1f} s of sound in {found['total_s']:.1f} s "
        f"({1e3 * found['model_s'] / found['n_positions']:.1f} ms per position, "
        f"codec {found['codec_s']:.1f} s, CPU time {found['cpu_s']:.1f} s), "
        f"peak {found['peak_mib']:.0f} MiB",
        flush=True,
    )
    return found


def compare_batches(voice: Path) -> None:
    """Print sentences per second of each way to draw many."""
    ways = {"one at a time": (1, 2, 1), "two processes": (2, 1, 1), "in packs": (1, 2, PACK)}
    rates = {}
    for name, (n_processes, n_threads, size) in ways.items():
        job = ["sentences", voice, n_threads, SENTENCE_FRAMES, N_SENTENCES // n_processes, size]
        arguments = [str(WORKER), *map(str, job)]
        with ThreadPoolExecutor(n_processes) as pool:
            said = list(pool.map(run, [arguments] * n_processes))
        found = [json.loads(each.splitlines()[-1]) for each in said]
        rates[name] = sum(each["n"] / each["total_s"] for each in found)
        peak_mib = sum(each["peak_mib"] for each in found)
        print(f"{name}: {rates[name]:.3f} sentences/s, peak {peak_mib:.0f} MiB", flush=True)
    gain = rates["in packs"] / max(rates["one at a time"], rates["two processes"])
    print(f"packs of {PACK}: {gain:.2f} times as many as the better of the others", flush=True)


def run(arguments: List[str]) -> str:
    """Run Python on two CPUs; returns what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=True,
    )
    return done.stdout.decode("utf-8")


def verdict(
    ours: Dict[str, float], theirs: Dict[str, float], disk_mb: float, args: argparse.Namespace
) -> int:
    """Print the closing line; 1 when a limit is missed."""
    ratio = theirs["total_s"] / ours["total_s"]
    is_met = (
        ours["peak_mib"] <= MAX_PEAK_MIB
        and ours["ready_s"] <= MAX_READY_S
        and disk_mb <= MAX_DISK_MB
        and ratio >= MIN_RATIO
    )
    print(
        f"lite {args.interleaving} {args.precision}: {ratio:.1f} times as fast as transformers and "
        f"encodec (at least {MIN_RATIO:.0f}), ready in {ours['ready_s']:.1f} s (at most "
        f"{MAX_READY_S:.0f}), peak {ours['peak_mib']:.0f} MiB (at most {MAX_PEAK_MIB:.0f}), disk "
        f"{disk_mb:.0f} MB (at most {MAX_DISK_MB:.0f}): {'met' if is_met else 'MISSED'}"
    )
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
