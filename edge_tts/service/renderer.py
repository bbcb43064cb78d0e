"""Shares the one worker among everything that wants sound, a segment at a time."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional, Protocol, Sequence

from edge_tts.errors import EdgeTTSError
from edge_tts.service.supervisor import (
    RenderCancelledError,
    Supervisor,
    WorkerLostError,
    WorkerState,
)
from edge_tts.service.worker_link import Begun, Reply

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.service.messages import Manner

DEFAULT_ATTEMPTS = 5
_LOOK_AGAIN_S = 0.1


class Receiver(Protocol):
    """Who gets the sound of a job."""

    def wants_sound(self) -> bool:
        """False while enough sound is waiting to be heard or sent."""

    def segment_begun(self, segment: int, start: int, end: int) -> None:
        """A segment begins; [start, end) is its span in the text."""

    def sound(self, chunk: "AudioChunk") -> None:
        """The next samples, none lost and none repeated."""

    def rendered(self, unspoken: Sequence[str]) -> None:
        """The text has been rendered to its end; `unspoken` is what it held beside speech."""

    def failed(self, fault: EdgeTTSError) -> None:
        """No more sound will come."""


class Job:
    """A text to be rendered for a session, and how far it has come: to the sample."""

    def __init__(
        self,
        uid: str,
        text: str,
        manner: "Manner",
        receiver: Receiver,
        session: str,
        *,
        is_urgent: bool,
    ) -> None:
        self.uid = uid
        self.session = session
        self.text = text
        self.manner = manner
        self.receiver = receiver
        self.is_urgent = is_urgent
        self.segment = 0
        self.n_received = 0
        self.n_attempts = 0
        self.turn = 0
        """Place of its session among the sessions, the smallest next."""

    def take(self, reply: Reply) -> None:
        """Pass a reply on, leaving out what an earlier worker has already delivered."""
        if isinstance(reply, Begun):
            if self.n_received == 0:
                self.receiver.segment_begun(self.segment, reply.start, reply.end)
            return
        chunk = reply.chunk  # type: ignore[union-attr]
        known = self.n_received - chunk.offset
        if known > 0:
            # A chunk that is known whole still tells that the segment is over.
            if known >= len(chunk.samples) and not chunk.is_final:
                return
            chunk = dataclasses.replace(
                chunk, samples=chunk.samples[known:], offset=chunk.offset + known
            )
        self.n_received += len(chunk.samples)
        self.n_attempts = 0
        self.receiver.sound(chunk)

    def next_segment(self) -> None:
        """The segment is complete."""
        self.segment += 1
        self.n_received = 0
        self.n_attempts = 0


class Renderer:
    """Renders urgent jobs first, then those of the other sessions in turn, a segment of each.

    `n_attempts`: how many workers a segment may lose without one new sample before its text is
    given up. It is below the supervisor's `fallback_after`, so that one poisonous text does not
    silence the ones after it.
    """

    def __init__(self, supervisor: Supervisor, n_attempts: int = DEFAULT_ATTEMPTS) -> None:
        self._supervisor = supervisor
        self._n_attempts = n_attempts
        self._jobs: Dict[str, Job] = {}
        self._turn = 0
        self._current: Optional[Job] = None
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, job: Job) -> None:
        """Begin to render a job; an urgent one cuts a segment that is not."""
        peers = self._of_session(job.session)
        self._jobs[job.uid] = job
        if peers:
            job.turn = peers[0].turn
        else:
            self._go_last([job])
        if job.is_urgent and self._current is not None and not self._current.is_urgent:
            self._supervisor.cancel()
        self._changed.set()

    def promote(self, uid: str) -> bool:
        """Make a job urgent; False when there is none of this id."""
        job = self._jobs.get(uid)
        if job is None:
            return False
        job.is_urgent = True
        self.add(job)
        return True

    def remove(self, uid: str) -> None:
        """Give a job up; its receiver hears no more of it."""
        job = self._jobs.pop(uid, None)
        if job is not None and job is self._current:
            self._supervisor.cancel()

    def wake(self) -> None:
        """A receiver may want sound again."""
        self._changed.set()

    async def run(self) -> None:
        """Render until cancelled."""
        while True:
            job = self._next()
            if job is None:
                await self._wait()
                continue
            self._current = job
            try:
                await self._render_segment(job)
            finally:
                self._current = None

    async def _wait(self) -> None:
        self._changed.clear()
        # Whether a receiver wants sound changes with time: look again while there are jobs.
        timeout_s = _LOOK_AGAIN_S if self._jobs else None
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout_s)

    def _next(self) -> Optional[Job]:
        wanting = [job for job in self._jobs.values() if job.receiver.wants_sound()]
        if not wanting:
            return None
        return min(wanting, key=lambda job: (not job.is_urgent, job.turn))

    def _of_session(self, session: str) -> List[Job]:
        return [job for job in self._jobs.values() if job.session == session]

    def _go_last(self, jobs: Iterable[Job]) -> None:
        self._turn += 1
        for job in jobs:
            job.turn = self._turn

    async def _render_segment(self, job: Job) -> None:
        try:
            if await self._supervisor.settled() is WorkerState.DEGRADED:
                self._fail(job, self._unavailable())
                return
            if job.uid not in self._jobs:
                return
            done = await self._supervisor.render(
                job.uid, job.text, job.manner, job.segment, job.take
            )
        except RenderCancelledError:
            return
        except WorkerLostError as fault:
            job.n_attempts += 1
            if job.n_attempts >= self._n_attempts:
                self._fail(job, fault)
            return
        except EdgeTTSError as fault:
            self._fail(job, fault)
            return
        if not done.exhausted:
            job.next_segment()
            self._go_last(self._of_session(job.session))
        elif self._jobs.pop(job.uid, None) is job:
            job.receiver.rendered(done.unspoken)

    def _unavailable(self) -> EdgeTTSError:
        reason = self._supervisor.last_fault or "its worker fails again and again"
        return WorkerLostError(f"the voice is not available: {reason}")

    def _fail(self, job: Job, fault: EdgeTTSError) -> None:
        if self._jobs.pop(job.uid, None) is job:
            job.receiver.failed(fault)
