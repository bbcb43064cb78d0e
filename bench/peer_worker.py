#!/usr/bin/env python3
"""Measure one engine in this fresh process and print the measurements as JSON. See peers.py."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
import time
from pathlib import Path

from peer_engines import EngineUnderTest, load_engine
from peer_figures import ENGINES, BenchText, Run, Spoken, read_texts

IDLE_S = 2.0
AUDIBLE = 0.01
WARM_UP = {"en": "Hello, and welcome.", "zh": "您好，欢迎。"}


def measure(arguments: argparse.Namespace) -> Run:
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    engine = load_engine(
        arguments.engine, arguments.threads, arguments.model, arguments.voices, arguments.preset
    )
    load_s, load_cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    spoken = []
    if not arguments.load_only:
        for language in engine.languages:
            list(engine.speak(WARM_UP[language], language))
        texts = [t for t in read_texts(arguments.texts) if t.language in engine.languages]
        spoken = [speak(engine, text) for text in texts]
    idle_percent = 0.0 if arguments.load_only else measure_idle()
    return Run(arguments.engine, load_s, load_cpu_s, peak_mb(), idle_percent, tuple(spoken))


def speak(engine: EngineUnderTest, text: BenchText) -> Spoken:
    """Speak one text as a player would receive it."""
    n_samples = 0
    first_s = first_cpu_s = 0.0
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    for samples in engine.speak(text.text, text.language):
        if not first_s and len(samples) and abs(samples).max() > AUDIBLE:
            first_s, first_cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
        n_samples += len(samples)
    wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    if not first_s:
        raise SystemExit(f"{text.id} gave no sound")
    sound_s = n_samples / engine.sample_rate_hz
    return Spoken(text.id, wall_s, cpu_s, first_s, first_cpu_s, sound_s)


def measure_idle() -> float:
    """CPU time of all threads while nothing is asked for, in percent of one CPU."""
    time.sleep(0.5)  # what the last text left to be done
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    time.sleep(IDLE_S)
    return 100 * (time.process_time() - began_cpu_s) / (time.perf_counter() - began_s)


def peak_mb() -> float:
    """Largest resident size of this process in 10^6 bytes, mapped files included.

    Read from the kernel's own mark for this memory map: `getrusage` would count the parent's size
    before exec as well.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    if match is None:
        raise SystemExit("/proc/self/status tells no peak memory; this bench runs on Linux")
    return int(match.group(1)) * 1024 / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--preset")
    parser.add_argument("--load-only", action="store_true")
    arguments = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[: arguments.threads]
    os.sched_setaffinity(0, cpus)
    json.dump(dataclasses.asdict(measure(arguments)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
