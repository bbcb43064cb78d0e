"""The front process: builds the parts, listens, watches, and shuts down in order."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import signal
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

from edge_tts.errors import EXIT_BUSY, EXIT_OK, BudgetError, EdgeTTSError
from edge_tts.service import memory
from edge_tts.service.announcer import RETRY_S, Announcer, AnnouncerSettings
from edge_tts.service.budget import Budget, Ladder, Step
from edge_tts.service.connection import Connection, ConnectionLimits
from edge_tts.service.duck import Duck, DuckHook, release_left_over
from edge_tts.service.http_child import HttpChild
from edge_tts.service.notify import Notifier, watchdog_s
from edge_tts.service.output import Output
from edge_tts.service.player import Player, PlayerEvent
from edge_tts.service.prompts import PromptStore
from edge_tts.service.renderer import DEFAULT_ATTEMPTS, Renderer
from edge_tts.service.replies import VoiceFacts
from edge_tts.service.scheduling import Reason, Selector
from edge_tts.service.status import snapshot
from edge_tts.service.supervisor import Supervisor, WorkerPolicy, WorkerState

_log = logging.getLogger(__name__)

_MEASURE_IDLE_EVERY = 5  # seconds
_PLAYER_SILENCE_S = 10.0
_MAX_SYNTHESES = 64
EXIT_INTERNAL = 1


@dataclass(frozen=True)
class FrontSettings:
    """Everything the front process needs to know, already checked."""

    worker_command: List[str]
    prompts: Path
    announcer: AnnouncerSettings = field(default_factory=AnnouncerSettings)
    worker: WorkerPolicy = field(default_factory=WorkerPolicy)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    budget_mib: float = 1000.0
    ladder: Ladder = field(default_factory=Ladder)
    n_attempts: int = DEFAULT_ATTEMPTS
    drain_s: float = 5.0
    keep_warm_s: float = math.inf
    duck: Optional[DuckHook] = None
    facts: Optional[VoiceFacts] = None


class Front:
    """Create it inside the running event loop, then `run` it."""

    def __init__(
        self, settings: FrontSettings, output: Output, http: Optional[HttpChild] = None
    ) -> None:
        self.settings = settings
        self._http = http
        self._loop = asyncio.get_event_loop()
        self._started_s = time.monotonic()
        self._n_connected = 0
        self._connections: Set[Connection] = set()
        self._stopped = asyncio.Event()
        self._exit_code = EXIT_OK
        self._notifier = Notifier()
        self._budget = Budget(settings.budget_mib, settings.ladder)
        self._memory = memory.MemoryUse(0, 0, 0)
        self._duck = Duck(settings.duck)
        self._is_recycle_due = False
        self.supervisor = Supervisor(settings.worker_command, settings.worker)
        self.supervisor.on_change = self._on_worker
        self._renderer = Renderer(self.supervisor, settings.n_attempts)
        self.announcer = Announcer(
            settings.announcer,
            self.supervisor,
            self._renderer,
            PromptStore(settings.prompts),
            self._duck,
        )
        self.announcer.facts = settings.facts
        self.player = Player(output, self._on_player_thread, settings.keep_warm_s)
        self.announcer.player = self.player

    # --- life --------------------------------------------------------------------------------

    async def run(self, listeners: List[socket.socket]) -> int:
        """Serve until `request_stop` or the budget ends the service; returns the exit code."""
        if self.settings.duck is not None and release_left_over(self.settings.duck):
            _log.warning("released the duck hook that an earlier service left held")
        self.player.start()
        keeper = self.supervisor.start()
        servers = [await self._listen(listener) for listener in listeners]
        tasks = [self._loop.create_task(coroutine) for coroutine in self._watches()]
        for task in [*tasks, keeper]:
            task.add_done_callback(self._on_task_done)
        try:
            await self._stopped.wait()
            await self._drain()
        finally:
            for server in servers:
                server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._close()
        return self._exit_code

    def request_stop(self) -> None:
        """Begin to shut down: no new work, drain, exit."""
        self.announcer.refusal = "service.stopping"
        self._notifier.stopping()
        self._stopped.set()

    async def _listen(self, listener: socket.socket) -> asyncio.AbstractServer:
        listener.setblocking(False)
        if listener.family == socket.AF_UNIX:
            return await self._loop.create_unix_server(self._new_connection, sock=listener)
        return await self._loop.create_server(self._new_connection, sock=listener)

    def _new_connection(self) -> Connection:
        self._n_connected += 1
        return Connection(f"connection-{self._n_connected}", self)

    def _watches(self) -> "List[Any]":
        return [
            self._renderer.run(),
            self._watch_memory(),
            self._announce_ready(),
            self._feed_watchdog(),
            *([self._http.run()] if self._http is not None else []),
        ]

    def _on_task_done(self, task: "asyncio.Future[None]") -> None:
        """A part that fails would leave the service mute: end it, for systemd to start it anew."""
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            _log.critical("a part of the service has failed", exc_info=fault)
            self._exit_code = EXIT_INTERNAL
            self.request_stop()

    async def _drain(self) -> None:
        """Let what speaks and waits come to its end, for a bounded time."""
        deadline_s = time.monotonic() + self.settings.drain_s
        self.announcer.resume()
        while self.announcer.n_live and time.monotonic() < deadline_s:
            await asyncio.sleep(0.02)

    async def _close(self) -> None:
        self.announcer.stop(Selector(), Reason.SHUTDOWN)
        for connection in list(self._connections):
            connection.close()
        await self._loop.run_in_executor(None, self.player.close)
        await self.supervisor.close()
        await self._duck.close()

    # --- connections -------------------------------------------------------------------------

    def register(self, connection: Connection) -> bool:
        """Take a new client in; False when there are too many."""
        if len(self._connections) >= self.settings.connections.n_connections:
            return False
        self._connections.add(connection)
        return True

    def unregister(self, connection: Connection) -> None:
        """A client is gone."""
        self._connections.discard(connection)

    @property
    def n_syntheses(self) -> int:
        """Texts in synthesis for clients."""
        return sum(client.n_syntheses for client in self._connections)

    def check_n_syntheses(self) -> None:
        """Raise BudgetError when the worker has enough clients to serve."""
        if self.n_syntheses >= _MAX_SYNTHESES:
            raise BudgetError(
                f"{_MAX_SYNTHESES} texts are being synthesised; try again later",
                code="budget.queue_full",
            )

    def retry_s(self, fault: EdgeTTSError) -> Optional[float]:
        """When a refused client should try again; None for faults that time does not mend."""
        return RETRY_S if isinstance(fault, BudgetError) else None

    def status(self) -> Dict[str, Any]:
        """The snapshot that `edge-status` carries."""
        n_clients = len(self._connections)
        found = snapshot(self.announcer, self._budget, self._memory, self._started_s, n_clients)
        found["syntheses"] = self.n_syntheses
        found["http"] = self._http.status() if self._http is not None else {"state": "off"}
        return found

    # --- what the parts say ------------------------------------------------------------------

    def _on_player_thread(self, event: PlayerEvent) -> None:
        # At the very end the loop may be gone before the player's thread is.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.announcer.on_player_event, event)

    def _on_worker(self, state: WorkerState) -> None:
        if state is WorkerState.READY:
            self.announcer.facts = self.supervisor.facts
        self._renderer.wake()
        self._notifier.status(self._status_line())

    def _status_line(self) -> str:
        parts = []
        if self.supervisor.state is WorkerState.DEGRADED:
            parts.append("voice unavailable, speaking from the prompt store")
        elif self.supervisor.state is not WorkerState.READY:
            parts.append("loading the voice")
        if self.player.device_state == "lost":
            parts.append("no sound device, retrying")
        return "; ".join(parts) or "ready"

    # --- watches -----------------------------------------------------------------------------

    async def _announce_ready(self) -> None:
        """READY once the voice is warm and the device open, or both have had their chance."""
        await self.supervisor.settled()
        while self.player.device_state == "closed":
            await asyncio.sleep(0.02)
        self._notifier.status(self._status_line())
        self._notifier.ready()
        _log.info("ready after %.2f s", time.monotonic() - self._started_s)

    async def _feed_watchdog(self) -> None:
        """Feed systemd's watchdog while loop and player come round.

        A hung worker is the supervisor's to restart, and a supervisor that cannot is in the loop.
        A sound library that hangs is given up a few times and then needs a new process.
        """
        period_s = watchdog_s()
        if period_s is None:
            return
        while True:
            self._notifier.status(self._status_line())
            comes_round = time.monotonic() - self.player.progress_at_s < _PLAYER_SILENCE_S
            if comes_round and not self.player.is_hung:
                self._notifier.alive()
            await asyncio.sleep(period_s / 4)

    async def _watch_memory(self) -> None:
        """Measure every second while anything happens: it is most of the work of an idle front."""
        activity: Optional[Tuple[int, ...]] = None
        for n_seconds in itertools.count():
            before, activity = activity, self._activity()
            if activity != before or self._is_busy or n_seconds % _MEASURE_IDLE_EVERY == 0:
                await self._measure_memory()
            if self._is_recycle_due and not self.supervisor.is_rendering:
                self._is_recycle_due = False
                self.supervisor.recycle()
            await asyncio.sleep(1.0)

    async def _measure_memory(self) -> None:
        facts = self.supervisor.facts
        device_bytes = 0 if facts is None else facts.device_bytes
        http_pid = None if self._http is None else self._http.pid
        self._memory = await self._loop.run_in_executor(
            None, memory.measure, device_bytes, http_pid
        )
        for step in self._budget.measured(self._memory.total_mib, time.monotonic()):
            self._take(step)
        if self.announcer.refusal != "service.stopping":
            self.announcer.refusal = "budget.busy" if self._budget.refuses else None

    @property
    def _is_busy(self) -> bool:
        is_working = self.announcer.n_live or len(self._renderer)
        return bool(is_working) or self._budget.step is not Step.NONE

    def _activity(self) -> Tuple[int, ...]:
        """Grows with whatever happens to the service."""
        n_restarts = self.supervisor.n_restarts
        return self.announcer.metrics.accepted, n_restarts, self._n_connected

    def _take(self, step: Step) -> None:
        _log.warning("memory %.0f MiB: step %s", self._memory.total_mib, step.name.lower())
        if step is Step.TRIM:
            self.announcer.cache.clear()
            self.supervisor.trim()
        elif step is Step.RECYCLE:
            self._is_recycle_due = True
        elif step is Step.STOP_LARGEST:
            self._stop_largest()
        elif step is Step.RESTART:
            self.supervisor.recycle()
        elif step is Step.EXIT:
            self._exit_code = EXIT_BUSY
            self.request_stop()

    def _stop_largest(self) -> None:
        """End all work of the session that holds most; a client's syntheses are its session's."""
        held = {name: n_bytes for name, _, n_bytes in self.announcer.sessions.usage()}
        for client in self._connections:
            held[client.name] = held.get(client.name, 0) + client.held_bytes
        largest = max(held, key=lambda name: held[name], default=None)
        if largest is None:
            return
        self.announcer.stop(Selector(session=largest), Reason.BUDGET)
        fault = BudgetError("ended to free memory; try again later", code="budget.busy")
        for client in [client for client in self._connections if client.name == largest]:
            client.end_syntheses(fault)


async def serve(
    settings: FrontSettings,
    output: Output,
    listeners: List[socket.socket],
    http: Optional[HttpChild] = None,
) -> int:
    """Run a front until SIGTERM, SIGINT or the budget ends it; returns the exit code."""
    front = Front(settings, output, http)
    loop = asyncio.get_event_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, front.request_stop)
    return await front.run(listeners)
