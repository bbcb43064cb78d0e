"""Keeps one worker process alive and renders segments through it.

The worker's death is noticed through its socket. It is restarted at once, then with growing
pauses while it fails without having rendered anything; after `fallback_after` such failures the
state is DEGRADED, in which the service speaks from its prompt store, while restarts go on.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence

from edge_tts.errors import CODES, EdgeTTSError, EngineError, InputError, ModelError, ServiceError
from edge_tts.service.link import WorkerLink
from edge_tts.service.messages import Manner
from edge_tts.service.replies import VoiceFacts
from edge_tts.service.worker_link import (
    Begun,
    Cancel,
    Failed,
    Order,
    Piece,
    Ping,
    Ready,
    Render,
    Rendered,
    Reply,
    Trim,
)

_log = logging.getLogger(__name__)


class WorkerState(str, enum.Enum):
    """Where the worker stands."""

    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    DEGRADED = "degraded"
    STOPPED = "stopped"


@dataclass(frozen=True)
class WorkerPolicy:
    """Times in seconds. `silence_s`: how long a busy worker may say nothing before it is hung."""

    start_s: float = 60.0
    silence_s: float = 20.0
    ping_every_s: float = 5.0
    fallback_after: int = 6
    first_pause_s: float = 0.25
    longest_pause_s: float = 30.0


class WorkerLostError(ServiceError):
    """The worker died or hung in the middle of a request; the request may be made again."""

    default_code = "service.worker_lost"


class RenderCancelledError(ServiceError):
    """The request was cancelled by `Supervisor.cancel`."""


Deliver = Callable[[Reply], None]


class Supervisor:
    """Owner of the worker process. All methods belong to the event loop's thread."""

    def __init__(self, command: Sequence[str], policy: WorkerPolicy) -> None:
        self._command = list(command)
        self._policy = policy
        self._state = WorkerState.STOPPED
        self._changed = asyncio.Event()
        self._link: Optional[WorkerLink] = None
        self._process: "Optional[subprocess.Popen[bytes]]" = None
        self._task: "Optional[asyncio.Task[None]]" = None
        self._request = 0
        self._current = 0
        self._failures = 0
        self._is_planned_exit = False
        self.facts: Optional[VoiceFacts] = None
        self.last_fault: Optional[EdgeTTSError] = None
        self.n_restarts = 0
        self.on_change: Callable[[WorkerState], None] = lambda state: None

    @property
    def state(self) -> WorkerState:
        """Where the worker stands now."""
        return self._state

    @property
    def pid(self) -> Optional[int]:
        """Process id of the worker, None while there is none."""
        return self._process.pid if self._process is not None else None

    @property
    def is_rendering(self) -> bool:
        """True while a request is under way."""
        return self._current != 0

    def start(self) -> "asyncio.Task[None]":
        """Begin to keep a worker alive; the task ends only by `close` or by a fault."""
        self._task = asyncio.get_event_loop().create_task(self._keep_alive())
        return self._task

    async def close(self) -> None:
        """End the worker and stop restarting it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        self._end_process()
        self._set_state(WorkerState.STOPPED)

    async def settled(self) -> WorkerState:
        """Wait until the worker is READY or DEGRADED; returns which."""
        while self._state not in (WorkerState.READY, WorkerState.DEGRADED):
            self._changed.clear()
            await self._changed.wait()
        return self._state

    async def render(
        self, uid: str, text: str, manner: Manner, segment: int, deliver: Deliver
    ) -> Rendered:
        """Render one segment; `deliver` gets `Begun` and each `Piece` as they come.

        The answer is `exhausted` when the text has no such segment. Raises `WorkerLostError`,
        `RenderCancelledError`, or the worker's own error. One render at a time.
        """
        link = self._link
        if link is None or self._state is not WorkerState.READY:
            raise WorkerLostError("there is no worker")
        self._request += 1
        self._current = request = self._request
        link.want(request)
        link.send(Render(request, uid, text, manner, segment))
        link.watch(self._policy.silence_s)
        try:
            return await self._collect(link, request, deliver)
        finally:
            if self._current == request:
                self._current = 0
            link.watch(None)

    def cancel(self) -> None:
        """End the render under way by `RenderCancelledError`, without waiting for the worker."""
        if self._current and self._link is not None:
            self._link.send(Cancel(self._current))
            self._current = 0
            self._link.want(0)

    def trim(self) -> None:
        """Ask the worker to give memory back."""
        self._send(Trim())

    def recycle(self) -> None:
        """Replace the worker by a new one, as a planned step. Cuts a render under way."""
        if self._process is not None:
            self._is_planned_exit = True
            self._set_state(WorkerState.RESTARTING)
            self._end_process()

    def kill(self) -> None:
        """Kill the worker; it counts as a failure unless it has rendered since its start."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)

    # --- one request -------------------------------------------------------------------------

    async def _collect(self, link: WorkerLink, request: int, deliver: Deliver) -> Rendered:
        while True:
            reply = await link.next_reply()
            if self._current != request:
                raise RenderCancelledError("the request was cancelled")
            if reply is None and link.is_lost:
                # Said here, before the keeper of the process has its turn, so that whoever asks
                # again waits for the next worker.
                self._set_state(WorkerState.RESTARTING)
                raise WorkerLostError("the worker was lost; it is being restarted")
            if isinstance(reply, Failed):
                raise _fault(reply)
            if isinstance(reply, Rendered):
                return reply
            if isinstance(reply, Ready):
                self.facts = reply.facts
            if isinstance(reply, (Begun, Piece)):
                if isinstance(reply, Piece):
                    self._failures = 0
                deliver(reply)

    def _send(self, order: Order) -> None:
        if self._link is not None and self._state is WorkerState.READY:
            self._link.send(order)

    # --- life of the process -----------------------------------------------------------------

    async def _keep_alive(self) -> None:
        self._set_state(WorkerState.STARTING)
        while True:
            await self._one_life()
            self._end_process()
            if self._is_planned_exit:
                self._is_planned_exit = False
                self._set_state(WorkerState.RESTARTING)
                continue
            self._failures += 1
            self.n_restarts += 1
            degraded = self._failures >= self._policy.fallback_after
            self._set_state(WorkerState.DEGRADED if degraded else WorkerState.RESTARTING)
            await asyncio.sleep(self._pause_s())

    def _pause_s(self) -> float:
        if self._failures <= 1:
            return 0.0
        pause_s = self._policy.first_pause_s * 2.0 ** min(self._failures - 2, 20)
        return min(pause_s, self._policy.longest_pause_s)

    async def _one_life(self) -> None:
        """Start a worker and return when it is gone."""
        try:
            link = await self._spawn()
        except OSError as error:
            # No memory or no descriptors for one more process: that may pass.
            self.last_fault = EngineError(f"cannot start the worker: {error.strerror}")
            _log.error("%s", self.last_fault)
            return
        self._link = link
        link.watch(self._policy.start_s)
        while True:
            first = await link.next_reply()
            if isinstance(first, Failed):
                self.last_fault = _fault(first)
                _log.error("the worker cannot load its voice: %s", self.last_fault)
            if isinstance(first, Ready):
                break
            if first is None and link.is_lost:
                return
        link.watch(None)
        self.facts = first.facts
        self._set_state(WorkerState.READY)
        await self._heartbeat(link)
        _log.warning("the worker is gone")

    async def _heartbeat(self, link: WorkerLink) -> None:
        """Ping while idle; returns when the link is lost."""
        while not await link.lost_within(self._policy.ping_every_s):
            if not self._current:
                self._request += 1
                link.ping(Ping(self._request), self._policy.silence_s)

    async def _spawn(self) -> WorkerLink:
        ours, theirs = socket.socketpair()
        command = [*self._command[:3], "--fd", str(theirs.fileno()), *self._command[3:]]
        try:
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        finally:
            theirs.close()
        ours.setblocking(False)
        link = WorkerLink(self.kill)
        await asyncio.get_event_loop().create_connection(lambda: link, sock=ours)
        return link

    def _end_process(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _set_state(self, state: WorkerState) -> None:
        if state is self._state:
            return
        self._state = state
        _log.info("worker %s at %.3f", state.value, time.monotonic())
        self._changed.set()
        self.on_change(state)


def worker_command(source: str, options: Sequence[str]) -> List[str]:
    """Command line of a worker that speaks through `source` (MODULE:CALLABLE)."""
    command = [sys.executable, "-m", "edge_tts.service.worker", "--source", source]
    return [*command, *options]


def worker_environment() -> None:
    """Variables the worker must inherit: one malloc arena keeps a threaded process small."""
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")


_FAULTS = {"input": InputError, "model": ModelError, "engine": EngineError}


def _fault(failed: Failed) -> EdgeTTSError:
    code = failed.code if failed.code in CODES else "internal"
    kind = _FAULTS.get(code.split(".")[0], EdgeTTSError)
    return kind(failed.message, code=code)
