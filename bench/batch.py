"""Sentences per second: one process with all cores, one with one thread, N processes.

    python bench/batch.py [--quick] [--jobs N]

The default voice's graph speaks one segment at a time. What padding several into a batch could save
at most is measured first: the CPU time of a second of speech in short sentences against that in one
segment, which holds the same words without any padding. Then it is compared how the cores are used.
Exits 1 where the default number of processes is not at least 0.9 times as fast as one process with
all cores.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import time
from pathlib import Path
from typing import Sequence, Tuple

from edge_tts import config as configuration
from edge_tts.batch.lines import Line
from edge_tts.batch.rendering import default_jobs, render_in_processes, render_line
from edge_tts.config import Config
from edge_tts.speaker import Speaker, open_speaker

TEXTS = (
    "Please keep left at the next junction.",
    "前方两百米右转，进入人民路。",
    "The meeting has been moved to half past three on Thursday.",
    "电池电量还剩百分之二十，请尽快充电。",
)
QUICK, FULL = 8, 64
SHORT = ("Keep left now.", "Mind the gap.", "Turn right here.", "Doors are closing.")
LONG = "Keep left now, mind the gap, turn right here, doors are closing."
SPEAKER = "af_heart"
ROUNDS = 3


def lines(n_lines: int) -> "list[Line]":
    """Sentences of both languages."""
    return [Line(n, f"{n:06d}", TEXTS[n % len(TEXTS)]) for n in range(1, n_lines + 1)]


def cpu_per_speech(speaker: Speaker, texts: Sequence[str]) -> float:
    """CPU time of a second of speech, pauses left out; the least of some rounds."""
    rounds = []
    for _ in range(ROUNDS):
        began_s, speech_s = time.process_time(), 0.0
        for segment in (segment for text in texts for segment in speaker.segments(text)):
            chunks = speaker.render(segment, SPEAKER, speaker.delivery)
            n_samples = sum(len(chunk.samples) for chunk in chunks)
            speech_s += n_samples / speaker.sample_rate_hz - segment.pause_s
        rounds.append((time.process_time() - began_s) / speech_s)
    return min(rounds)


def padding_cpu(config: Config) -> "Tuple[float, float]":
    """`cpu_per_speech` of short sentences one at a time, and of the same words in one segment."""
    with open_speaker(config) as speaker:
        speaker.synthesize(LONG)
        return cpu_per_speech(speaker, SHORT), cpu_per_speech(speaker, (LONG,))


def alone_s(config: Config, todo: "list[Line]", folder: Path) -> float:
    """Seconds for all lines in this process, loading excluded."""
    with open_speaker(config) as speaker:
        render_line(speaker, todo[0], folder, "wav")
        began_s = time.perf_counter()
        for line in todo:
            render_line(speaker, line, folder, "wav")
        return time.perf_counter() - began_s


def shared_s(config: Config, todo: "list[Line]", folder: Path, n_jobs: int) -> float:
    """Seconds for all lines but the first of each process, which wait for its voice."""
    results = render_in_processes(todo, folder, "wav", config, n_jobs)
    for _ in range(n_jobs):
        next(results)
    began_s = time.perf_counter()
    n_left = sum(1 for _ in results)
    return (time.perf_counter() - began_s) / n_left * len(todo)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int)
    args = parser.parse_args()
    config = configuration.load(None, {})
    todo = lines(QUICK if args.quick else FULL)
    n_jobs = args.jobs or default_jobs(config)
    single = dataclasses.replace(config, threads=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        all_cores = len(todo) / alone_s(config, todo, folder)
        one_thread = len(todo) / alone_s(single, todo, folder)
        short, long = padding_cpu(config)
        shared = len(todo) / shared_s(single, todo, folder, n_jobs) if n_jobs > 1 else all_cores
    print(
        f"padding: {short:.2f} s of CPU time for a second of speech in short sentences, "
        f"{long:.2f} s in one segment: a batch is at most {short / long:.2f} times as fast"
    )
    print(
        f"batch: {len(todo)} sentences; one process {all_cores:.2f} sentences/s with all cores, "
        f"{one_thread:.2f} with one thread; {n_jobs} processes {shared:.2f} "
        f"({shared / all_cores:.2f} x)"
    )
    return 0 if shared >= 0.9 * all_cores else 1


if __name__ == "__main__":
    sys.exit(main())
