"""One utterance on its way to the sink."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Sequence, Tuple

from edge_tts.errors import EdgeTTSError, InputError
from edge_tts.service.phrases import Recording
from edge_tts.service.player import Player
from edge_tts.service.renderer import Job
from edge_tts.text.ssml import MarkTrack, parse

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.service.messages import Manner
    from edge_tts.service.phrases import Phrase
    from edge_tts.service.scheduling import Ticket
    from edge_tts.service.synthesis import Client

# Sound rendered ahead of what is heard, on air and before; one segment may be added to it.
AHEAD_S = 8.0
EARLY_S = 2.0

_TONE_HZ = 880.0
_TONE_S = 0.18
_FALLBACK_RATE_HZ = 24000


class Speech:
    """Text, client and progress of an utterance; passes its sound to the player.

    Sound that comes before the utterance is on air is kept and passed on when it is.
    """

    def __init__(
        self, ticket: "Ticket", text: str, manner: "Manner", client: "Client", submitted_s: float
    ) -> None:
        self.ticket = ticket
        self.text = text
        self.manner = manner
        self.client = client
        self.submitted_s = submitted_s
        self.spoken_s = 0.0
        self.run = 0
        self.source = "voice"
        self.has_waited = False
        self.was_heard = False
        self.is_whole = False
        """True when no more sound comes for this run."""
        self.rendered_s: Optional[float] = None
        """When the first sample was there, on the monotonic clock."""
        self.fault: Optional[EdgeTTSError] = None
        self.unspoken: Tuple[str, ...] = ()
        """What the text held and the voice does not speak, in words for people."""
        self.recording: Optional[Recording] = None
        self.spans: Dict[int, Tuple[int, int]] = {}
        self.marks = MarkTrack(parse(text) if manner.ssml else ())
        self.on_rendered: Callable[[Speech], None] = lambda speech: None
        self._player: Optional[Player] = None
        self._early: List["AudioChunk"] = []
        self._n_samples = 0

    def begin(self, player: Player, run: int, source: str) -> None:
        """A new run on the sink; it begins with the sound that came early."""
        self._player = player
        self.run = run
        self.source = source
        player.begin(run)
        early, self._early = self._early, []
        for chunk in early:
            player.feed(run, chunk)
        if self.is_whole:
            player.complete(run)

    def leave_air(self) -> None:
        """The run is over; what has been rendered for it is forgotten."""
        self._player = None
        self.forget_early()

    def forget_early(self) -> None:
        """Give up sound that came before the utterance is on air."""
        self._early = []
        self.is_whole = False
        self.recording = None

    @property
    def job_uid(self) -> str:
        """Name of its job: an id that a client has chosen must not meet another client's job."""
        return f"sink/{self.ticket.uid}"

    def job(self, segment: int, *, is_urgent: bool) -> Job:
        """The order to render this utterance from `segment` on."""
        job = Job(
            self.job_uid, self.text, self.manner, self, self.ticket.session, is_urgent=is_urgent
        )
        job.segment = segment
        return job

    @property
    def has_sound(self) -> bool:
        """False for a text in which nothing can be spoken."""
        return self._n_samples > 0

    def play_phrase(self, phrase: "Phrase", first_segment: int) -> None:
        """Pass stored sound on, whole."""
        for index, segment in enumerate(phrase.segments):
            self.spans[index] = (segment.start, segment.end)
        self.unspoken = phrase.unspoken
        for chunk in phrase.chunks(first_segment):
            self.sound(chunk)
        self.complete()

    def play_tone(self) -> None:
        """Say at least that something should have been said."""
        self.sound(fallback_tone(_FALLBACK_RATE_HZ))
        self.complete()

    def complete(self) -> None:
        """No more sound comes for this run."""
        self.is_whole = True
        if self._player is not None:
            self._player.complete(self.run)

    # --- the job's receiver ------------------------------------------------------------------

    def wants_sound(self) -> bool:
        """False while enough is buffered."""
        if self._player is not None:
            return self._player.buffered_s(self.run) < AHEAD_S
        return sum(len(chunk.samples) / chunk.sample_rate_hz for chunk in self._early) < EARLY_S

    def segment_begun(self, segment: int, start: int, end: int) -> None:
        """Remember the span for the mark that is sent when the segment is heard."""
        self.spans[segment] = (start, end)
        if self.recording is not None:
            self.recording.begin_segment(start, end)

    def sound(self, chunk: "AudioChunk") -> None:
        """Pass samples on to the sink."""
        if self.rendered_s is None:
            self.rendered_s = time.monotonic()
        self._n_samples += len(chunk.samples)
        if self._player is not None:
            self._player.feed(self.run, chunk)
        else:
            self._early.append(chunk)
        if self.recording is not None:
            self.recording.add(chunk)

    def rendered(self, unspoken: Sequence[str]) -> None:
        """The whole text is with the player."""
        self.unspoken = tuple(unspoken)
        self.complete()
        self.on_rendered(self)

    def failed(self, fault: EdgeTTSError) -> None:
        """No more sound comes from the voice; a fault that is not the text's is made audible.

        Of a text that is not on air yet, nothing is said: it fails again when its time comes.
        """
        self.recording = None
        if self._player is None:
            self.forget_early()
            return
        self.fault = fault
        if isinstance(fault, InputError):
            self.complete()
        else:
            self.source = "tone"
            self.play_tone()


def fallback_tone(rate_hz: int) -> "AudioChunk":
    """Two soft beeps: the last resort when there is neither voice nor prompt."""
    import numpy as np

    from edge_tts.audio.chunk import AudioChunk

    n_samples = round(_TONE_S * rate_hz)
    phase = np.arange(n_samples) / rate_hz
    envelope = np.sin(np.pi * phase / _TONE_S) ** 0.5
    beep = 0.2 * envelope * np.sin(2 * math.pi * _TONE_HZ * phase)
    gap = np.zeros(n_samples // 2)
    samples = np.concatenate((beep, gap, beep, gap)).astype(np.float32)
    return AudioChunk(samples, rate_hz, 0, 0, True)
