"""What the two networks that listen to a spoken example are given, both at 16 kHz.

`speaker_features`: Kaldi's filter banks (Povey et al. 2011) with the defaults of its `fbank`, no
dither, less their mean over time; what 3D-Speaker's CAM++ was trained on. `tokenizer_features`:
Whisper's log-mel spectrum with 128 bands (Radford et al. 2022), of the example as long as it is.
"""

from __future__ import annotations

import numpy as np

from edge_tts.voices.cosyvoice.mel import slaney_filters

SAMPLE_RATE_HZ = 16_000
HOP = 160

_SPEAKER_BANDS = 80
_SPEAKER_WINDOW = 400
_SPEAKER_FFT = 512
_LOWEST_HZ = 20.0
_PRE_EMPHASIS = 0.97
_POVEY_POWER = 0.85
_FLOOR = float(np.finfo(np.float32).eps)

_TOKENIZER_BANDS = 128
_TOKENIZER_FFT = 400
_DYNAMIC_RANGE = 8.0


def speaker_features(samples: "np.ndarray") -> "np.ndarray":
    """Float32 [frames, 80] of mono float samples at 16 kHz, 100 frames per second."""
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), _SPEAKER_WINDOW)
    frames = frames[::HOP] - frames[::HOP].mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    phase = 2 * np.pi * np.arange(_SPEAKER_WINDOW) / (_SPEAKER_WINDOW - 1)
    window = (0.5 - 0.5 * np.cos(phase)) ** _POVEY_POWER
    shaped = (frames - _PRE_EMPHASIS * before) * window
    power = np.abs(np.fft.rfft(shaped, _SPEAKER_FFT, axis=1)) ** 2
    banks = np.log(np.maximum(power @ _kaldi_filters().T, _FLOOR))
    features: np.ndarray = (banks - banks.mean(axis=0)).astype(np.float32)
    return features


def tokenizer_features(samples: "np.ndarray") -> "np.ndarray":
    """Float32 [128, frames] of mono float samples at 16 kHz, 100 frames per second."""
    padded = np.pad(samples.astype(np.float64), _TOKENIZER_FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, _TOKENIZER_FFT)[::HOP]
    phase = 2 * np.pi * np.arange(_TOKENIZER_FFT) / _TOKENIZER_FFT
    # The last frame is centred on the end, and Whisper leaves it out.
    power = np.abs(np.fft.rfft(frames[:-1] * (0.5 - 0.5 * np.cos(phase)), axis=1)) ** 2
    filters = slaney_filters(SAMPLE_RATE_HZ, _TOKENIZER_FFT, _TOKENIZER_BANDS)
    bands = np.log10(np.maximum(power @ filters.T, 1e-10))
    bands = np.maximum(bands, bands.max() - _DYNAMIC_RANGE)
    features: np.ndarray = ((bands + 4) / 4).astype(np.float32).T
    return features


def _kaldi_filters() -> "np.ndarray":
    """Triangles of equal height, [80, bins], straight on the mel scale instead of in hertz."""
    hz = np.arange(_SPEAKER_FFT // 2 + 1) * (SAMPLE_RATE_HZ / _SPEAKER_FFT)
    mels = _kaldi_mel(hz)
    lowest, highest = _kaldi_mel(np.array([_LOWEST_HZ, SAMPLE_RATE_HZ / 2]))
    edges = np.linspace(lowest, highest, _SPEAKER_BANDS + 2)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (mels - left) / (centre - left), (right - mels) / (right - centre)
    triangles: np.ndarray = np.maximum(0, np.minimum(rising, falling))
    return triangles


def _kaldi_mel(hz: "np.ndarray") -> "np.ndarray":
    mels: np.ndarray = 1127.0 * np.log1p(hz / 700.0)
    return mels
