"""The harmonic source: shape, pitch, silence, and the phase convention the model learnt."""

import numpy as np
import pytest

from edge_tts.voices.kokoro.source import HOP_SAMPLES, SAMPLE_RATE_HZ, HarmonicSource

N_BINS = 11
FIRST_HARMONIC_ONLY = np.array([1.0] + [0.0] * 8 + [0.0], np.float32)


def resynthesised(harmonics):
    """Overlap-add of the source's short Fourier transform."""
    magnitude, phase = harmonics[0, :N_BINS], harmonics[0, N_BINS:]
    frames = np.fft.irfft(magnitude * np.exp(1j * phase), axis=0, n=20)
    sound = np.zeros(frames.shape[1] * HOP_SAMPLES + 20)
    for index, frame in enumerate(frames.T):
        sound[index * HOP_SAMPLES : index * HOP_SAMPLES + 20] += frame
    return sound


@pytest.mark.parametrize("n_frames", [1, 2, 37])
def test_has_sixty_frames_per_f0_value_and_one_more(n_frames):
    harmonics = HarmonicSource(FIRST_HARMONIC_ONLY).harmonics(np.full(n_frames, 150.0))
    assert harmonics.shape == (1, 2 * N_BINS, 60 * n_frames + 1)
    assert harmonics.dtype == np.float32


@pytest.mark.parametrize("f0_hz", [80.0, 200.0, 400.0])
def test_sounds_at_f0(f0_hz):
    harmonics = HarmonicSource(FIRST_HARMONIC_ONLY).harmonics(np.full(80, f0_hz))
    sound = resynthesised(harmonics)
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))))
    peak_hz = np.argmax(spectrum) * SAMPLE_RATE_HZ / len(sound)
    assert peak_hz == pytest.approx(f0_hz, abs=2)


def test_unvoiced_frames_hold_the_mixer_bias_only():
    mixer = FIRST_HARMONIC_ONLY.copy()
    mixer[-1] = -0.03
    harmonics = HarmonicSource(mixer).harmonics(np.full(10, 7.0))
    inner = harmonics[0, :, 5:-5]
    assert np.allclose(inner[0], np.tanh(0.03) * 10, rtol=1e-3)
    assert np.allclose(inner[3:N_BINS], 0, atol=1e-6)


def test_a_negative_real_bin_has_phase_plus_pi_at_0_hz_and_nyquist():
    mixer = FIRST_HARMONIC_ONLY.copy()
    mixer[-1] = -0.03
    phase = HarmonicSource(mixer).harmonics(np.full(10, 0.0))[0, N_BINS:]
    assert np.all(phase[0] == np.float32(np.pi))
    assert set(np.unique(phase[-1])) <= {np.float32(0), np.float32(np.pi)}


def test_phase_does_not_drift_over_a_long_utterance():
    f0_hz = np.full(2400, 230.0)  # 30 s
    harmonics = HarmonicSource(FIRST_HARMONIC_ONLY).harmonics(f0_hz)
    n_periods = 230 * 60 * HOP_SAMPLES * np.arange(200, 2300, 100) / SAMPLE_RATE_HZ
    turns = harmonics[0, N_BINS + 1, 60 * np.arange(200, 2300, 100)] / (2 * np.pi)
    drift = (turns - n_periods) % 1.0
    assert np.ptp(np.exp(2j * np.pi * drift).real) < 1e-3
