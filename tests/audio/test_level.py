"""Loudness against the standard's own calibration, and the limiter's curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.audio.level import (
    LIMIT_CEILING,
    LIMIT_KNEE,
    gain_to_target,
    limit,
    loudness_lufs,
)


def tone(amplitude: float, rate_hz: int, hz: float = 997.0, duration_s: float = 5.0) -> np.ndarray:
    t = np.arange(round(duration_s * rate_hz)) / rate_hz
    return (amplitude * np.sin(2 * np.pi * hz * t)).astype(np.float32)


@pytest.mark.parametrize("rate_hz", [16000, 22050, 24000, 44100, 48000])
def test_full_scale_997_hz_tone_is_minus_3_01(rate_hz: int) -> None:
    """BS.1770-4: a 0 dBFS, 997 Hz sine on one channel reads -3.01 LKFS."""
    assert loudness_lufs(tone(1.0, rate_hz), rate_hz) == pytest.approx(-3.01, abs=0.05)


def test_k_weighting_at_48_khz_matches_the_published_coefficients() -> None:
    """The standard's table for 48 kHz, applied sample by sample."""
    noise = np.random.RandomState(5).standard_normal(48000) * 0.1
    filtered = _biquad(noise, (1.53512485958697, -2.69169618940638, 1.19839281085285),
                       (-1.69065929318241, 0.73248077421585))  # fmt: skip
    filtered = _biquad(filtered, (1.0, -2.0, 1.0), (-1.99004745483398, 0.99007225036621))
    ungated = -0.691 + 10 * math.log10(np.mean(filtered**2))
    assert loudness_lufs(noise, 48000) == pytest.approx(ungated, abs=0.1)


def _biquad(sound: np.ndarray, b: "tuple[float, ...]", a: "tuple[float, ...]") -> np.ndarray:
    out = np.zeros_like(sound)
    for n in range(len(sound)):
        past = [(sound[n - k], out[n - k]) if n >= k else (0.0, 0.0) for k in (1, 2)]
        out[n] = b[0] * sound[n] + sum(
            b[k] * past[k - 1][0] - a[k - 1] * past[k - 1][1] for k in (1, 2)
        )
    return out


def test_pauses_do_not_lower_the_loudness() -> None:
    speech = tone(0.2, 24000)
    with_pauses = np.concatenate((speech, np.zeros(24000 * 10, np.float32), speech))
    quiet_difference = loudness_lufs(speech, 24000) - loudness_lufs(with_pauses, 24000)
    assert abs(quiet_difference) < 0.3


def test_gain_brings_sound_to_the_target() -> None:
    sound = tone(0.05, 24000)
    gain = gain_to_target(loudness_lufs(sound, 24000), -20.0)
    assert loudness_lufs(sound * np.float32(gain), 24000) == pytest.approx(-20.0, abs=0.01)


@pytest.mark.parametrize("sound", [np.zeros(0), np.zeros(100), np.zeros(48000)])
def test_silence_has_no_loudness_and_needs_no_gain(sound: np.ndarray) -> None:
    assert loudness_lufs(sound, 24000) == -math.inf
    assert gain_to_target(-math.inf) == 1.0


def test_sound_shorter_than_a_gating_block_is_measured() -> None:
    assert loudness_lufs(tone(1.0, 24000, duration_s=0.2), 24000) == pytest.approx(-3.0, abs=0.3)


@given(st.floats(-1e6, 1e6, width=32), st.floats(-1e6, 1e6, width=32))
def test_limiter_is_odd_rising_and_bounded(low: float, high: float) -> None:
    low, high = min(low, high), max(low, high)
    bent = limit(np.array([low, high, -high], np.float32))
    assert bent[0] <= bent[1]
    assert bent[2] == -bent[1]
    assert np.abs(bent).max() <= LIMIT_CEILING


@given(st.floats(-LIMIT_KNEE, LIMIT_KNEE, width=16))
def test_limiter_leaves_what_is_below_the_knee(value: float) -> None:
    assert limit(np.array([value], np.float32))[0] == np.float32(value)


def test_limiter_has_no_corner() -> None:
    x = np.linspace(0.0, 2.0, 200001, dtype=np.float64).astype(np.float32)
    slope = np.diff(limit(x).astype(np.float64)[::100]) / np.diff(x.astype(np.float64)[::100])
    assert np.abs(np.diff(slope)).max() < 0.02
