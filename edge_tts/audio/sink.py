"""Where finished sound goes: a file, a pipe, or the sound device."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Optional, Protocol, Type

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.device_sink import DeviceSink
from edge_tts.audio.file_sink import RawSink, WavSink

__all__ = ["DeviceSink", "RawSink", "Sink", "WavSink"]


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
