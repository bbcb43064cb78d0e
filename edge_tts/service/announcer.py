"""The heart of the front process: turns requests into scheduler events and its actions into sound.

Everything here runs on the event loop's thread and returns at once; the voice works in the worker,
the sink in the player's thread.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Set, Tuple

from edge_tts.errors import BudgetError, EdgeTTSError, ServiceError
from edge_tts.service import player as playing
from edge_tts.service import replies, scheduling
from edge_tts.service.codec import Frame
from edge_tts.service.duck import Duck
from edge_tts.service.lookahead import LookAhead
from edge_tts.service.messages import Manner, Speak
from edge_tts.service.metrics import Metrics
from edge_tts.service.phrases import Phrase, PhraseCache, PhraseKey, Recording
from edge_tts.service.player import Player, PlayerEvent
from edge_tts.service.prompts import PromptStore
from edge_tts.service.renderer import Renderer
from edge_tts.service.replies import VoiceFacts
from edge_tts.service.scheduler import Scheduler
from edge_tts.service.scheduling import Action, Policy, Reason, Selector, Ticket
from edge_tts.service.sessions import SessionLimits, Sessions
from edge_tts.service.speech import Speech
from edge_tts.service.supervisor import Supervisor
from edge_tts.service.synthesis import Client

_log = logging.getLogger(__name__)

_MAX_PHRASE_BYTES = 1024 * 1024
RETRY_S = 2.0


@dataclass(frozen=True)
class AnnouncerSettings:
    """What the configuration decides."""

    policy: Policy = field(default_factory=Policy)
    sessions: SessionLimits = field(default_factory=SessionLimits)
    manner: Manner = field(default_factory=Manner)
    cache_bytes: int = 16 * 1024 * 1024
    lexicon: Optional[Path] = None
    """The user's pronunciations; phrases spoken before a change of it are said anew."""


