"""The one owner of the sound device: a thread that plays takes and knows what has been heard.

A take is one run of an utterance on the sink, from its start to its end, its halt, or its
interruption. What has been written but not heard is kept until it has been, so that a pause or a
lost device continues at the exact sample. Losing the device is not an error of the utterance: the
thread reopens it with growing pauses for as long as it takes. A device that nobody has spoken on
for a while is released, and opened again by the next take.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional, Union

from edge_tts.errors import AudioError
from edge_tts.service.take import Take

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.service.output import Output

# Little enough that a stop is heard at once, enough to ride over a late thread.
_AHEAD_S = 0.2
_SLICES_AT_ONCE = 4  # of edge_tts.service.take
_POLL_S = 0.01
_IDLE_POLL_S = 1.0
_REST_POLL_S = 4.0  # the front expects a sign of life every ten
_FIRST_RETRY_S = 0.25
_LONGEST_RETRY_S = 5.0


@dataclass(frozen=True)
class Started:
    """The take's first sample has been heard."""

    run: int


@dataclass(frozen=True)
class SegmentBegan:
    """The first sample of a segment has been heard."""

    run: int
    segment: int


@dataclass(frozen=True)
class Ended:
    """The take's last sample has been heard."""

    run: int
    spoken_s: float


@dataclass(frozen=True)
class DeviceChanged:
    """`state` is open, resting, lost or closed; `fault` says why it was lost."""

    state: str
    fault: Optional[AudioError] = None


PlayerEvent = Union[Started, SegmentBegan, Ended, DeviceChanged]


