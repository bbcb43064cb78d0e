"""A real service process for the benches: started, spoken to, stopped."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Optional, Type

import psutil

from edge_tts.errors import ServiceError
from edge_tts.service.client import Client
from edge_tts.service.codec import Frame

START_S = 60.0
_ANONYMOUS = re.compile(r"^(?:Pss_Anon|SwapPss):\s+(\d+) kB$", re.MULTILINE)


class RunningService:
    """`edge-tts service` in `folder`, with `service.` options as keywords."""

    def __init__(
        self, folder: Path, *, environment: Optional[Dict[str, str]] = None, **options: Any
    ):
        self.socket = folder / "edge-tts.sock"
        self._folder = folder
        self._environment = environment
        lines = ["service:", f"  socket: {self.socket}", f"  prompts: {folder / 'prompts'}"]
        lines += [f"  {name}: {value}" for name, value in options.items()]
        self._config = folder / "config.yaml"
        self._config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.start_s = 0.0
        """Seconds from the start to a ready voice and an open output."""
        self.process: "Optional[subprocess.Popen[bytes]]" = None

    def __enter__(self) -> "RunningService":
        command = [sys.executable, "-m", "edge_tts", "service", "--config", str(self._config)]
        log = (self._folder / "service.log").open("wb")
        with log:
            self.process = subprocess.Popen(command, stderr=log, env=self._environment)
        began_s = time.monotonic()
        deadline_s = began_s + START_S
        while time.monotonic() < deadline_s and self.process.poll() is None:
            if self.is_ready():
                self.start_s = time.monotonic() - began_s
                return self
            time.sleep(0.05)
        self.stop()
        raise ServiceError(f"the service did not start:\n{self.log()}")

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    def stop(self) -> int:
        """SIGTERM and wait; returns the exit code."""
        assert self.process is not None  # noqa: S101 - only after __enter__
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def log(self) -> str:
        """What the service has written to stderr."""
        return (self._folder / "service.log").read_text(encoding="utf-8", errors="replace")

    def client(self) -> Client:
        """A new connection."""
        return Client(self.socket)

    def worker_pid(self) -> Optional[int]:
        """The worker's process id, None while there is none."""
        children = self.processes()[1:]
        return children[0].pid if children else None

    def processes(self) -> List[psutil.Process]:
        """The front process first, then its descendants."""
        assert self.process is not None  # noqa: S101 - only after __enter__
        front = psutil.Process(self.process.pid)
        return [front, *front.children(recursive=True)]

    def anonymous_mib(self) -> float:
        """The tree's memory that no file backs, which is what leaks.

        The budget's figure counts pages of program files as well, in shares: it rises when another
        program that had them mapped, a test say, ends.
        """
        texts = [Path(f"/proc/{p.pid}/smaps_rollup").read_text() for p in self.processes()]
        return sum(int(kib) for text in texts for kib in _ANONYMOUS.findall(text)) / 1024

    @staticmethod
    def poll(client: Client, timeout_s: float) -> Optional[Frame]:
        """The next frame, None when none comes within `timeout_s`."""
        try:
            return client.receive(timeout_s)
        except ServiceError as error:
            if isinstance(error.__cause__, socket.timeout):
                return None
            raise

    def is_ready(self) -> bool:
        """True when the voice is loaded and the output works."""
        try:
            with self.client() as client:
                status = client.status()
        except ServiceError:
            return False
        has_output = status["device"]["state"] in ("open", "resting")
        return bool(status["worker"]["state"] == "ready" and has_output)
