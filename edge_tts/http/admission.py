"""Who may speak now, who waits and who is refused; and the counts of all of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Optional

from edge_tts.errors import BudgetError


@dataclass
class Counts:
    """What `/metrics` shows since the process began."""

    requests: int = 0
    refusals: int = 0
    sound_s: float = 0.0


class Admission:
    """One utterance at a time, for a voice is not thread-safe; a bounded number waits its turn.

    Used from one event loop only.
    """

    def __init__(self, max_requests: int) -> None:
        self.counts = Counts()
        self.active = 0
        self._max_requests = max_requests
        self._turn: Optional[asyncio.Lock] = None

    async def enter(self) -> None:
        """Wait for the turn. Raises BudgetError `budget.queue_full` at once where too many wait."""
        if self.active >= self._max_requests:
            raise BudgetError(
                f"{self.active} requests are being spoken or waiting; try again in a second",
                code="budget.queue_full",
            )
        if self._turn is None:  # Python 3.8 binds a lock to the loop it is made in
            self._turn = asyncio.Lock()
        self.active += 1
        try:
            await self._turn.acquire()
        except BaseException:
            self.active -= 1
            raise

    def leave(self) -> None:
        """Give the turn to the next."""
        self.active -= 1
        if self._turn is not None:
            self._turn.release()

    def prometheus(self) -> str:
        """The counts in the text format of Prometheus."""
        rows = (
            ("requests_total", "counter", self.counts.requests),
            ("refusals_total", "counter", self.counts.refusals),
            ("active_requests", "gauge", self.active),
            ("sound_seconds_total", "counter", round(self.counts.sound_s, 3)),
        )
        return "".join(
            f"# TYPE edge_tts_http_{name} {kind}\nedge_tts_http_{name} {value}\n"
            for name, kind, value in rows
        )
