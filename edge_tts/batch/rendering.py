"""Lines to files: in this process, or shared among several with a voice each.

The default voice's graph speaks one segment at a time, so batches of sentences gain nothing;
processes do, as long as there are cores and memory for them. A voice that is faster together has
all cores in one process, and is told of some lines before it speaks them.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, Iterable, Iterator, Optional, Set

from edge_tts.batch.files import open_sink
from edge_tts.batch.lines import Line
from edge_tts.batch.manifest import Result
from edge_tts.errors import EdgeTTSError
from edge_tts.runtime.threads import usable_cpus

if TYPE_CHECKING:
    from edge_tts.config import Config
    from edge_tts.speaker import Speaker

LEAST_PROCESS_MIB = 400
"""What a process with the default voice takes at its peak, and room for what differs."""
WORKING_MIB = 200
"""What a process takes besides the files of its voice."""
OWN_MIB = 100
FORESEEN_LINES = 16
"""How many lines such a voice is told of at once; of them it makes batches of like lengths."""

_speaker: "Optional[Speaker]" = None
"""The voice of a process of the pool."""
_fault = ("internal", "the voice is not open")
"""Code and message of what kept it from being opened."""


def default_jobs(config: "Config") -> int:
    """Processes that fit the memory budget and the cores. Raises ModelError without the voice."""
    from edge_tts.voices import catalog

    if catalog.is_faster_together(config.voice):
        return 1
    voice_mib = catalog.find(config.voice).manifest.size_bytes >> 20
    process_mib = max(LEAST_PROCESS_MIB, WORKING_MIB + voice_mib)
    return max(1, min(usable_cpus(), (config.budget_mib - OWN_MIB) // process_mib))


def render_lines(
    speaker: "Speaker", lines: Iterable[Line], folder: Path, suffix: str
) -> Iterator[Result]:
    """Results in the order of the lines, spoken in this process."""
    waiting = iter(lines)
    while some := list(itertools.islice(waiting, FORESEEN_LINES)):
        if speaker.is_faster_together:
            # What fails together is tried again line by line, and that failure counts.
            with contextlib.suppress(EdgeTTSError):
                speaker.foresee((line.text, dict(line.delivery)) for line in some if not line.fault)
        for line in some:
            yield render_line(speaker, line, folder, suffix)


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
    is_over = False
    while not is_over:
        with _pool(config, n_jobs) as pool:
            crew = _Crew(waiting, partial(_submitted, pool, folder, suffix))
            with contextlib.suppress(BrokenProcessPool):
                crew.give(2 * n_jobs)
                while crew.under_way:
                    for result in crew.finished():
                        yield result
                        crew.give(1)
        is_over = not crew.given
        for line in crew.given.values():
            yield _failed(line, "internal", "a process died while it spoke; run again to retry")


class _Crew:
    """Lines that the processes of one pool have been given and have not brought back."""

    def __init__(self, waiting: Iterator[Line], submit: "Callable[[Line], Future[Result]]") -> None:
        self._waiting = waiting
        self._submit = submit
        self.given: Dict[int, Line] = {}
        self.under_way: "Set[Future[Result]]" = set()

    def give(self, n_lines: int) -> None:
        """Hand out at most `n_lines` more. Raises BrokenProcessPool."""
        for line in itertools.islice(self._waiting, n_lines):
            # First, so that a line which a broken pool refuses is not lost.
            self.given[line.number] = line
            self.under_way.add(self._submit(line))

    def finished(self) -> Iterator[Result]:
        """Wait for at least one result. Raises BrokenProcessPool."""
        done, self.under_way = wait(self.under_way, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            del self.given[result.line]
            yield result


def _submitted(
    pool: ProcessPoolExecutor, folder: Path, suffix: str, line: Line
) -> "Future[Result]":
    return pool.submit(_render, line, folder, suffix)


def _pool(config: "Config", n_jobs: int) -> ProcessPoolExecutor:
    # A fork would inherit the threads' locks of ONNX Runtime.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n_jobs, context, initializer=_open_voice, initargs=(config,))


def _open_voice(config: "Config") -> None:
    from edge_tts.speaker import open_speaker

    global _speaker, _fault  # noqa: PLW0603 - a pool hands its processes nothing else
    try:
        _speaker = open_speaker(config)
    except EdgeTTSError as error:
        _fault = (error.code, str(error))


def _render(line: Line, folder: Path, suffix: str) -> Result:
    if _speaker is None:
        return _failed(line, *_fault)
    return render_line(_speaker, line, folder, suffix)


def _failed(line: Line, code: str, message: str) -> Result:
    return Result(line.number, line.name, line.digest, "failed", code=code, message=message)
