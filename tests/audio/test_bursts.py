import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.bursts import BurstSoftener

RATE_HZ = 24000


def soften(samples, cuts=(), rate_hz=RATE_HZ):
    softener = BurstSoftener(rate_hz)
    pieces = np.split(samples, sorted(min(cut, len(samples)) for cut in cuts))
    softened = [softener.push(piece) for piece in pieces]
    return np.concatenate([*softened, softener.finish()])


def hum(n_samples, seed=0):
    """Smooth sound with a little noise, as speech between its bursts is."""
    random = np.random.RandomState(seed)
    tone = 0.2 * np.sin(2 * np.pi * 200 * np.arange(n_samples) / RATE_HZ)
    return (tone + 1e-3 * random.standard_normal(n_samples)).astype(np.float32)


def with_bursts(n_samples, positions, seed=0):
    samples = hum(n_samples, seed)
    for position in positions:
        samples[min(position, n_samples - 1)] += 0.3
    return samples


def sharpness(samples):
    return float(np.abs(np.diff(samples, 3)).max())


@given(
    n_samples=st.integers(1, 6000),
    positions=st.lists(st.integers(0, 5999), max_size=4),
    cuts=st.lists(st.integers(0, 6000), max_size=12),
)
@settings(max_examples=60, deadline=None)
def test_cuts_do_not_change_the_result(n_samples, positions, cuts):
    samples = with_bursts(n_samples, positions)
    whole = soften(samples)
    assert len(whole) == n_samples
    assert np.array_equal(soften(samples, cuts), whole)


@pytest.mark.parametrize("rate_hz", [16000, 22050, 24000, 48000])
@pytest.mark.parametrize("position", [0, 1, 700, 2999])
def test_a_burst_loses_most_of_its_edge(rate_hz, position):
    samples = with_bursts(3000, [position])
    softened = soften(samples, rate_hz=rate_hz)
    assert sharpness(np.pad(softened, 5)) < 0.5 * sharpness(np.pad(samples, 5))


def test_only_half_a_millisecond_to_either_side_changes():
    samples = with_bursts(3000, [1500])
    changed = np.flatnonzero(soften(samples) != samples)
    assert 1500 in changed
    assert changed.min() >= 1500 - 14
    assert changed.max() <= 1500 + 14


def test_sound_without_bursts_stays_as_it_is():
    samples = hum(RATE_HZ)
    assert np.array_equal(soften(samples), samples)
    noise = 0.1 * np.random.RandomState(1).standard_normal(RATE_HZ).astype(np.float32)
    assert np.array_equal(soften(noise), noise)


def test_silence_and_nothing_are_borne():
    assert len(soften(np.zeros(0, dtype=np.float32))) == 0
    assert not soften(np.zeros(999, dtype=np.float32)).any()
