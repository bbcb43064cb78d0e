"""What the player plays on: the sound device, or a file that takes its place in tests and kiosks
without sound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Optional, Protocol

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.audio.device_sink import SinkStats
    from edge_tts.audio.sink import RawSink


class Output(Protocol):
    """The part of `edge_tts.audio.device_sink.DeviceSink` that the player uses."""

    def open(self) -> None:
        """Open and run silent; AudioError when that is impossible now."""

    def reopen(self) -> None:
        """Close, look for devices again, open."""

    def write(self, chunk: "AudioChunk") -> None:
        """Queue sound; AudioError when the device is lost."""

    def finish(self) -> None:
        """No sound follows what has been written, so that running dry is no fault."""

    def drain(self) -> None:
        """Return when everything written has been heard."""

    def abort(self) -> None:
        """Silence at once and forget what is queued; `played_samples` keeps the position."""

    def close(self) -> None:
        """Release the device."""

    def check(self) -> None:
        """AudioError when the device is lost."""

    @property
    def played_samples(self) -> int:
        """Samples heard since the first write, or since the sample rate last changed."""

    @property
    def queued_s(self) -> float:
        """Seconds written and not yet taken by the device."""

    @property
    def stats(self) -> "SinkStats":
        """Counters since the output was made."""


class FileOutput:
    """Takes every sample the moment it is written, as bare 16-bit PCM; the file appears when the
    service ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sink: "Optional[RawSink]" = None
        self._n_samples = 0

    def open(self) -> None:
        """AudioError when the file cannot be made. It is made by the first write.

        What a service that was killed has left unfinished is removed.
        """
        from edge_tts.audio.wav import PcmOutput, remove_unfinished

        is_special = self._path.exists() and not self._path.is_file()  # as a pipe with a reader
        if self._sink is None and not is_special:
            PcmOutput(self._path).discard()
            remove_unfinished(self._path)

    def reopen(self) -> None:
        """Try again."""
        self.open()

    def write(self, chunk: "AudioChunk") -> None:
        """Append a chunk as 16-bit PCM."""
        if self._sink is None:
            from edge_tts.audio.sink import RawSink

            self._sink = RawSink(self._path, chunk.sample_rate_hz)
        self._sink.write(chunk)
        self._n_samples += len(chunk.samples)

    def finish(self) -> None:
        """A file never runs dry."""

    def drain(self) -> None:
        """Nothing is ever queued."""

    def abort(self) -> None:
        """What is written stays."""

    def close(self) -> None:
        """Give the file its name."""
        if self._sink is not None:
            self._sink.close()
            self._sink = None

    def check(self) -> None:
        """A file does not go away."""

    @property
    def played_samples(self) -> int:
        """Samples written."""
        return self._n_samples

    @property
    def queued_s(self) -> float:
        """Always 0."""
        return 0.0

    @property
    def stats(self) -> "SinkStats":
        """A file never runs dry."""
        from edge_tts.audio.device_sink import SinkStats

        return SinkStats(1, 0, 0, 0)
