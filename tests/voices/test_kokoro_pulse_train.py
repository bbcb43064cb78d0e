import numpy as np
import pytest

from edge_tts.voices.kokoro.pulse_train import FRAME_SAMPLES, PulseTrain


def curve(n_frames: int = 120) -> np.ndarray:
    f0_hz = 180 + 60 * np.sin(np.arange(n_frames) / 9)
    f0_hz[40:60] = 0
    return f0_hz.astype(np.float32)


def test_windows_are_cuts_of_the_whole() -> None:
    train = PulseTrain(curve())
    whole = train.window(0, 120)
    for start, end in ((0, 1), (7, 30), (38, 62), (119, 120)):
        part = train.window(start, end)
        assert np.array_equal(part, whole[start * FRAME_SAMPLES : end * FRAME_SAMPLES])


def test_it_is_the_sum_of_its_harmonics() -> None:
    f0_hz = 200.0
    samples = PulseTrain(np.full(20, f0_hz)).window(5, 15)
    # A constant F0 starts at one frame's phase at the first frame's centre.
    time_s = (np.arange(5 * FRAME_SAMPLES, 15 * FRAME_SAMPLES) + 0.5) / 24000
    phase = 2 * np.pi * f0_hz * (time_s + 0.5 * FRAME_SAMPLES / 24000)
    harmonics = np.arange(1, 60)
    expected = np.cos(np.outer(harmonics, phase)).sum(0) * np.sqrt(2 / 59)
    assert samples == pytest.approx(expected, abs=1e-4)


def test_unvoiced_frames_are_silent_and_voiced_ones_have_unit_power() -> None:
    train = PulseTrain(curve())
    assert not train.window(40, 60).any()
    assert np.mean(train.window(70, 110) ** 2) == pytest.approx(1, rel=0.05)
