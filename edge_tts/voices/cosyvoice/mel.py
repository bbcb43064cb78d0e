"""Log-mel spectrum of a spoken example, as the flow was trained on it (Matcha-TTS's extractor)."""

from __future__ import annotations

import numpy as np

from edge_tts.voices.cosyvoice.settings import MEL_BANDS

_HIGHEST_HZ = 8000.0
_POWER_FLOOR = 1e-9
_MEL_FLOOR = 1e-5
_WINDOW_HOPS = 4

# Slaney's mel scale: linear up to 1 kHz, logarithmic above.
_LINEAR_HZ_PER_MEL = 200.0 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _LINEAR_HZ_PER_MEL
_LOG_STEP = np.log(6.4) / 27


def log_mel(samples: "np.ndarray", sample_rate_hz: int, hop: int) -> "np.ndarray":
    """Float32 [samples / hop, 80] of mono float32 samples; windows are four hops long."""
    size = _WINDOW_HOPS * hop
    padded = np.pad(samples.astype(np.float64), (size - hop) // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    bands = np.sqrt(power + _POWER_FLOOR) @ slaney_filters(sample_rate_hz, size, MEL_BANDS).T
    mel: np.ndarray = np.log(np.maximum(bands, _MEL_FLOOR)).astype(np.float32)
    return mel


def slaney_filters(sample_rate_hz: int, size: int, n_bands: int) -> "np.ndarray":
    """Triangles of equal area up to 8 kHz on Slaney's scale, [bands, size / 2 + 1]."""
    mels = np.linspace(0, _to_mel(_HIGHEST_HZ), n_bands + 2)
    edges = _to_hz(mels)
    bins = np.fft.rfftfreq(size, 1 / sample_rate_hz)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    triangles: np.ndarray = np.maximum(0, np.minimum(rising, falling)) * 2 / (right - left)
    return triangles


def _to_mel(hz: float) -> float:
    return float(_BREAK_MEL + np.log(hz / _BREAK_HZ) / _LOG_STEP)


def _to_hz(mels: "np.ndarray") -> "np.ndarray":
    low = mels * _LINEAR_HZ_PER_MEL
    high = _BREAK_HZ * np.exp(_LOG_STEP * (mels - _BREAK_MEL))
    hz: np.ndarray = np.where(mels < _BREAK_MEL, low, high)
    return hz
