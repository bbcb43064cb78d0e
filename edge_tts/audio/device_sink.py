"""Play on a sound device, know what has been heard, and notice when the device is gone."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Optional, Type

import numpy as np

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.connection import DeviceConnection, connect
from edge_tts.audio.devices import DeviceInfo
from edge_tts.audio.resample import Resampler
from edge_tts.audio.wav import to_pcm16
from edge_tts.errors import AudioError

_WAIT_S = 0.01
_LOSS_MARGIN_S = 0.25  # what a sound server may hold unheard beyond its stated latency


@dataclass(frozen=True)
class SinkStats:
    """Counters since the sink was made."""

    n_opened: int
    n_lost: int
    n_starved: int
    """Times the device ran out of sound within an utterance because synthesis was late."""
    n_device_underruns: int
    """Times the device itself ran dry because this process was not scheduled in time."""


class DeviceSink:
    """Plays chunks on the device called `device`, or on the default one.

    One thread writes and drains; any thread may abort, close or read properties (a signal handler
    may not). `write` opens the device if need be. The stream stays open and silent between
    utterances, so the next one starts at once. After a loss, calls raise `audio.device_lost` until
    `reopen`; write again from sample `played_samples` to continue where listeners were cut off.

    `buffer_s` bounds how far `write` runs ahead. `lead_in_s` of silence wakes sinks that swallow
    the first word; it is played when the device is opened, not while it is kept open.
    """

    def __init__(
        self,
        device: Optional[str] = None,
        *,
        sample_rate_hz: int = 24000,
        buffer_s: float = 2.0,
        lead_in_s: float = 0.0,
    ) -> None:
        self._device_name = device
        self._source_rate_hz = sample_rate_hz
        self._buffer_s = buffer_s
        self._lead_in_s = lead_in_s
        self._lock = threading.RLock()
        self._connection: Optional[DeviceConnection] = None
        self._resampler: Optional[Resampler] = None
        self._is_lost = False
        self._epoch = 0  # grows with every abort and close; work begun before is dropped
        self._base_samples = 0  # played before _base_frame
        self._base_frame = 0
        self._submitted_samples = 0  # since _base_frame
        self._past = SinkStats(0, 0, 0, 0)

    # -- opening and closing --------------------------------------------------------------------

    def open(self) -> None:
        """Open the device and run it, silent. Without effect when open.

        Raises AudioError as `edge_tts.audio.connection.connect` does.
        """
        with self._lock:
            self._raise_if_lost()
            if self._connection is None:
                self._connection = connect(
                    self._device_name, self._source_rate_hz, self._buffer_s, self._lead_in_s
                )
                self._count(n_opened=1)
                self._begin_at(self._base_samples)

    def reopen(self) -> None:
        """Close, look for devices again, and open the device of the same name.

        What was written and not heard is forgotten; `played_samples` stays.
        """
        with self._lock:
            self.close()
            self._is_lost = False
            self.open()

    def close(self) -> None:
        """Silence and release the device within a bounded time. Idempotent, never raises."""
        self._epoch += 1
        with self._lock:
            connection = self._connection
            if connection is None:
                return
            self._base_samples = self.played_samples
            self._submitted_samples = 0
            self._connection = None
            self._count(
                n_starved=connection.ring.n_starved,
                n_device_underruns=connection.ring.n_device_underruns,
            )
            try:
                connection.close()
            except AudioError:
                # The driver hangs. Its thread is given up, and the next open uses a new one.
                self._count(n_lost=1)

    def __enter__(self) -> "DeviceSink":
        self.open()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        try:
            if kind is None:
                self.drain()
        finally:
            self.close()

    # -- playing --------------------------------------------------------------------------------

    def write(self, chunk: AudioChunk) -> None:
        """Queue a chunk; waits while the buffer is full, and returns early when aborted.

        Raises AudioError `audio.device_lost` when the device goes away, what `open` raises, and
        `audio.rate_unsupported` for a new sample rate while older sound has not been drained.
        """
        epoch = self._epoch
        if chunk.sample_rate_hz != self._source_rate_hz:
            self._change_rate(chunk.sample_rate_hz)
        self.open()
        self._put(chunk.samples, epoch)

    def finish(self) -> None:
        """No sound follows what has been written: that the device runs dry then is no fault.

        `drain` does the same and waits. Raises AudioError `audio.device_lost`.
        """
        self._put(None, self._epoch)
        connection = self._connection
        if connection is not None:
            connection.ring.expecting = False

    def drain(self) -> None:
        """Return when the last sample written has left the device; the stream stays open.

        Returns early when aborted. Raises AudioError `audio.device_lost`.
        """
        epoch = self._epoch
        self._put(None, epoch)
        while True:
            with self._lock:
                connection = self._checked()
                if connection is None or self._epoch != epoch:
                    return
                connection.ring.expecting = False
                if connection.is_silent:
                    self._begin_at(self._base_samples + self._submitted_samples)
                    return
            time.sleep(_WAIT_S)

    def abort(self) -> None:
        """Silence the device at once and forget what was queued; the next write plays on.

        A `write` or `drain` under way in another thread returns. `played_samples` keeps the
        position at which listeners were cut off.
        """
        self._epoch += 1
        connection = self._connection
        if connection is not None:
            connection.ring.muted = True
        with self._lock:
            if self._connection is None or self._is_lost:
                return
            position = self.played_samples
            try:
                self._connection.restart()
            except AudioError:
                self._mark_lost(position)
            else:
                self._begin_at(position)

    def check(self) -> None:
        """Raise AudioError `audio.device_lost` if the device has stopped asking for sound."""
        with self._lock:
            self._checked()

    # -- what is known --------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """True while a stream is open and has not been found lost."""
        return self._connection is not None and not self._is_lost

    @property
    def device(self) -> Optional[DeviceInfo]:
        """The device in use, None while closed."""
        connection = self._connection
        return None if connection is None else connection.device

    @property
    def device_rate_hz(self) -> Optional[int]:
        """The rate the device runs at, None while closed."""
        connection = self._connection
        return None if connection is None else connection.sample_rate_hz

    @property
    def played_samples(self) -> int:
        """Samples of the source that have left the device, by the latency it states.

        Counts from the first write, through `abort`, `close` and `reopen`; from 0 again when the
        source's rate changes. After a loss it lies a quarter of a second earlier, so that going on
        from here repeats a moment rather than skipping one.
        """
        with self._lock:
            if self._connection is None or self._is_lost:
                return self._base_samples
            frames = max(0, self._connection.heard_frames - self._base_frame)
            samples = frames * self._source_rate_hz // self._connection.sample_rate_hz
            return self._base_samples + min(samples, self._submitted_samples)

    @property
    def queued_s(self) -> float:
        """Seconds of sound written and not yet taken by the device."""
        connection = self._connection
        if connection is None:
            return 0.0
        return connection.ring.queued_frames / connection.sample_rate_hz

    @property
    def stats(self) -> SinkStats:
        """Counters since the sink was made."""
        with self._lock:
            if self._connection is None:
                return self._past
            ring = self._connection.ring
            return _added(self._past, SinkStats(0, 0, ring.n_starved, ring.n_device_underruns))

    # -- within ---------------------------------------------------------------------------------

    def _put(self, samples: Optional[np.ndarray], epoch: int) -> None:
        """Queue `samples`, or with None what the resampler still holds."""
        with self._lock:
            connection = self._checked()
            if connection is None or self._epoch != epoch:
                return
            data = self._converted(connection, samples)
            self._submitted_samples += 0 if samples is None else len(samples)
        while data:
            with self._lock:
                if self._checked() is not connection or self._epoch != epoch:
                    return
                n_frames = connection.ring.put(data)
                connection.ring.expecting = True
            data = data[n_frames * connection.n_channels * 2 :]
            if data:
                time.sleep(_WAIT_S)

    def _converted(self, connection: DeviceConnection, samples: Optional[np.ndarray]) -> memoryview:
        if self._resampler is None:
            self._resampler = Resampler(self._source_rate_hz, connection.sample_rate_hz)
        resampler = self._resampler
        converted = resampler.finish() if samples is None else resampler.push(samples)
        return memoryview(np.repeat(to_pcm16(converted), connection.n_channels).tobytes())

    def _begin_at(self, position: int) -> None:
        """Count from `position` on, with nothing submitted and no sound in the resampler."""
        if self._connection is not None:
            self._base_frame = self._connection.ring.written_frames
        self._base_samples = position
        self._submitted_samples = 0
        self._resampler = None

    def _change_rate(self, sample_rate_hz: int) -> None:
        with self._lock:
            if self._submitted_samples:
                raise AudioError(
                    f"cannot follow {self._source_rate_hz} Hz sound with {sample_rate_hz} Hz sound "
                    "that soon; drain the sink first",
                    code="audio.rate_unsupported",
                )
            self._source_rate_hz = sample_rate_hz
            self._begin_at(0)

    def _checked(self) -> Optional[DeviceConnection]:
        if self._connection is not None and not self._is_lost and not self._connection.is_alive:
            self._mark_lost(self.played_samples - round(_LOSS_MARGIN_S * self._source_rate_hz))
        self._raise_if_lost()
        return self._connection

    def _mark_lost(self, position: int) -> None:
        self._begin_at(max(position, self._base_samples))
        self._is_lost = True
        self._count(n_lost=1)

    def _raise_if_lost(self) -> None:
        if self._is_lost:
            name = self._connection.device.name if self._connection else self._device_name
            raise AudioError(
                f"the sound device {name!r} went away at sample {self._base_samples}; connect it "
                "again and repeat, or choose another one ('edge-tts devices')",
                code="audio.device_lost",
            )

    def _count(self, **increments: int) -> None:
        self._past = _added(self._past, SinkStats(**{**_NOTHING, **increments}))


_NOTHING = {"n_opened": 0, "n_lost": 0, "n_starved": 0, "n_device_underruns": 0}


def _added(first: SinkStats, second: SinkStats) -> SinkStats:
    return SinkStats(
        first.n_opened + second.n_opened,
        first.n_lost + second.n_lost,
        first.n_starved + second.n_starved,
        first.n_device_underruns + second.n_device_underruns,
    )
