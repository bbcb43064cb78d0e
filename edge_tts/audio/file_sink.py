"""Sound files of any format: what they share, and WAV and bare PCM."""

from __future__ import annotations

import abc
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Optional, Type, TypeVar, Union

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.wav import MAX_DATA_BYTES, PcmOutput, to_pcm16, wav_header
from edge_tts.errors import AudioError

if TYPE_CHECKING:
    import numpy as np

_File = TypeVar("_File", bound="FileSink")


class FileSink(abc.ABC):
    """A file of one sample rate; an exception, or `abort`, leaves nothing behind. "-" is stdout."""

    def __init__(self, target: Union[str, Path], sample_rate_hz: int) -> None:
        self._sample_rate_hz = sample_rate_hz
        self._output = PcmOutput(target)

    def write(self, chunk: AudioChunk) -> None:
        """Append a chunk; AudioError `audio.rate_unsupported` if its rate is another one."""
        if chunk.sample_rate_hz != self._sample_rate_hz:
            raise AudioError(
                f"{self._output.name} holds {self._sample_rate_hz} Hz sound and cannot take "
                f"{chunk.sample_rate_hz} Hz; write each rate to a file of its own",
                code="audio.rate_unsupported",
            )
        self._output.write(self._encoded(chunk.samples))

    def drain(self) -> None:  # noqa: B027 - the same for every format
        """Nothing to wait for: every write is handed to the system at once."""

    def abort(self) -> None:
        """Remove the unfinished file; what a stream has taken cannot be called back."""
        self._output.discard()

    def close(self) -> None:
        """Sync the file and give it its name, unless it was aborted. Idempotent."""
        self._output.commit(self._head())

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

    @abc.abstractmethod
    def _encoded(self, samples: "np.ndarray") -> bytes:
        """The bytes of the file that these samples complete."""

    def _head(self) -> bytes:
        """The first bytes of the file, where they are only known at its end."""
        return b""


class RawSink(FileSink):
    """Bare little-endian 16 bit mono samples; `target` "-" is stdout."""

    def _encoded(self, samples: "np.ndarray") -> bytes:
        data: bytes = to_pcm16(samples).tobytes()
        return data


class WavSink(FileSink):
    """Mono 16 bit WAV. `target` "-" streams to stdout with a header of unknown length."""

    def __init__(self, target: Union[str, Path], sample_rate_hz: int) -> None:
        super().__init__(target, sample_rate_hz)
        self._n_bytes = 0
        try:
            self._output.write(wav_header(sample_rate_hz, None if self._output.is_stream else 0))
        except AudioError:
            self.abort()
            raise

    def _encoded(self, samples: "np.ndarray") -> bytes:
        data: bytes = to_pcm16(samples).tobytes()
        if not self._output.is_stream and self._n_bytes + len(data) > MAX_DATA_BYTES:
            raise AudioError(
                "a WAV file cannot hold more than 4 GiB; use --raw or split the text",
                code="audio.unwritable",
            )
        self._n_bytes += len(data)
        return data

    def _head(self) -> bytes:
        return wav_header(self._sample_rate_hz, self._n_bytes)
