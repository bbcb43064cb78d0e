"""Time stretch: length, pitch, smoothness, independence of the cuts."""

from __future__ import annotations

from typing import List

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.tempo import TimeStretch
from edge_tts.errors import InputError

RATE_HZ = 24000
TEMPOS = [0.5, 0.7, 0.9, 1.1, 1.5, 2.0]


def tone(hz: float, duration_s: float = 2.0) -> np.ndarray:
    t = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    return (0.4 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def voiced(f0_hz: float, duration_s: float = 2.0) -> np.ndarray:
    """A buzz with a gliding pitch and twenty harmonics, like a vowel."""
    t = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    phase = 2 * np.pi * f0_hz * (t + 0.05 * t * t)
    return sum(np.sin(k * phase) / k for k in range(1, 21)).astype(np.float32) * np.float32(0.2)


def stretched(sound: np.ndarray, tempo: float, cuts: List[int] = ()) -> np.ndarray:  # type: ignore[assignment]
    stretch = TimeStretch(RATE_HZ, tempo)
    pieces = np.split(sound, sorted(cuts))
    return np.concatenate([stretch.push(piece) for piece in pieces] + [stretch.finish()])


@pytest.mark.parametrize("tempo", TEMPOS)
@pytest.mark.parametrize("n_samples", [0, 1, 100, 719, 12345, 48000])
def test_length_is_exact(tempo: float, n_samples: int) -> None:
    assert len(stretched(tone(200.0)[:n_samples], tempo)) == round(n_samples / tempo)


@pytest.mark.parametrize("tempo", TEMPOS)
@pytest.mark.parametrize("hz", [80.0, 233.0, 1000.0, 3100.0])
def test_pitch_of_a_tone_is_kept(tempo: float, hz: float) -> None:
    output = stretched(tone(hz), tempo)[2000:-2000]
    spectrum = np.abs(np.fft.rfft(output * np.hanning(len(output)), 1 << 18))
    assert np.argmax(spectrum) * RATE_HZ / (1 << 18) == pytest.approx(hz, rel=0.01)


@pytest.mark.parametrize("tempo", TEMPOS)
@pytest.mark.parametrize("f0_hz", [75.0, 120.0, 240.0])
def test_no_click_and_no_hole_in_a_voiced_sound(tempo: float, f0_hz: float) -> None:
    source = voiced(f0_hz)
    output = stretched(source, tempo)[: -RATE_HZ // 20]
    assert np.abs(np.diff(output)).max() <= 1.05 * np.abs(np.diff(source)).max()
    frame = round(1.5 / f0_hz * RATE_HZ)
    frames = output[: len(output) // frame * frame].reshape(-1, frame)
    assert frames.std(axis=1).min() > 0.6 * source.std()


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(0, 24000), max_size=10), tempo=st.sampled_from(TEMPOS))
def test_cuts_do_not_matter(cuts: List[int], tempo: float) -> None:
    sound = voiced(110.0, 1.0)
    assert np.array_equal(stretched(sound, tempo, cuts), stretched(sound, tempo))


def test_tempo_one_changes_nothing() -> None:
    assert np.array_equal(stretched(voiced(100.0), 1.0, [77, 4000]), voiced(100.0))


def test_starts_with_the_very_first_samples() -> None:
    assert np.array_equal(stretched(voiced(100.0), 1.5)[:100], voiced(100.0)[:100])


@pytest.mark.parametrize("tempo", [0.49, 2.01, float("nan")])
def test_out_of_range(tempo: float) -> None:
    with pytest.raises(InputError):
        TimeStretch(RATE_HZ, tempo)
