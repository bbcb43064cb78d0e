"""Lines to files: in this process, or shared among several with a voice each.

The default voice's graph speaks one segment at a time, so batches of sentences gain nothing;
processes do, as long as there are cores and memory for them.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterable, Iterator, Optional

from edge_tts.batch.files import open_sink
from edge_tts.batch.lines import Line
from edge_tts.batch.manifest import Result
from edge_tts.errors import EdgeTTSError

if TYPE_CHECKING:
    from edge_tts.config import Config
    from edge_tts.speaker import Speaker

PROCESS_MIB = 400
"""What a process with the default voice takes at its peak, and room for what differs."""
OWN_MIB = 100

_speaker: "Optional[Speaker]" = None
"""The voice of a process of the pool."""


def default_jobs(budget_mib: int) -> int:
    """Processes that fit the memory budget and the cores."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(n_cores or 1, (budget_mib - OWN_MIB) // PROCESS_MIB))


def render_line(speaker: "Speaker", line: Line, folder: Path, suffix: str) -> Result:
    """Write one line's file; every failure of this package is a result."""
    if line.fault is not None:
        return _failed(line, "input.batch_invalid", line.fault)
    path = folder / f"{line.name}.{suffix}"
    try:
        with open_sink(path, speaker.sample_rate_hz) as sink:
            n_samples = speaker.send(line.text, sink, **dict(line.delivery))
    except EdgeTTSError as error:
        return _failed(line, error.code, str(error))
    if not n_samples:
        path.unlink()
        return Result(line.number, line.name, line.digest, "empty")
    duration_s = round(n_samples / speaker.sample_rate_hz, 3)
    return Result(line.number, line.name, line.digest, "done", path.name, duration_s)


def render_in_processes(
    lines: Iterable[Line], folder: Path, suffix: str, config: "Config", n_jobs: int
) -> Iterator[Result]:
    """Results as they come; twice as many lines as processes are under way at once.

    A process that dies takes the lines under way with it: they are failed, and a new pool goes on.
    """
    waiting = iter(lines)
    rest = True
    while rest:
        with _pool(config, n_jobs) as pool:
            under_way: "Dict[Future[Result], Line]" = {}
            rest = False
            with contextlib.suppress(BrokenProcessPool):
                for line in itertools.islice(waiting, 2 * n_jobs):
                    under_way[pool.submit(_render, line, folder, suffix)] = line
                while under_way:
                    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
                        del under_way[future]
                        for line in itertools.islice(waiting, 1):
                            under_way[pool.submit(_render, line, folder, suffix)] = line
        for line in under_way.values():
            rest = True
            yield _failed(line, "internal", "a process died while it spoke; run again to retry")


def _pool(config: "Config", n_jobs: int) -> ProcessPoolExecutor:
    # A fork would inherit the threads' locks of ONNX Runtime.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n_jobs, context, initializer=_open_voice, initargs=(config,))


def _open_voice(config: "Config") -> None:
    from edge_tts.speaker import open_speaker

    global _speaker  # noqa: PLW0603 - a pool hands its processes nothing else
    _speaker = open_speaker(config)


def _render(line: Line, folder: Path, suffix: str) -> Result:
    if _speaker is None:
        return _failed(line, "internal", "the voice is not open")
    return render_line(_speaker, line, folder, suffix)


def _failed(line: Line, code: str, message: str) -> Result:
    return Result(line.number, line.name, line.digest, "failed", code=code, message=message)
