"""Where finished sound goes: a file, a pipe, or the sound device."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Optional, Protocol, Type, TypeVar, Union

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.device_sink import DeviceSink
from edge_tts.audio.wav import MAX_DATA_BYTES, PcmOutput, to_pcm16, wav_header
from edge_tts.errors import AudioError

__all__ = ["DeviceSink", "RawSink", "Sink", "WavSink"]

_File = TypeVar("_File", bound="_FileSink")


class Sink(Protocol):
    """What every destination offers. Failures are AudioErrors with a code per cause.

    As a context manager it is closed at the end; an exception gives up what is unfinished.
    """

    def __enter__(self) -> Any:
        """The sink itself."""

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        """Close, or abort after an exception."""

    def write(self, chunk: AudioChunk) -> None:
        """Take a chunk; blocks while the destination is full."""

    def drain(self) -> None:
        """Return when everything written has been played or handed on."""

    def abort(self) -> None:
        """Give up what has been written: silence a device, leave no file. Any thread may call."""

    def close(self) -> None:
        """Complete a file, release a device. Idempotent."""


class _FileSink:
    """Shared by both file formats; used as a context manager, an exception discards the file."""

    def __init__(self, target: Union[str, Path], sample_rate_hz: int) -> None:
        self._sample_rate_hz = sample_rate_hz
        self._output = PcmOutput(target)
        self._n_bytes = 0

    def write(self, chunk: AudioChunk) -> None:
        """Append a chunk; AudioError `audio.rate_unsupported` if its rate is another one."""
        if chunk.sample_rate_hz != self._sample_rate_hz:
            raise AudioError(
                f"{self._output.name} holds {self._sample_rate_hz} Hz sound and cannot take "
                f"{chunk.sample_rate_hz} Hz; write each rate to a file of its own",
                code="audio.rate_unsupported",
            )
        data = to_pcm16(chunk.samples).tobytes()
        self._check_size(len(data))
        self._output.write(data)
        self._n_bytes += len(data)

    def drain(self) -> None:
        """Nothing to wait for: every write is handed to the system at once."""

    def abort(self) -> None:
        """Remove the unfinished file; what a stream has taken cannot be called back."""
        self._output.discard()

    def close(self) -> None:
        """Sync the file and give it its name, unless it was aborted. Idempotent."""
        self._output.commit(self._header())

    def __enter__(self: _File) -> _File:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if kind is not None:
            self.abort()
        self.close()

    def _header(self) -> bytes:
        return b""

    def _check_size(self, n_bytes: int) -> None:
        """A bare PCM file may grow as it likes."""


class WavSink(_FileSink):
    """Mono 16 bit WAV. `target` "-" streams to stdout with a header of unknown length."""

    def __init__(self, target: Union[str, Path], sample_rate_hz: int) -> None:
        super().__init__(target, sample_rate_hz)
        try:
            self._output.write(wav_header(sample_rate_hz, None if self._output.is_stream else 0))
        except AudioError:
            self.abort()
            raise

    def _header(self) -> bytes:
        return wav_header(self._sample_rate_hz, self._n_bytes)

    def _check_size(self, n_bytes: int) -> None:
        if not self._output.is_stream and self._n_bytes + n_bytes > MAX_DATA_BYTES:
            raise AudioError(
                "a WAV file cannot hold more than 4 GiB; use --raw or split the text",
                code="audio.unwritable",
            )


class RawSink(_FileSink):
    """Bare little-endian 16 bit mono samples; `target` "-" is stdout."""
