"""The HTTP process beside the front: started with it, restarted when it dies, ended with it.

The front owns the listening socket, so that connections wait while the process is replaced, and
knows nothing of HTTP. A socket pair is the child's standard input: either end sees the other's
death at once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

if TYPE_CHECKING:
    from edge_tts.config import Http

_log = logging.getLogger(__name__)

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 30.0
# A life of this length is not part of a row of failures.
_STEADY_S = 60.0
_GRACE_S = 4.0


class HttpChild:
    """Owner of the HTTP process and of its listening socket."""

    def __init__(self, command: Sequence[str], listener: socket.socket) -> None:
        self._command = list(command)
        self._listener = listener
        self._process: "Optional[subprocess.Popen[bytes]]" = None
        self.n_restarts = 0

    @property
    def pid(self) -> Optional[int]:
        """Process id, None while there is no process."""
        return self._process.pid if self._process is not None else None

    def status(self) -> Dict[str, Any]:
        """What the service's status tells of it."""
        return {
            "state": "restarting" if self._process is None else "running",
            "restarts": self.n_restarts,
        }

    async def run(self) -> None:
        """Keep a process alive until cancelled; then end it."""
        n_failures = 0
        try:
            while True:
                began_s = time.monotonic()
                await self._one_life()
                lasted_s = time.monotonic() - began_s
                n_failures = 1 if lasted_s > _STEADY_S else n_failures + 1
                self.n_restarts += 1
                _log.warning("the HTTP process is gone after %.1f s", lasted_s)
                await asyncio.sleep(_pause_s(n_failures))
        finally:
            await self._end()
            self._listener.close()

    async def _one_life(self) -> None:
        """Start a process and return when it is gone."""
        ours, theirs = socket.socketpair()
        descriptor = self._listener.fileno()
        try:
            self._process = subprocess.Popen(
                [*self._command, "--fd", str(descriptor)],
                stdin=theirs.fileno(),
                pass_fds=[descriptor],
            )
        except OSError as error:
            ours.close()
            _log.error("cannot start the HTTP process: %s", error.strerror)
            return
        finally:
            theirs.close()
        ours.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            await reader.read()
        finally:
            writer.close()
        await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            await asyncio.get_event_loop().run_in_executor(None, _reap, process)


def _reap(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pause_s(n_failures: int) -> float:
    return min(_FIRST_PAUSE_S * 2.0 ** min(n_failures - 1, 20), _LONGEST_PAUSE_S)


def http_command(http: "Http", service: Path) -> List[str]:
    """Command line of a process that answers HTTP for the service on the socket `service`."""
    options = {**vars(http), "token_file": http.token_file and str(http.token_file)}
    command = [sys.executable, "-m", "edge_tts.http.server", "--socket", str(service)]
    return [*command, "--options", json.dumps(options)]
