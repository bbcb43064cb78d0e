"""Compressed sound, FLAC and Ogg Opus, through libsndfile.

libsndfile (LGPL-2.1+) is reached through the package `soundfile` (BSD-3-Clause) of the optional
extra `encode`: nothing is linked, and without it only these two formats are missing.
"""

from __future__ import annotations

import enum
import io
from pathlib import Path
from typing import Any, Union

import numpy as np

from edge_tts.audio.file_sink import FileSink
from edge_tts.audio.resample import Resampler
from edge_tts.audio.wav import to_pcm16
from edge_tts.errors import AudioError

_OPUS_RATES_HZ = (8000, 12000, 16000, 24000, 48000)
_HEAD_BYTES = 64 * 1024


class Encoding(str, enum.Enum):
    """A compressed format; the value is also the usual suffix of its files."""

    FLAC = "flac"
    OPUS = "opus"

    @property
    def media_type(self) -> str:
        """For the Content-Type header (RFC 9639, RFC 7845)."""
        return "audio/flac" if self is Encoding.FLAC else "audio/ogg; codecs=opus"


class Encoder:
    """Mono float32 samples in, bytes of a FLAC or Ogg Opus file out, in bounded memory.

    The bytes returned in order are a complete stream whose length FLAC does not state; `head`,
    after `finish`, is what to put over the first bytes of a file for it to be stated. Opus knows
    five sample rates; sound of another one is resampled to 24 kHz.

    Raises AudioError `audio.encoder_missing` without the extra `encode`.
    """

    def __init__(self, encoding: Encoding, sample_rate_hz: int) -> None:
        soundfile = _soundfile()
        is_opus = encoding is Encoding.OPUS
        rate_hz = sample_rate_hz
        if is_opus and rate_hz not in _OPUS_RATES_HZ:
            rate_hz = 24000
        self._resampler = Resampler(sample_rate_hz, rate_hz) if rate_hz != sample_rate_hz else None
        self._is_opus = is_opus
        self._tape = _Tape()
        try:
            self._file: Any = soundfile.SoundFile(
                self._tape,
                "w",
                samplerate=rate_hz,
                channels=1,
                format="OGG" if is_opus else "FLAC",
                subtype="OPUS" if is_opus else "PCM_16",
            )
        except (soundfile.SoundFileError, ValueError, TypeError) as error:
            raise AudioError(
                f"libsndfile {soundfile.__libsndfile_version__} cannot write {encoding.value} at "
                f"{rate_hz} Hz ({error}); upgrade the package soundfile or choose WAV",
                code="audio.rate_unsupported",
            ) from error

    @property
    def head(self) -> bytes:
        """The first bytes of the file as they must be at its end."""
        return bytes(self._tape.head)

    def encode(self, samples: np.ndarray) -> bytes:
        """The bytes that these samples complete; often none."""
        self._push(samples if self._resampler is None else self._resampler.push(samples))
        return self._tape.take()

    def finish(self) -> bytes:
        """The last bytes. Nothing can be encoded afterwards. Idempotent."""
        if not self._file.closed:
            if self._resampler is not None:
                self._push(self._resampler.finish())
            self._file.close()
        return self._tape.take()

    def _push(self, samples: np.ndarray) -> None:
        if len(samples):
            # The same 16 bits as in a WAV file; Opus takes what is not rounded.
            self._file.write(samples if self._is_opus else to_pcm16(samples))


class EncodedSink(FileSink):
    """A FLAC or Opus file."""

    def __init__(self, target: Union[str, Path], sample_rate_hz: int, encoding: Encoding) -> None:
        # First: without its library there must not be a file either.
        self._encoder = Encoder(encoding, sample_rate_hz)
        super().__init__(target, sample_rate_hz)

    def abort(self) -> None:
        """As of any file; the encoder is given up too."""
        super().abort()
        self._encoder.finish()

    def close(self) -> None:
        """As of any file, after what the encoder still holds."""
        rest = self._encoder.finish()
        if rest:
            self._output.write(rest)
        super().close()

    def _encoded(self, samples: np.ndarray) -> bytes:
        return self._encoder.encode(samples)

    def _head(self) -> bytes:
        return self._encoder.head


class _Tape:
    """What libsndfile takes for a file: hands on what is appended, and remembers its first bytes.

    libsndfile goes back only to complete the head. Nothing here may raise: it is called from C.
    """

    def __init__(self) -> None:
        self.head = bytearray()
        self._fresh = bytearray()
        self._position = 0
        self._length = 0

    def take(self) -> bytes:
        """What has been appended since the last call."""
        fresh, self._fresh = self._fresh, bytearray()
        return bytes(fresh)

    def write(self, data: Any) -> int:
        """Append, or change the head."""
        written = bytes(data)
        end = self._position + len(written)
        if self._position < _HEAD_BYTES:
            self.head[self._position : end] = written[: _HEAD_BYTES - self._position]
        self._fresh += written[max(0, self._length - self._position) :]
        self._position = end
        self._length = max(self._length, end)
        return len(written)

    def read(self, n_bytes: int = -1) -> bytes:
        """Nothing: a file that is being written is not read."""
        return b""

    def readinto(self, buffer: Any) -> int:
        """Nothing, as `read`."""
        return 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As of a file."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def tell(self) -> int:
        """As of a file."""
        return self._position


def _soundfile() -> Any:
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise AudioError(
            f"FLAC and Opus need the package soundfile ({error}); install it with "
            "`pip install 'edge-tts-device[encode]'`, or choose WAV",
            code="audio.encoder_missing",
        ) from error
    return soundfile
