"""A recording that is to serve as a speaker's example, or a clear reason why it cannot."""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edge_tts.audio.resample import Resampler
from edge_tts.errors import AudioError, InputError

SHORTEST_S, LONGEST_S = 1.0, 30.0
MIN_RATE_HZ = 16_000

_MAX_CHANNELS = 8
_BLOCK_S = 0.025
_AUDIBLE_DBFS = -50.0
_MIN_AUDIBLE_S = 0.5
_FULL_SCALE = {2: 2.0**15, 3: 2.0**23, 4: 2.0**31}


@dataclass(frozen=True)
class Recording:
    """Mono float32 samples in [-1, 1]."""

    samples: "np.ndarray"
    sample_rate_hz: int

    @classmethod
    def read(cls, path: Path) -> "Recording":
        """Read a PCM WAV file; channels are averaged.

        Raises InputError `input.unusable_recording` when it is no such file, too short, too long,
        of too low a rate, or silent.
        """
        try:
            with wave.open(str(path), "rb") as file:
                recording = cls(*_contents(path, file))
        except (OSError, EOFError, wave.Error) as error:
            raise unusable(path, f"it is not a PCM WAV file ({error})") from error
        audible_s = recording.audible_seconds
        if audible_s < _MIN_AUDIBLE_S:
            raise unusable(path, f"only {audible_s:.1f} s of it are louder than {_AUDIBLE_DBFS} dB")
        return recording

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.samples) / self.sample_rate_hz

    @property
    def audible_seconds(self) -> float:
        """How much of it is not silence."""
        size = int(_BLOCK_S * self.sample_rate_hz)
        blocks = self.samples[: len(self.samples) // size * size].reshape(-1, size)
        power = np.square(blocks, dtype=np.float64).mean(axis=1)
        return float(_BLOCK_S * np.count_nonzero(power > 10 ** (_AUDIBLE_DBFS / 10)))

    def at(self, sample_rate_hz: int) -> "np.ndarray":
        """The samples at another rate. Raises InputError for a rate without a common ratio."""
        try:
            resampler = Resampler(self.sample_rate_hz, sample_rate_hz)
        except AudioError as error:
            raise InputError(str(error), code="input.unusable_recording") from error
        return np.concatenate([resampler.push(self.samples), resampler.finish()])


def unusable(path: Path, cause: str) -> InputError:
    """The error for a recording that cannot serve."""
    return InputError(
        f"{path} cannot serve as a speaker's example: {cause}; record {SHORTEST_S:g} to "
        f"{LONGEST_S:g} s of one person speaking, as 16-bit WAV of {MIN_RATE_HZ} Hz or more",
        code="input.unusable_recording",
    )


def _contents(path: Path, file: wave.Wave_read) -> "tuple[np.ndarray, int]":
    rate_hz, width, n_channels = file.getframerate(), file.getsampwidth(), file.getnchannels()
    if rate_hz < MIN_RATE_HZ:
        raise unusable(path, f"its sample rate is {rate_hz} Hz")
    if width not in _FULL_SCALE or n_channels > _MAX_CHANNELS:
        raise unusable(path, f"it has {8 * width} bits and {n_channels} channels")
    # Not what the header claims: the file may be cut off.
    limit = int(LONGEST_S * rate_hz) + 1
    data = file.readframes(limit)
    samples = _decoded(data[: len(data) // (width * n_channels) * (width * n_channels)], width)
    mono = samples.reshape(-1, n_channels).mean(axis=1, dtype=np.float64).astype(np.float32)
    if len(mono) < SHORTEST_S * rate_hz:
        raise unusable(path, f"it lasts {len(mono) / rate_hz:.2f} s")
    if len(mono) >= limit:
        raise unusable(path, "it is too long")
    return mono, rate_hz


def _decoded(data: bytes, width: int) -> "np.ndarray":
    if width == 3:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        integers: np.ndarray = wide.view("<i4").ravel() >> 8
    else:
        integers = np.frombuffer(data, f"<i{width}")
    samples: np.ndarray = (integers / _FULL_SCALE[width]).astype(np.float32)
    return samples
