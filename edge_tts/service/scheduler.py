"""Which utterance speaks: a pure state machine, with no clock and no I/O inside.

Every method is an event; it takes the time where time matters and returns the actions to carry
out, in order. `docs/service.md` holds the state table. Fairness is start-time fair queueing with
unit cost (Goyal, Vin, Cheng 1996): within a class each session's utterances take consecutive
turns, so a session that queues many cannot make one that queues few wait for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from edge_tts.errors import BudgetError
from edge_tts.service.scheduling import (
    Action,
    Continue,
    Finish,
    Halt,
    Hold,
    Interrupted,
    Policy,
    Priority,
    Reason,
    Selector,
    Start,
    Ticket,
)


@dataclass(eq=False)
class _Entry:
    """A live utterance. `was_cut` marks one that was interrupted and waits to go on."""

    ticket: Ticket
    turn: int
    order: int
    segment: int = 0
    was_cut: bool = False

    @property
    def rank(self) -> Tuple[int, bool, int, int]:
        return (self.ticket.priority, not self.was_cut, self.turn, self.order)


class Scheduler:
    """The queue of one output that can speak one utterance at a time."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._waiting: Dict[str, _Entry] = {}
        self._on_air: Optional[_Entry] = None
        self._paused = False
        self._order = 0
        self._current_turn: Dict[Priority, int] = dict.fromkeys(Priority, 0)
        self._last_turn: Dict[Tuple[Priority, str], int] = {}

    # --- what the queue looks like -------------------------------------------------------------

    @property
    def on_air(self) -> Optional[Ticket]:
        """The utterance that speaks or is held."""
        return self._on_air.ticket if self._on_air else None

    @property
    def paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._paused

    def waiting(self) -> List[Ticket]:
        """Waiting utterances, the next one first."""
        return [entry.ticket for entry in sorted(self._waiting.values(), key=lambda e: e.rank)]

    def upcoming(self) -> Optional[Start]:
        """What would start if the utterance on air ended now."""
        best = self._next_candidate()
        return None if best is None else Start(best.ticket.uid, best.segment)

    def next_expiry_s(self) -> Optional[float]:
        """When `tick` must next be called, on the clock of the tickets."""
        times = [entry.ticket.expires_at_s for entry in self._waiting.values()]
        return min((time for time in times if time is not None), default=None)

    # --- events --------------------------------------------------------------------------------

    def submit(self, ticket: Ticket, now_s: float) -> List[Action]:
        """Queue an utterance whose uid is not live. Raises `BudgetError` and changes nothing."""
        rivals = self._superseded_by(ticket)
        self._check_bounds(ticket, rivals)
        entry = self._enqueue(ticket, rivals)
        actions: List[Action] = []
        for rival in rivals:
            actions += self._end(rival, Reason.REPLACED)
        self._waiting[ticket.uid] = entry
        return actions + self._settle(now_s)

    def stop(self, selector: Selector, reason: Reason, now_s: float) -> List[Action]:
        """End every utterance that `selector` matches."""
        doomed = [entry for entry in self._live() if selector.matches(entry.ticket)]
        actions: List[Action] = []
        for entry in doomed:
            actions += self._end(entry, reason)
        return actions + self._settle(now_s)

    def completed(self, uid: str, reason: Reason, now_s: float) -> List[Action]:
        """The output has said the utterance on air to its end, or cannot say it."""
        entry = self._on_air
        if entry is None or entry.ticket.uid != uid:
            return []
        self._on_air = None
        return [Finish(uid, reason), *self._settle(now_s)]

    def progressed(self, uid: str, segment: int) -> None:
        """The utterance on air has begun to speak `segment`; a resume starts there."""
        if self._on_air is not None and self._on_air.ticket.uid == uid:
            self._on_air.segment = segment

    def pause(self) -> List[Action]:
        """Hold everything but alerts."""
        if self._paused:
            return []
        self._paused = True
        if self._on_air is not None and self._is_held(self._on_air):
            return [Hold(self._on_air.ticket.uid)]
        return []

    def resume(self, now_s: float) -> List[Action]:
        """Undo `pause`."""
        if not self._paused:
            return []
        held = self._on_air if self._on_air and self._is_held(self._on_air) else None
        self._paused = False
        actions = self._settle(now_s)
        if held is not None and self._on_air is held:
            return [Continue(held.ticket.uid), *actions]
        return actions

    def tick(self, now_s: float) -> List[Action]:
        """Time has passed: drop what has expired."""
        return self._settle(now_s)

    # --- rules ---------------------------------------------------------------------------------

    def _live(self) -> List[_Entry]:
        on_air = [self._on_air] if self._on_air else []
        return on_air + list(self._waiting.values())

    def _is_held(self, entry: _Entry) -> bool:
        return self._paused and entry.ticket.priority is not Priority.ALERT

    def _superseded_by(self, ticket: Ticket) -> List[_Entry]:
        """Live utterances of the same key; a more urgent one on air is left to finish."""
        if ticket.key is None:
            return []
        return [
            entry
            for entry in self._live()
            if entry.ticket.key == ticket.key
            and (entry is not self._on_air or entry.ticket.priority >= ticket.priority)
        ]

    def _check_bounds(self, ticket: Ticket, rivals: List[_Entry]) -> None:
        waiting = [e.ticket for e in self._waiting.values() if e not in rivals and not e.was_cut]
        depth = self._policy.classes[ticket.priority].depth
        if sum(other.priority is ticket.priority for other in waiting) >= depth:
            name = ticket.priority.name.lower()
            raise BudgetError(
                f"{depth} utterances of priority {name} already wait; try again later",
                code="budget.queue_full",
            )
        limit = self._policy.session_depth
        if sum(other.session == ticket.session for other in waiting) >= limit:
            raise BudgetError(
                f"session {ticket.session!r} already has {limit} utterances waiting",
                code="budget.session_full",
            )

    def _enqueue(self, ticket: Ticket, rivals: List[_Entry]) -> _Entry:
        """Give the ticket its place: a superseded one's place if it is of the same class."""
        self._order += 1
        peers = [rival for rival in rivals if rival.ticket.priority is ticket.priority]
        if peers:
            first = min(peers, key=lambda rival: rival.rank)
            return _Entry(ticket, first.turn, first.order)
        current = self._current_turn[ticket.priority]
        lane = (ticket.priority, ticket.session)
        turn = max(self._last_turn.get(lane, 0), current) + 1
        self._last_turn[lane] = turn
        return _Entry(ticket, turn, self._order)

    def _end(self, entry: _Entry, reason: Reason) -> List[Action]:
        uid = entry.ticket.uid
        if entry is self._on_air:
            self._on_air = None
            return [Halt(uid), Finish(uid, reason)]
        del self._waiting[uid]
        return [Finish(uid, reason)]

    def _settle(self, now_s: float) -> List[Action]:
        """Expire, then interrupt and start as the rules demand, until nothing more changes."""
        actions = self._expire(now_s)
        best = self._next_candidate()
        if best is None:
            return actions
        current = self._on_air
        if current is not None:
            if best.ticket.priority >= current.ticket.priority:
                return actions
            actions += self._interrupt(current, now_s)
        return actions + self._begin(best)

    def _next_candidate(self) -> Optional[_Entry]:
        ready = [entry for entry in self._waiting.values() if not self._is_held(entry)]
        return min(ready, key=lambda entry: entry.rank) if ready else None

    def _begin(self, entry: _Entry) -> List[Action]:
        del self._waiting[entry.ticket.uid]
        self._on_air = entry
        priority = entry.ticket.priority
        self._current_turn[priority] = max(self._current_turn[priority], entry.turn)
        self._forget_idle_sessions(priority)
        return [Start(entry.ticket.uid, entry.segment)]

    def _forget_idle_sessions(self, priority: Priority) -> None:
        # A session whose last turn has passed would get the same turn if it were new.
        current = self._current_turn[priority]
        for lane in [lane for lane in self._last_turn if lane[0] is priority]:
            if self._last_turn[lane] <= current:
                del self._last_turn[lane]

    def _interrupt(self, entry: _Entry, now_s: float) -> List[Action]:
        uid = entry.ticket.uid
        self._on_air = None
        rule = self._policy.classes[entry.ticket.priority].interrupted
        if rule is Interrupted.DROP:
            return [Halt(uid), Finish(uid, Reason.PREEMPTED)]
        if rule is Interrupted.RESTART:
            entry.segment = 0
        entry.was_cut = True
        self._waiting[uid] = entry
        return [Halt(uid), *self._expire(now_s)]

    def _expire(self, now_s: float) -> List[Action]:
        late = [
            entry
            for entry in self._waiting.values()
            if entry.ticket.expires_at_s is not None and entry.ticket.expires_at_s <= now_s
        ]
        actions: List[Action] = []
        for entry in late:
            actions += self._end(entry, Reason.EXPIRED)
        return actions
