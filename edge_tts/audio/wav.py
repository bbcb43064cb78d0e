"""Write sound as WAV or bare PCM (16 bit little-endian mono) to a file or to stdout."""

from __future__ import annotations

import errno
import glob
import os
import stat
import struct
from pathlib import Path
from typing import IO, Optional, Union

import numpy as np

from edge_tts.audio import unfinished
from edge_tts.errors import AudioError

STDOUT = "-"
MAX_DATA_BYTES = 0xFFFFFFFF - 44
"""What a RIFF header can state; a stream of unknown length states 0xFFFFFFFF instead."""

_BYTES_PER_SAMPLE = 2
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def to_pcm16(samples: np.ndarray) -> np.ndarray:
    """Round float samples in [-1, 1] to little-endian int16; what lies outside saturates."""
    scaled = np.rint(np.asarray(samples, dtype=np.float32) * np.float32(32767.0))
    return np.clip(scaled, -32767.0, 32767.0).astype("<i2")


def wav_header(sample_rate_hz: int, n_bytes: Optional[int]) -> bytes:
    """The 44 bytes before mono 16 bit samples; `n_bytes` None for a stream of unknown length."""
    riff_bytes = 0xFFFFFFFF if n_bytes is None else 36 + n_bytes
    data_bytes = 0xFFFFFFFF if n_bytes is None else n_bytes
    byte_rate = sample_rate_hz * _BYTES_PER_SAMPLE
    fmt = (16, 1, 1, sample_rate_hz, byte_rate, _BYTES_PER_SAMPLE, 8 * _BYTES_PER_SAMPLE)
    return struct.pack("<4sI4s", b"RIFF", riff_bytes, b"WAVE") + struct.pack(
        "<4sIHHIIHH4sI", b"fmt ", *fmt, b"data", data_bytes
    )


def remove_unfinished(target: Path) -> None:
    """Remove what writers of `target` that were killed have left; only while nobody writes it."""
    path = Path(os.path.realpath(str(target)))
    for left in path.parent.glob(f"{glob.escape(_temporary_prefix(path))}{'[0-9a-f]' * 8}.part"):
        left.unlink()


def _temporary_prefix(path: Path) -> str:
    return f".{path.name[:200]}."


class PcmOutput:
    """Where bytes go: a file that appears only when complete, or a stream that cannot be undone.

    A regular file is written under a temporary name beside its target, synced, and renamed by
    `commit`; `discard` leaves nothing behind. "-" is stdout; pipes and devices are written as they
    are. Every failure is an AudioError: `audio.disk_full`, `audio.closed_pipe` or
    `audio.unwritable`.
    """

    def __init__(self, target: Union[str, Path]) -> None:
        self.name = "stdout" if target == STDOUT else str(target)
        self._final: Optional[Path] = None
        self._temporary: Optional[Path] = None
        self._file: Optional[IO[bytes]] = None
        try:
            self._open(target)
        except OSError as error:
            raise self._explained(error) from error

    @property
    def is_stream(self) -> bool:
        """True where the header must be right before the length is known."""
        return self._final is None

    def write(self, data: bytes) -> None:
        """Write all of `data`."""
        if self._file is None:
            raise AudioError(f"{self.name} is already closed", code="audio.unwritable")
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise self._explained(error) from error

    def commit(self, header: bytes = b"") -> None:
        """Put `header` over the first bytes of a file, sync it and give it its name."""
        if self._file is None:
            return
        try:
            if self._final is not None and self._temporary is not None:
                self._file.seek(0)
                self.write(header)
                os.fsync(self._file.fileno())
                self._temporary.replace(self._final)
                unfinished.end(self._temporary)
                self._temporary = None
        except OSError as error:
            raise self._explained(error) from error
        finally:
            self.discard()

    def discard(self) -> None:
        """Close, and remove a file that was not committed. Idempotent."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._temporary is not None:
            self._temporary.unlink()
            unfinished.end(self._temporary)
            self._temporary = None

    def _open(self, target: Union[str, Path]) -> None:
        if target == STDOUT:
            # Unbuffered, so that a closed pipe is noticed by the write that meets it.
            self._file = open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115
            return
        # What is no file is opened by its own name: /dev/stdout may lead to a pipe without one.
        path = Path(target)
        mode = path.stat().st_mode if path.exists() else None
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if mode is not None and not stat.S_ISREG(mode):
            self._file = path.open("wb", buffering=0)
            return
        path = Path(os.path.realpath(str(target)))
        if mode is not None and not os.access(str(path), os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        temporary = path.with_name(f"{_temporary_prefix(path)}{os.urandom(4).hex()}.part")
        unfinished.begin(temporary)
        try:
            self._file = temporary.open("xb", buffering=0)
        except OSError:
            unfinished.end(temporary)
            raise
        self._final, self._temporary = path, temporary
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))

    def _explained(self, error: OSError) -> AudioError:
        if error.errno in _DISK_FULL:
            return AudioError(
                f"no space left to write {self.name}; free some and run again",
                code="audio.disk_full",
            )
        if isinstance(error, BrokenPipeError):
            return AudioError(f"the reader of {self.name} has gone", code="audio.closed_pipe")
        reason = error.strerror or str(error)
        return AudioError(
            f"cannot write {self.name}: {reason}; choose another place with -o",
            code="audio.unwritable",
        )
