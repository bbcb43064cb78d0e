"""Resampler: spectrum, delay, length, independence of the cuts."""

from __future__ import annotations

from typing import List

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.resample import Resampler
from edge_tts.errors import AudioError

PAIRS = [(24000, 48000), (24000, 44100), (24000, 16000), (22050, 48000), (22050, 24000)]
PAIRS += [(48000, 16000), (44100, 24000), (24000, 8000), (24000, 96000)]


def converted(sound: np.ndarray, pair: "tuple[int, int]", cuts: List[int] = ()) -> np.ndarray:  # type: ignore[assignment]
    resampler = Resampler(*pair)
    pieces = np.split(sound, sorted(cuts))
    return np.concatenate([resampler.push(piece) for piece in pieces] + [resampler.finish()])


def tone(hz: float, rate_hz: int, n_samples: int) -> np.ndarray:
    return np.sin(2 * np.pi * hz * np.arange(n_samples) / rate_hz).astype(np.float32)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.85, 0.9])
def test_passband_keeps_level_and_time(pair: "tuple[int, int]", share: float) -> None:
    """The output is the same tone sampled at the new rate: no gain, delay or alias above -80 dB."""
    hz = share * min(pair) / 2
    output = converted(tone(hz, pair[0], pair[0]), pair)
    ideal = tone(hz, pair[1], len(output))
    middle = slice(len(output) // 4, -len(output) // 4)
    error = output[middle] - ideal[middle]
    assert 20 * np.log10(np.sqrt(np.mean(error**2)) / np.sqrt(0.5)) < -78


@pytest.mark.parametrize("pair", [(48000, 16000), (44100, 24000), (24000, 16000), (24000, 8000)])
def test_what_cannot_be_represented_is_removed(pair: "tuple[int, int]") -> None:
    for hz in np.linspace(pair[1] / 2 * 1.005, pair[0] / 2 * 0.999, 23):
        output = converted(tone(hz, pair[0], pair[0] // 2), pair)
        middle = output[len(output) // 4 : -len(output) // 4]
        assert 20 * np.log10(np.sqrt(np.mean(middle**2)) / np.sqrt(0.5)) < -80, hz


@pytest.mark.parametrize("pair", [(24000, 48000), (22050, 48000), (24000, 44100)])
def test_images_are_removed(pair: "tuple[int, int]") -> None:
    for hz in np.linspace(200.0, 0.9 * pair[0] / 2, 17):
        output = converted(tone(hz, pair[0], pair[0]), pair)
        spectrum = np.abs(np.fft.rfft(output * np.blackman(len(output)))) ** 2
        bin_hz = pair[1] / len(output)
        own = slice(max(0, round(hz / bin_hz) - 100), round(hz / bin_hz) + 101)
        rest = spectrum.copy()
        rest[own] = 0.0
        assert 10 * np.log10(rest.max() / spectrum[own].max()) < -80, hz


@pytest.mark.parametrize("pair", PAIRS)
def test_length_is_exact(pair: "tuple[int, int]") -> None:
    for n_samples in (0, 1, 2, 79, 1000, 12345):
        expected = -(-n_samples * pair[1] // pair[0])
        assert len(converted(np.ones(n_samples, np.float32), pair)) == expected


@pytest.mark.parametrize("pair", PAIRS)
def test_dc_is_kept(pair: "tuple[int, int]") -> None:
    output = converted(np.full(6000, 0.5, np.float32), pair)
    assert np.allclose(output[len(output) // 3 : -len(output) // 3], 0.5, atol=2e-6)


@settings(max_examples=60, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 5000), max_size=15),
    pair=st.sampled_from(PAIRS),
    seed=st.integers(0, 99),
)
def test_cuts_do_not_matter(cuts: List[int], pair: "tuple[int, int]", seed: int) -> None:
    sound = np.random.RandomState(seed).standard_normal(5000).astype(np.float32)
    assert np.array_equal(converted(sound, pair, cuts), converted(sound, pair))


def test_memory_does_not_grow() -> None:
    resampler = Resampler(24000, 44100)
    sizes = set()
    for _ in range(50):
        resampler.push(np.zeros(4800, np.float32))
        sizes.add(len(resampler._history))
    assert max(sizes) < 400


def test_same_rate_passes_unchanged() -> None:
    sound = tone(440.0, 24000, 1000)
    assert np.array_equal(converted(sound, (24000, 24000), [3, 500]), sound)


def test_a_finished_resampler_starts_anew() -> None:
    resampler = Resampler(24000, 48000)
    sound = tone(440.0, 24000, 1000)
    first = np.concatenate((resampler.push(sound), resampler.finish()))
    assert np.array_equal(np.concatenate((resampler.push(sound), resampler.finish())), first)


def test_odd_ratio_is_refused() -> None:
    with pytest.raises(AudioError) as caught:
        Resampler(24000, 44101)
    assert caught.value.code == "audio.rate_unsupported"
