"""Sessions and what each may keep in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Set, Tuple

from edge_tts.errors import BudgetError, ServiceError


@dataclass(frozen=True)
class SessionLimits:
    """Bytes of queued text, and how many sessions may be open by name."""

    session_bytes: int = 256 * 1024
    total_bytes: int = 2 * 1024 * 1024
    n_sessions: int = 64


@dataclass
class _Session:
    openers: Set[str] = field(default_factory=set)
    work: Dict[str, int] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        return sum(self.work.values())


class Sessions:
    """Every open session and the memory its live utterances hold.

    A connection has a session of its own, named after it; a named session is open while one of
    the connections that opened it lives.
    """

    def __init__(self, limits: SessionLimits) -> None:
        self._limits = limits
        self._sessions: Dict[str, _Session] = {}
        self._session_of: Dict[str, str] = {}
        self.n_bytes = 0

    def open(self, name: str, connection: str) -> None:
        """Open a session or join it. Raises BudgetError when too many are open."""
        if name not in self._sessions and len(self._sessions) >= self._limits.n_sessions:
            raise BudgetError(
                f"{self._limits.n_sessions} sessions are open; close one first",
                code="budget.session_full",
            )
        self._sessions.setdefault(name, _Session()).openers.add(connection)

    def close(self, name: str) -> None:
        """Close a session. Raises ServiceError `service.unknown_session`."""
        self.check_open(name)
        self._sessions[name].openers.clear()
        self._forget_if_unused(name)

    def check_open(self, name: str) -> None:
        """Raise ServiceError `service.unknown_session` unless the session is open."""
        session = self._sessions.get(name)
        if session is None or not session.openers:
            raise ServiceError(
                f"no session {name!r} is open; open it first", code="service.unknown_session"
            )

    def leave(self, connection: str) -> None:
        """The connection is gone: sessions that only it had opened close."""
        for name in list(self._sessions):
            self._sessions[name].openers.discard(connection)
            self._forget_if_unused(name)

    def reserve(self, session: str, uid: str, n_bytes: int) -> None:
        """Account for a new utterance. Raises BudgetError and changes nothing."""
        held = self._sessions[session].n_bytes if session in self._sessions else 0
        if held + n_bytes > self._limits.session_bytes:
            raise BudgetError(
                f"session {session!r} would hold more than {self._limits.session_bytes} bytes",
                code="budget.session_full",
            )
        if self.n_bytes + n_bytes > self._limits.total_bytes:
            raise BudgetError(
                "the service holds as much queued text as it may", code="budget.queue_full"
            )
        self._sessions.setdefault(session, _Session()).work[uid] = n_bytes
        self._session_of[uid] = session
        self.n_bytes += n_bytes

    def release(self, uid: str) -> None:
        """The utterance has ended."""
        name = self._session_of.pop(uid, None)
        if name is not None:
            self.n_bytes -= self._sessions[name].work.pop(uid)
            self._forget_if_unused(name)

    def usage(self) -> List[Tuple[str, int, int]]:
        """Name, live utterances and bytes of every session."""
        return [(name, len(s.work), s.n_bytes) for name, s in sorted(self._sessions.items())]

    def _forget_if_unused(self, name: str) -> None:
        session = self._sessions[name]
        if not session.openers and not session.work:
            del self._sessions[name]
