"""Starts a whole front process inside the test, on the tone source, and talks to it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import threading
from pathlib import Path
from typing import Any, Iterator, List, Optional

import numpy as np
from tone_source import tone

from edge_tts.service.announcer import AnnouncerSettings
from edge_tts.service.client import Client
from edge_tts.service.codec import Frame
from edge_tts.service.front import Front, FrontSettings
from edge_tts.service.output import FileOutput, Output
from edge_tts.service.sockets import listen_unix
from edge_tts.service.supervisor import WorkerPolicy, worker_command

FAST_WORKER = WorkerPolicy(silence_s=2.0, first_pause_s=0.01, longest_pause_s=0.05)


class PacedOutput(FileOutput):
    """A file that is written no faster than it would be heard."""

    def __init__(self, path: Path, speed: float = 1.0) -> None:
        super().__init__(path)
        self.speed = speed
        self.heard: List[np.ndarray] = []
        self._busy_until_s = 0.0
        self._queue_s = 0.0

    def write(self, chunk: Any) -> None:
        import time

        super().write(chunk)
        self.heard.append(chunk.samples)
        time.sleep(len(chunk.samples) / chunk.sample_rate_hz / self.speed)


class RunningFront:
    """A front on its own thread."""

    def __init__(self, settings: FrontSettings, output: Output, path: Path) -> None:
        self.path = path
        self.exit_code: Optional[int] = None
        self.front: Front = None  # type: ignore[assignment]
        self.loop: asyncio.AbstractEventLoop = None  # type: ignore[assignment]
        self._listener = listen_unix(path)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(settings, output), daemon=True)
        self._thread.start()
        self._started.wait(10)

    def _run(self, settings: FrontSettings, output: Output) -> None:
        async def main() -> int:
            self.front = Front(settings, output)
            self.loop = asyncio.get_event_loop()
            self._started.set()
            return await self.front.run([self._listener])

        self.exit_code = asyncio.run(main())

    def call(self, function: Any, *args: Any) -> Any:
        """Run a function on the loop's thread and return its result."""

        async def on_loop() -> Any:
            return function(*args)

        return asyncio.run_coroutine_threadsafe(on_loop(), self.loop).result(5)

    def wait_ready(self) -> None:
        """Return when the worker is ready to render."""
        asyncio.run_coroutine_threadsafe(self.front.supervisor.settled(), self.loop).result(10)

    def client(self) -> Client:
        return Client(self.path)

    def stop(self) -> None:
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.front.request_stop)
            self._thread.join(15)
        assert not self._thread.is_alive()


@contextlib.contextmanager
def running(tmp_path: Path, output: Optional[Output] = None, **changes: Any) -> Iterator[Any]:
    """A running front; `changes` replace fields of its settings, `options` are the worker's."""
    options = changes.pop("options", [])
    source = changes.pop("source", "tone_source:open_tone")
    settings = FrontSettings(
        worker_command=worker_command(source, options),
        prompts=tmp_path / "prompts",
        announcer=AnnouncerSettings(),
        worker=FAST_WORKER,
    )
    settings = dataclasses.replace(settings, **changes)
    front = RunningFront(settings, output or FileOutput(tmp_path / "out.pcm"), tmp_path / "s.sock")
    try:
        yield front
    finally:
        front.stop()


def pcm(path: Path) -> np.ndarray:
    return np.frombuffer(path.read_bytes(), dtype="<i2")


def expected(*sentences: str) -> np.ndarray:
    from edge_tts.audio.wav import to_pcm16

    return np.concatenate([to_pcm16(tone(sentence)) for sentence in sentences])


def until_finished(client: Client, uid: Optional[str] = None) -> List[Frame]:
    frames = []
    while True:
        frames.append(client.receive(20.0))
        last = frames[-1]
        if last.type == "edge-finished" and uid in (None, last.data["id"]):
            return frames
