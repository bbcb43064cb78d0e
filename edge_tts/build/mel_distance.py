"""How far two sounds are apart, and the spectra that is measured on."""

from __future__ import annotations

import numpy as np

_FFT_SIZE, _HOP, _N_BANDS = 1024, 256, 80
_SAMPLE_RATE_HZ = 24_000
_FLOOR = 1e-3


def mel_distance_db(first: "np.ndarray", second: "np.ndarray") -> float:
    """Mean absolute difference of two equally long sounds' log-mel spectra, in dB."""
    return float(20 * np.abs(log_mel(first) - log_mel(second)).mean())


def log_mel(sound: "np.ndarray") -> "np.ndarray":
    """Log10 magnitudes [frames, 80] of a sound at 24 kHz."""
    padded = np.pad(sound.astype(np.float64), _FFT_SIZE // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT_SIZE)[::_HOP]
    spectrum = np.abs(np.fft.rfft(frames * np.hanning(_FFT_SIZE), axis=1))
    levels: np.ndarray = np.log10(np.maximum(spectrum @ _mel_bands().T, _FLOOR))
    return levels


def _mel_bands() -> "np.ndarray":
    """Triangular filters, HTK mel scale, 30 Hz to 11.5 kHz: [bands, bins]."""
    low, high = (2595 * np.log10(1 + hz / 700) for hz in (30, 11_500))
    edges = 700 * (10 ** (np.linspace(low, high, _N_BANDS + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(_FFT_SIZE, 1 / _SAMPLE_RATE_HZ)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    return np.maximum(0, np.minimum(rising, falling))
