"""The words of scheduling: priorities, rules, tickets, and what the scheduler decides."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Mapping, Optional, Union


class Priority(enum.IntEnum):
    """Class of an utterance. A smaller value is more urgent and interrupts every larger one."""

    ALERT = 0
    NAVIGATION = 1
    MESSAGE = 2
    BACKGROUND = 3


class Interrupted(str, enum.Enum):
    """What becomes of an utterance that a more urgent one cuts off."""

    RESUME = "resume"
    """Go on from the start of the segment that was cut."""
    RESTART = "restart"
    """Say it again from the beginning."""
    DROP = "drop"
    """Give it up."""


class Reason(str, enum.Enum):
    """Why an utterance ended. Every accepted utterance ends exactly once."""

    DONE = "done"
    EMPTY = "empty"
    STOPPED = "stopped"
    REPLACED = "replaced"
    PREEMPTED = "preempted"
    EXPIRED = "expired"
    DISCONNECTED = "disconnected"
    CLOSED = "closed"
    FAILED = "failed"
    BUDGET = "budget"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True)
class ClassRule:
    """`depth`: utterances of the class that may wait. `interrupted`: fate of one cut off."""

    depth: int
    interrupted: Interrupted


def _default_classes() -> Mapping[Priority, ClassRule]:
    return {
        Priority.ALERT: ClassRule(16, Interrupted.RESTART),
        Priority.NAVIGATION: ClassRule(16, Interrupted.RESTART),
        Priority.MESSAGE: ClassRule(64, Interrupted.RESUME),
        Priority.BACKGROUND: ClassRule(64, Interrupted.DROP),
    }


@dataclass(frozen=True)
class Policy:
    """Bounds and preemption rules. `session_depth`: utterances one session may have waiting."""

    classes: Mapping[Priority, ClassRule] = field(default_factory=_default_classes)
    session_depth: int = 32


@dataclass(frozen=True)
class Ticket:
    """What the scheduler knows of an utterance.

    `expires_at_s` is on the caller's monotonic clock; speech that has not begun (or resumed) by
    then is dropped. Tickets that share a `key` supersede each other. `owner` is the connection
    whose disappearance ends the utterance, None for one that outlives its client.
    """

    uid: str
    session: str
    priority: Priority
    key: Optional[str] = None
    expires_at_s: Optional[float] = None
    owner: Optional[str] = None


@dataclass(frozen=True)
class Selector:
    """Which utterances a stop means. All given fields must match; none given means all."""

    uid: Optional[str] = None
    session: Optional[str] = None
    key: Optional[str] = None
    owner: Optional[str] = None

    def matches(self, ticket: Ticket) -> bool:
        """True when every field that is set equals the ticket's."""
        return (
            self.uid in (None, ticket.uid)
            and self.session in (None, ticket.session)
            and self.key in (None, ticket.key)
            and self.owner in (None, ticket.owner)
        )


@dataclass(frozen=True)
class Start:
    """Speak this utterance now, from the given segment."""

    uid: str
    segment: int


@dataclass(frozen=True)
class Halt:
    """Fall silent at once: this utterance leaves the air."""

    uid: str


@dataclass(frozen=True)
class Hold:
    """Fall silent, keep the position of this utterance to the sample."""

    uid: str


@dataclass(frozen=True)
class Continue:
    """Go on with the held utterance at the sample where it was held."""

    uid: str


@dataclass(frozen=True)
class Finish:
    """This utterance has ended; tell its client. Halt, where needed, comes before."""

    uid: str
    reason: Reason


Action = Union[Start, Halt, Hold, Continue, Finish]
