"""How many texts may be in work for HTTP clients; and the counts of what became of requests."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Iterator, List

from edge_tts.errors import BudgetError


@dataclass
class Counts:
    """What `/metrics` adds to the service's own figures; since this process began."""

    answers: "Counter[int]" = field(default_factory=Counter)
    """Answers begun, by status."""
    n_left: int = 0
    """Clients that left before their speech was complete."""
    n_broken_off: int = 0
    """Answers that failed after their first byte."""
    sound_s: float = 0.0


class Admission:
    """Bounds the requests for speech. Used from one event loop only."""

    def __init__(self, n_requests: int) -> None:
        self.counts = Counts()
        self.n_active = 0
        self._n_requests = n_requests

    @contextlib.contextmanager
    def admitted(self) -> Iterator[None]:
        """One more request. Raises BudgetError `budget.queue_full` where there are too many."""
        if self.n_active >= self._n_requests:
            raise BudgetError(
                f"{self.n_active} texts are being spoken over HTTP or wait for it; "
                "try again in a second",
                code="budget.queue_full",
            )
        self.n_active += 1
        try:
            yield
        finally:
            self.n_active -= 1

    def prometheus(self) -> str:
        """The counts in Prometheus' text format."""
        counts = self.counts
        lines: List[str] = []
        for name, kind, value in (
            ("active_requests", "gauge", self.n_active),
            ("left_total", "counter", counts.n_left),
            ("broken_off_total", "counter", counts.n_broken_off),
            ("sound_seconds_total", "counter", round(counts.sound_s, 3)),
        ):
            lines += [f"# TYPE edge_tts_http_{name} {kind}", f"edge_tts_http_{name} {value}"]
        lines.append("# TYPE edge_tts_http_answers_total counter")
        for status, n_answers in sorted(counts.answers.items()):
            lines.append(f'edge_tts_http_answers_total{{status="{status}"}} {n_answers}')
        return "\n".join(lines) + "\n"
