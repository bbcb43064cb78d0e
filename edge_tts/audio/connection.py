"""One open stream on one device: its format, its ring, and the signs that it still lives."""

from __future__ import annotations

import threading
import time
from typing import Any, Iterator, Optional, Tuple

from edge_tts.audio import portaudio
from edge_tts.audio.devices import DeviceInfo, choose_device, list_on_owner
from edge_tts.audio.ring import PlaybackRing
from edge_tts.errors import AudioError

_FALLBACK_RATES_HZ = (48000, 44100)
_WATCHDOG_S = 5.0  # virtual sinks may ask for sound only every two seconds
_STOP_TIMEOUT_S = 2.0
_DRAIN_MARGIN_S = 0.1  # what sound servers hold beyond the latency that PortAudio reports
_MIN_LATENCY_S = 0.1  # with what some drivers call high latency, a loaded machine runs dry
_BYTES_PER_SAMPLE = 2


class DeviceConnection:
    """Made by `connect`; after `close` or a loss it is of no more use."""

    def __init__(self, device: DeviceInfo, sample_rate_hz: int, n_channels: int) -> None:
        self.device = device
        self.sample_rate_hz = sample_rate_hz
        self.n_channels = n_channels
        self.ring: PlaybackRing
        self._stream: Any = None
        self._finished = threading.Event()

    @property
    def heard_frames(self) -> int:
        """Frames that have left the device, by the latency it states; rounded down."""
        pending = self._latency_frames() - self.ring.silent_frames
        return self.ring.read_frames - max(0, pending)

    @property
    def is_silent(self) -> bool:
        """True when every frame written has been heard, with silence behind it."""
        margin = round(_DRAIN_MARGIN_S * self.sample_rate_hz)
        needed = self._latency_frames() + margin
        return self.ring.queued_frames == 0 and self.ring.silent_frames >= needed

    @property
    def is_alive(self) -> bool:
        """False once the stream ended by itself or its callback has not run for five seconds."""
        quiet_s = time.monotonic() - self.ring.called_at_s
        return not self._finished.is_set() and quiet_s <= _WATCHDOG_S

    def restart(self) -> None:
        """Drop what ring and device hold and go on silently. Raises AudioError if it cannot."""
        self.ring.muted = True
        portaudio.call(self._restart, _STOP_TIMEOUT_S)

    def close(self) -> None:
        """Silence and release the device. AudioError `audio.device_lost` if its driver hangs."""
        self.ring.muted = True
        portaudio.call(lambda: portaudio.close_stream(self._stream), _STOP_TIMEOUT_S)

    def start(self, buffer_s: float, lead_in_s: float) -> None:
        """Open the stream and run it. On the owner thread; raises PortAudioError."""
        capacity = max(1, round(buffer_s * self.sample_rate_hz))
        lead_in = round(lead_in_s * self.sample_rate_hz)
        self.ring = PlaybackRing(capacity, self.n_channels * _BYTES_PER_SAMPLE, lead_in)
        self._stream = portaudio.open_stream(
            device=self.device.index,
            samplerate=self.sample_rate_hz,
            channels=self.n_channels,
            dtype="int16",
            latency=max(_MIN_LATENCY_S, portaudio.high_latency_s(self.device.index)),
            callback=self.ring.callback,
            finished_callback=self._finished.set,
        )
        self._run()

    def _run(self) -> None:
        self.ring.called_at_s = time.monotonic()
        try:
            self._stream.start()
        except portaudio.library().PortAudioError:
            portaudio.close_stream(self._stream)
            raise

    def _restart(self) -> None:
        with portaudio.quiet_stderr():
            self._stream.abort(ignore_errors=True)
            # No callback runs now, so the ring may be emptied and the sign of an end taken back.
            self.ring.clear()
            self._finished.clear()
            self.ring.called_at_s = time.monotonic()
            try:
                self._stream.start()
            except portaudio.library().PortAudioError as error:
                raise portaudio.explained(error, self.device.name) from error

    def _latency_frames(self) -> int:
        return round(float(self._stream.latency) * self.sample_rate_hz)


def connect(
    name: Optional[str], source_rate_hz: int, buffer_s: float, lead_in_s: float
) -> DeviceConnection:
    """Open the device called `name` in the first format it takes.

    The source's own rate comes first, then 48 and 44.1 kHz and the device's default; mono before
    stereo. Raises AudioError `audio.no_portaudio`, `audio.no_device`, `audio.unknown_device`,
    `audio.ambiguous_device`, `audio.device_busy` or `audio.rate_unsupported`.
    """
    return portaudio.call(lambda: _connect(name, source_rate_hz, buffer_s, lead_in_s))


def _connect(
    name: Optional[str], source_rate_hz: int, buffer_s: float, lead_in_s: float
) -> DeviceConnection:
    device = choose_device(list_on_owner(), name)
    port_audio_error = portaudio.library().PortAudioError
    refusal: Optional[Exception] = None
    for sample_rate_hz, n_channels in _formats(device, source_rate_hz):
        connection = DeviceConnection(device, sample_rate_hz, n_channels)
        try:
            connection.start(buffer_s, lead_in_s)
        except port_audio_error as error:
            refusal = error
            if not portaudio.is_format_refusal(error):
                break
        else:
            return connection
    if refusal is None:
        raise AudioError(
            f"the sound device {device.name!r} has no output channel; choose another one",
            code="audio.rate_unsupported",
        )
    raise portaudio.explained(refusal, device.name) from refusal


def _formats(device: DeviceInfo, source_rate_hz: int) -> Iterator[Tuple[int, int]]:
    rates = (source_rate_hz, *_FALLBACK_RATES_HZ, device.default_sample_rate_hz)
    for sample_rate_hz in dict.fromkeys(rates):
        for n_channels in range(1, min(2, device.n_channels) + 1):
            yield sample_rate_hz, n_channels