class Announcer:
    """Owns the queue of the sink and everything that lives in it."""

    def __init__(
        self,
        settings: AnnouncerSettings,
        supervisor: Supervisor,
        renderer: Renderer,
        store: PromptStore,
        duck: Duck,
    ) -> None:
        self.settings = settings
        self.supervisor = supervisor
        self.renderer = renderer
        self.scheduler = Scheduler(settings.policy)
        self.sessions = Sessions(settings.sessions)
        self.cache = PhraseCache(settings.cache_bytes)
        self.store = store
        self.metrics = Metrics()
        self.subscribers: Set[Client] = set()
        self.facts: Optional[VoiceFacts] = None
        self.refusal: Optional[str] = None
        """Why no new work is taken now: `budget.busy` or `service.stopping`."""
        self._lexicon_state = _file_state(settings.lexicon)
        self._duck = duck
        self._ahead = LookAhead(renderer)
        self._speeches: Dict[str, Speech] = {}
        self._runs: Dict[int, Speech] = {}
        self._numbers = itertools.count(1)
        self._timer: Optional[asyncio.TimerHandle] = None
        self._loop = asyncio.get_event_loop()
        self.player: Optional[Player] = None

    # --- requests ----------------------------------------------------------------------------

    def speak(self, request: Speak, client: Client, connection: str) -> Ticket:
        """Queue an utterance. Raises BudgetError or ServiceError and changes nothing."""
        try:
            return self._admit(request, client, connection)
        except EdgeTTSError as fault:
            self.metrics.refused[fault.code] += 1
            raise

    def stop(self, selector: Selector, reason: Reason) -> int:
        """End every utterance that matches; returns how many ended."""
        actions = self.scheduler.stop(selector, reason, time.monotonic())
        self._apply(actions)
        return sum(
            isinstance(action, scheduling.Finish) and action.reason is reason for action in actions
        )

    def pause(self) -> None:
        """Hold everything but alerts."""
        self._apply(self.scheduler.pause())

    def resume(self) -> None:
        """Undo `pause`."""
        self._apply(self.scheduler.resume(time.monotonic()))

    def check_admission(self) -> None:
        """Raise the error for new work while none is taken."""
        if self.refusal == "service.stopping":
            raise ServiceError("the service is shutting down", code="service.stopping")
        if self.refusal is not None:
            raise BudgetError(
                f"short of memory; try again in {RETRY_S:g} s or more", code="budget.busy"
            )

    def is_live(self, uid: str) -> bool:
        """True while the utterance waits or speaks."""
        return uid in self._speeches

    @property
    def n_live(self) -> int:
        """Utterances that wait or speak."""
        return len(self._speeches)

    # --- admission ---------------------------------------------------------------------------

    def _admit(self, request: Speak, client: Client, connection: str) -> Ticket:
        self.check_admission()
        uid = request.uid or self._new_uid()
        if uid in self._speeches:
            raise ServiceError(f"utterance id {uid!r} is in use", code="service.duplicate_id")
        if request.session is not None:
            self.sessions.check_open(request.session)
        now_s = time.monotonic()
        ticket = Ticket(
            uid,
            request.session or connection,
            request.priority,
            request.key,
            None if request.ttl_s is None else now_s + request.ttl_s,
            None if request.detached else connection,
        )
        manner = request.manner.over(self.settings.manner)
        speech = Speech(ticket, request.text, manner, client, now_s)
        speech.on_rendered = self._on_rendered
        self.sessions.reserve(ticket.session, uid, len(request.text.encode()))
        self._speeches[uid] = speech
        try:
            n_ahead = len(self.scheduler.waiting()) + (self.scheduler.on_air is not None)
            actions = self.scheduler.submit(ticket, now_s)
        except BudgetError:
            del self._speeches[uid]
            self.sessions.release(uid)
            raise
        self.metrics.accepted += 1
        self._tell(speech, replies.accepted(ticket, n_ahead))
        speech.has_waited = n_ahead > 0
        self._apply(actions)
        return ticket

    def _new_uid(self) -> str:
        names = (f"u{number}" for number in self._numbers)
        return next(name for name in names if name not in self._speeches)

    # --- actions -----------------------------------------------------------------------------

    def _apply(self, actions: Iterable[Action]) -> None:
        for action in actions:
            speech = self._speeches[action.uid]
            if isinstance(action, scheduling.Start):
                self._start(speech, action.segment)
            elif isinstance(action, scheduling.Halt):
                self._halt(speech)
            elif isinstance(action, scheduling.Hold):
                self._player.hold(speech.run)
            elif isinstance(action, scheduling.Continue):
                self._player.go_on(speech.run)
            else:
                self._finish(speech, action.reason)
        self._duck.set(self.scheduler.on_air is not None)
        self._look_ahead()
        self._arm_timer()

    @property
    def _player(self) -> Player:
        if self.player is None:
            raise ServiceError("the service has no player yet")
        return self.player

    def _start(self, speech: Speech, segment: int) -> None:
        run = next(self._numbers)
        self._runs[run] = speech
        self._heed_lexicon()
        is_prepared = self._ahead.hand_over(speech, segment)
        source, phrase = ("voice", None) if is_prepared else self._stored(self._phrase_key(speech))
        self.metrics.starts[source] += 1
        speech.begin(self._player, run, source)
        if phrase is not None:
            speech.play_phrase(phrase, segment)
        elif not is_prepared:
            self._record_if_repeated(speech, segment)
            self.renderer.add(speech.job(segment, is_urgent=True))

    def _look_ahead(self) -> None:
        """Have the next utterance prepared once the worker is done with the one on air."""
        on_air, upcoming = self.scheduler.on_air, self.scheduler.upcoming()
        if on_air is None or upcoming is None or self.refusal is not None:
            return
        speech, segment = self._speeches[upcoming.uid], upcoming.segment
        if not self._speeches[on_air.uid].is_whole or self._ahead.prepares(speech, segment):
            return
        key = self._phrase_key(speech)
        if key is None or key.digest in self.cache or self.store.has(key):
            return
        self._ahead.prepare(speech, segment)
        self._record_if_repeated(speech, segment)

    def _record_if_repeated(self, speech: Speech, segment: int) -> None:
        key = self._phrase_key(speech)
        if segment == 0 and key is not None and self.cache.wants(key.digest):
            speech.recording = Recording(_MAX_PHRASE_BYTES)

    def _phrase_key(self, speech: Speech) -> Optional[PhraseKey]:
        if self.facts is None:
            return None
        return PhraseKey(speech.text, speech.manner, self.facts.name, self.facts.version)

    def _heed_lexicon(self) -> None:
        state = _file_state(self.settings.lexicon)
        if state != self._lexicon_state:
            self._lexicon_state = state
            self.cache.clear()

    def _stored(self, key: Optional[PhraseKey]) -> "tuple[str, Optional[Phrase]]":
        if key is None:
            return "voice", None
        phrase = self.cache.get(key.digest)
        if phrase is not None:
            return "cache", phrase
        phrase = self.store.get(key)
        return ("voice", None) if phrase is None else ("prompt", phrase)

    def _halt(self, speech: Speech) -> None:
        speech.spoken_s += self._player.heard_s(speech.run)
        self.renderer.remove(speech.job_uid)
        self._player.halt(speech.run)
        speech.leave_air()
        self._runs.pop(speech.run, None)

    def _finish(self, speech: Speech, reason: Reason) -> None:
        uid = speech.ticket.uid
        self.renderer.remove(speech.job_uid)
        self._ahead.forget(speech)
        self._runs.pop(speech.run, None)
        del self._speeches[uid]
        self.sessions.release(uid)
        self.metrics.finished[reason.value] += 1
        self.metrics.spoken_s += speech.spoken_s
        ending = replies.finished(uid, reason, speech.spoken_s, speech.unspoken, speech.fault)
        self._tell(speech, ending)
        speech.client.release(uid)

    def _on_rendered(self, speech: Speech) -> None:
        recording, speech.recording = speech.recording, None
        key = self._phrase_key(speech)
        phrase = None if recording is None else recording.phrase(speech.unspoken)
        if key is not None and phrase is not None:
            self.cache.put(key.digest, phrase)
        self._look_ahead()

    # --- what the player says ----------------------------------------------------------------

    def on_player_event(self, event: PlayerEvent) -> None:
        """Take an event of the player, on the loop's thread."""
        if isinstance(event, playing.DeviceChanged):
            self._on_device(event)
            return
        speech = self._runs.get(event.run)
        if speech is None or speech.run != event.run:
            return
        self.renderer.wake()
        if isinstance(event, playing.Started):
            self._on_started(speech)
        elif isinstance(event, playing.SegmentBegan):
            self.scheduler.progressed(speech.ticket.uid, event.segment)
            start, end = speech.spans.get(event.segment, (0, 0))
            names = speech.marks.reached(start)
            self._tell(speech, replies.mark(speech.ticket.uid, event.segment, start, end, names))
        else:
            self._on_ended(speech, event.spoken_s)

    def _on_started(self, speech: Speech) -> None:
        if speech.was_heard:
            return
        speech.was_heard = True
        latency_s = time.monotonic() - speech.submitted_s
        if not speech.has_waited:
            self.metrics.heard(speech.source, latency_s)
        rendered_s = (speech.rendered_s or speech.submitted_s) - speech.submitted_s
        uid = speech.ticket.uid
        self._tell(speech, replies.started(uid, speech.source, rendered_s, latency_s))

    def _on_ended(self, speech: Speech, spoken_s: float) -> None:
        speech.spoken_s += spoken_s
        self.metrics.fallback_tones += speech.source == "tone"
        if speech.fault is not None:
            reason = Reason.FAILED
        else:
            reason = Reason.DONE if speech.has_sound else Reason.EMPTY
        self._apply(self.scheduler.completed(speech.ticket.uid, reason, time.monotonic()))

    def _on_device(self, event: playing.DeviceChanged) -> None:
        self.metrics.device_losses += event.state == "lost"
        if event.fault is not None:
            _log.warning("sound device lost: %s", event.fault)
        else:
            _log.info("sound device %s", event.state)
        frame = replies.device(event.state, str(event.fault) if event.fault else "")
        for client in list(self.subscribers):
            client.send(frame)

    # --- telling and timing ------------------------------------------------------------------

    def _tell(self, speech: Speech, frame: Frame) -> None:
        listeners: List[Client] = [speech.client]
        listeners += [client for client in self.subscribers if client is not speech.client]
        for client in listeners:
            client.send(frame)

    def _arm_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        expiry_s = self.scheduler.next_expiry_s()
        if expiry_s is not None:
            delay_s = max(0.0, expiry_s - time.monotonic())
            self._timer = self._loop.call_later(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._apply(self.scheduler.tick(time.monotonic()))


def _file_state(path: Optional[Path]) -> Optional[Tuple[int, int]]:
    """What tells one state of a file from another; None without a file."""
    try:
        status = None if path is None else path.stat()
    except OSError:
        return None
    return None if status is None else (status.st_mtime_ns, status.st_size)
