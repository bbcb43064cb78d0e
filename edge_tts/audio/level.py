"""Loudness after ITU-R BS.1770-4, the static gain that evens voices out, and the soft limiter."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

TARGET_LUFS = -23.0
"""Loudness every speaker is brought to, that of broadcasts (EBU R 128). At -20 the peaks of speech
reach the limiter's knee, and DNSMOS OVRL in English is 0.02 lower."""

LIMIT_KNEE = 0.75
LIMIT_CEILING = 0.98

_BLOCK_S = 0.4
_STEP_S = 0.1
_ABSOLUTE_GATE_LUFS = -70.0
_RELATIVE_GATE_LU = -10.0
# BS.1770 gives its two filters at 48 kHz only; these are the analogue parameters behind them.
_SHELF_HZ, _SHELF_DB, _SHELF_Q = 1681.974450955533, 3.999843853973347, 0.7071752369554196
_HIGHPASS_HZ, _HIGHPASS_Q = 38.13547087602444, 0.5003270373238773


def loudness_lufs(samples: np.ndarray, sample_rate_hz: int) -> float:
    """Integrated loudness of mono samples in LUFS; minus infinity for silence.

    Sound shorter than one 400 ms gating block is measured as one block. Holds the whole sound and
    its spectrum in memory: meant for provisioning, not for playback.
    """
    weighted = _k_weighted(np.asarray(samples, dtype=np.float64), sample_rate_hz)
    power = _block_power(weighted, sample_rate_hz)
    power = power[_lufs(power) > _ABSOLUTE_GATE_LUFS]
    if not len(power):
        return -math.inf
    loud = power[_lufs(power) > float(_lufs(power.mean())) + _RELATIVE_GATE_LU]
    return float(_lufs(loud.mean()))


def gain_to_target(measured_lufs: float, target_lufs: float = TARGET_LUFS) -> float:
    """Linear factor that brings sound of `measured_lufs` to `target_lufs`; 1.0 for silence."""
    if math.isinf(measured_lufs):
        return 1.0
    return float(10.0 ** ((target_lufs - measured_lufs) / 20.0))


def limit(samples: np.ndarray) -> np.ndarray:
    """Bend peaks above `LIMIT_KNEE` so that nothing exceeds `LIMIT_CEILING`.

    Memoryless and built from exactly rounded operations only, so a sample's result depends on
    nothing but that sample. The curve and its slope are continuous at the knee.
    """
    magnitude = np.abs(samples)
    span = np.float32(LIMIT_CEILING - LIMIT_KNEE)
    over = np.maximum(magnitude - np.float32(LIMIT_KNEE), np.float32(0.0)) / span
    bent = np.float32(LIMIT_KNEE) + span * (over / (np.float32(1.0) + over))
    return np.copysign(np.where(over > 0, bent, magnitude), samples)


def _lufs(power: np.ndarray) -> np.ndarray:
    return -0.691 + 10.0 * np.log10(np.maximum(power, 1e-20))


def _block_power(weighted: np.ndarray, sample_rate_hz: int) -> np.ndarray:
    block = round(_BLOCK_S * sample_rate_hz)
    step = round(_STEP_S * sample_rate_hz)
    if len(weighted) < block:
        return np.array([np.mean(weighted**2)]) if len(weighted) else np.zeros(0)
    energy = np.concatenate(([0.0], np.cumsum(weighted**2)))
    starts = np.arange(0, len(weighted) - block + 1, step)
    return (energy[starts + block] - energy[starts]) / block


def _k_weighted(samples: np.ndarray, sample_rate_hz: int) -> np.ndarray:
    """Filter in the frequency domain, padded by half a second for the filters' ringing."""
    size = len(samples) + sample_rate_hz // 2
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(size))
    spectrum = np.fft.rfft(samples, size)
    for numerator, denominator in (_shelf(sample_rate_hz), _highpass(sample_rate_hz)):
        spectrum = spectrum * np.polyval(numerator[::-1], z) / np.polyval(denominator[::-1], z)
    return np.fft.irfft(spectrum, size)[: len(samples)]


_Biquad = Tuple[np.ndarray, np.ndarray]


def _shelf(sample_rate_hz: int) -> _Biquad:
    k = math.tan(math.pi * _SHELF_HZ / sample_rate_hz)
    high = 10.0 ** (_SHELF_DB / 20.0)
    band = high**0.4996667741545416
    a0 = 1.0 + k / _SHELF_Q + k * k
    numerator = (
        high + band * k / _SHELF_Q + k * k,
        2.0 * (k * k - high),
        high - band * k / _SHELF_Q + k * k,
    )
    denominator = (a0, 2.0 * (k * k - 1.0), 1.0 - k / _SHELF_Q + k * k)
    return np.array(numerator) / a0, np.array(denominator) / a0


def _highpass(sample_rate_hz: int) -> _Biquad:
    k = math.tan(math.pi * _HIGHPASS_HZ / sample_rate_hz)
    a0 = 1.0 + k / _HIGHPASS_Q + k * k
    denominator = np.array((a0, 2.0 * (k * k - 1.0), 1.0 - k / _HIGHPASS_Q + k * k)) / a0
    return np.array((1.0, -2.0, 1.0)), denominator