class Player:
    """Plays one take at a time. Every method may be called from any thread and returns at once.

    `emit` is called on the player's own thread with each event. `keep_warm_s`: how long after
    speech the device stays open.
    """

    def __init__(
        self,
        output: "Output",
        emit: Callable[[PlayerEvent], None],
        keep_warm_s: float = math.inf,
    ) -> None:
        self._output = output
        self._emit = emit
        self._keep_warm_s = keep_warm_s
        self._wanted_at_s = time.monotonic()
        self._changed = threading.Condition()
        self._take: Optional[Take] = None
        self._must_cut = False
        self._is_closing = False
        self._origin = 0
        self._rate_hz = 0
        self._device_state = "closed"
        self.is_hung = False
        """True when no device can be opened any more before this process ends."""
        self._retry_at_s = 0.0
        self._retry_pause_s = _FIRST_RETRY_S
        self.progress_at_s = time.monotonic()
        """When the thread last came round, on the monotonic clock."""
        self._thread = threading.Thread(target=self._run, name="player", daemon=True)

    # --- orders ------------------------------------------------------------------------------

    def start(self) -> None:
        """Open the device and wait for takes."""
        self._thread.start()

    def close(self, timeout_s: float = 2.0) -> None:
        """Silence, release the device, end the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(timeout_s)

    def begin(self, run: int) -> None:
        """A new take; the one before must have ended or been halted."""
        with self._changed:
            self._take = Take(run)
            self._changed.notify()

    def feed(self, run: int, chunk: "AudioChunk") -> None:
        """Append sound to the take; ignored when the take is over."""
        with self._changed:
            if self._is_current(run):
                self._current.feed(chunk)
                self._changed.notify()

    def complete(self, run: int) -> None:
        """No more sound follows for this take."""
        with self._changed:
            if self._is_current(run):
                self._current.is_complete = True
                self._changed.notify()

    def halt(self, run: int) -> None:
        """Silence at once; the take is over."""
        with self._changed:
            if self._is_current(run):
                self._take = None
                self._must_cut = True
                self._changed.notify()

    def hold(self, run: int) -> None:
        """Silence at once and keep the position."""
        self._set_held(run, True)

    def go_on(self, run: int) -> None:
        """Continue a held take at the sample where it was held."""
        self._set_held(run, False)

    def buffered_s(self, run: int) -> float:
        """Seconds of sound fed and not yet heard."""
        with self._changed:
            if not self._is_current(run):
                return 0.0
            return (self._current.n_fed - self._current.n_heard) / self._current.rate_hz

    def heard_s(self, run: int) -> float:
        """Seconds of the take heard so far."""
        with self._changed:
            return self._current.n_heard / self._current.rate_hz if self._is_current(run) else 0.0

    @property
    def device_state(self) -> str:
        """`open`, `resting`, `lost` or `closed`."""
        return self._device_state

    @property
    def n_underruns(self) -> int:
        """Times the device ran dry within an utterance, for either cause."""
        stats = self._output.stats
        return stats.n_starved + stats.n_device_underruns

    # --- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            self.progress_at_s = time.monotonic()
            with self._changed:
                take, must_cut = self._take, self._must_cut
                self._must_cut = False
                if self._is_closing:
                    break
            if take is not None or must_cut:
                self._wanted_at_s = self.progress_at_s
            if not self._is_at_rest():
                self._step(take, must_cut)
            self._wait(take)
        self._output.abort()
        self._output.close()

    def _is_at_rest(self) -> bool:
        """True while the device is not wanted; releases it when that begins."""
        if self.progress_at_s - self._wanted_at_s <= self._keep_warm_s:
            return False
        if self._device_state == "open":
            self._output.close()
            self._set_device_state("resting", None)
        return self._device_state == "resting"

    def _step(self, take: Optional[Take], must_cut: bool) -> None:
        try:
            if not self._has_device():
                return
            if must_cut:
                self._cut(take)
            self._output.check()
            if take is not None and not take.is_held:
                self._play(take)
        except AudioError as error:
            self._lose_device(take, error)

    def _wait(self, take: Optional[Take]) -> None:
        with self._changed:
            if self._must_cut or self._is_closing or self._take is not take:
                return
            lost = self._device_state in ("lost", "closed")
            is_busy = take is not None and not take.is_held and (take.n_fed or take.is_complete)
            if is_busy and not lost:
                self._changed.wait(_POLL_S)
            else:
                self._changed.wait(self._retry_wait_s() if lost else self._idle_wait_s())

    def _cut(self, take: Optional[Take]) -> None:
        self._output.abort()
        if take is not None and take.n_written:
            take.heard(self._output.played_samples - self._origin)
            with self._changed:
                take.rewind()
        elif take is not None:
            self._origin = self._output.played_samples

    def _play(self, take: Take) -> None:
        self._fill(take)
        if take.n_written:
            take.heard(self._output.played_samples - self._origin)
        self._report(take)
        with self._changed:
            is_over = take.is_complete and not take.pending
        if not is_over:
            return
        self._output.finish()
        if self._output.queued_s <= 0.0:
            self._finish(take)

    def _fill(self, take: Take) -> None:
        for _ in range(_SLICES_AT_ONCE):
            if self._output.queued_s >= _AHEAD_S or self._must_cut:
                return
            with self._changed:
                if not take.pending:
                    return
                chunk = take.next_slice()
            if take.n_written == len(chunk.samples):
                self._origin = self._output.played_samples
                if chunk.sample_rate_hz != self._rate_hz and self._rate_hz:
                    # The output counts from 0 again when its rate changes.
                    self._origin = 0
                self._rate_hz = chunk.sample_rate_hz
            self._output.write(chunk)

    def _report(self, take: Take) -> None:
        while take.marks and take.n_heard > take.marks[0][0]:
            position, segment = take.marks.popleft()
            if position == 0:
                self._emit(Started(take.run))
            self._emit(SegmentBegan(take.run, segment))

    def _finish(self, take: Take) -> None:
        if take.n_written:
            self._output.drain()
            take.heard(take.n_written)
            self._report(take)
        with self._changed:
            if self._take is not take:
                return
            self._take = None
        self._emit(Ended(take.run, take.n_heard / take.rate_hz))

    # --- the device --------------------------------------------------------------------------

    def _has_device(self) -> bool:
        if self._device_state == "open":
            return True
        if time.monotonic() < self._retry_at_s:
            return False
        if self._device_state == "lost":
            self._output.reopen()
        else:
            self._output.open()
        self._retry_pause_s = _FIRST_RETRY_S
        self._set_device_state("open", None)
        return True

    def _lose_device(self, take: Optional[Take], error: AudioError) -> None:
        if take is not None and take.n_written:
            take.heard(self._output.played_samples - self._origin)
            with self._changed:
                take.rewind()
        self.is_hung = error.code == "audio.hung"
        self._retry_at_s = time.monotonic() + self._retry_pause_s
        self._retry_pause_s = min(2.0 * self._retry_pause_s, _LONGEST_RETRY_S)
        self._set_device_state("lost", error)

    def _idle_wait_s(self) -> float:
        return _REST_POLL_S if self._device_state == "resting" else _IDLE_POLL_S

    def _retry_wait_s(self) -> float:
        return max(_POLL_S, min(_IDLE_POLL_S, self._retry_at_s - time.monotonic()))

    def _set_device_state(self, state: str, fault: Optional[AudioError]) -> None:
        if state != self._device_state:
            self._device_state = state
            self._emit(DeviceChanged(state, fault))

    # --- under the lock ----------------------------------------------------------------------

    @property
    def _current(self) -> Take:
        if self._take is None:
            raise AudioError("no take is being played")
        return self._take

    def _is_current(self, run: int) -> bool:
        return self._take is not None and self._take.run == run

    def _set_held(self, run: int, is_held: bool) -> None:
        with self._changed:
            if self._is_current(run):
                self._current.is_held = is_held
                self._must_cut = self._must_cut or is_held
                self._changed.notify()
