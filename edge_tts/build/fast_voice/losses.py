"""What the student is trained against: the teacher's own waveform.

Multi-resolution STFT (Yamamoto et al. 2020), log-mel distance, and three terms on the harmonic part
alone. Without the latter, noise fills the low band and the harmonics end up several dB low; the
target of the upper band is scaled because the teacher's harmonics there are pitch-modulated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from edge_tts.build.fast_voice.model import SAMPLE_RATE_HZ

RESOLUTIONS = (2048, 1024, 512, 256, 96)
MEL_FFT = 1024
N_MELS = 80
LOW_BAND_HZ = 3500
HIGH_BAND_HZ = 6500
HIGH_BAND_TARGET = 0.65
HIGH_BAND_WEIGHT = 0.4


@dataclass(frozen=True)
class LossValues:
    """The weighted sum that is minimised, and its terms. `mel_db` is for people."""

    total: Tensor
    spectral: Tensor
    mel_db: Tensor
    complex_: Tensor
    harmonic: Tensor


def mel_filters(n_fft: int = MEL_FFT, n_mels: int = N_MELS) -> np.ndarray:
    """Triangular HTK mel filters from 30 Hz to 11.5 kHz, [n_fft // 2 + 1, n_mels]."""

    def mel(hz: float) -> float:
        return float(2595 * np.log10(1 + hz / 700))

    edges_hz = 700 * (10 ** (np.linspace(mel(30), mel(11500), n_mels + 2) / 2595) - 1)
    hz = np.fft.rfftfreq(n_fft, 1 / SAMPLE_RATE_HZ)[:, None]
    rising = (hz - edges_hz[:-2]) / (edges_hz[1:-1] - edges_hz[:-2])
    falling = (edges_hz[2:] - hz) / (edges_hz[2:] - edges_hz[1:-1])
    return np.maximum(0, np.minimum(rising, falling)).astype(np.float32)


class StudentLoss(nn.Module):
    """Distance between the student's and the teacher's waveform, [B, samples] each."""

    def __init__(self) -> None:
        super().__init__()
        for n_fft in RESOLUTIONS:
            self.register_buffer(f"window_{n_fft}", torch.hann_window(n_fft))
        self.register_buffer("filters", torch.from_numpy(mel_filters()))

    def forward(
        self,
        audio: Tensor,
        target: Tensor,
        harmonic_audio: Tensor,
        spectra: Tuple[Tensor, Tensor],
        voiced: Tensor,
    ) -> LossValues:
        """`spectra`: complex harmonic and target spectra; `voiced`: 0/1 per sample."""
        spectral, mel = self._multi_resolution(audio, target)
        complex_ = _compressed_distance(*spectra)
        harmonic = self._harmonic(harmonic_audio, target, voiced)
        total = spectral + 2 * mel + 0.7 * complex_ + 0.5 * harmonic
        return LossValues(total, spectral, 20 * mel, complex_, harmonic)

    def _magnitude(self, samples: Tensor, n_fft: int) -> Tensor:
        window = getattr(self, f"window_{n_fft}")
        spectrum = torch.stft(
            samples, n_fft, n_fft // 4, window=window, center=False, return_complex=True
        )
        return torch.sqrt(spectrum.real**2 + spectrum.imag**2 + 1e-9)

    def _multi_resolution(self, audio: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
        total = audio.new_zeros(())
        mel = audio.new_zeros(())
        for n_fft in RESOLUTIONS:
            got, want = self._magnitude(audio, n_fft), self._magnitude(target, n_fft)
            floor = 1e-3 * n_fft / 1024
            convergence = (got - want).norm() / want.norm()
            total = total + convergence + _log_distance(got, want, floor).mean()
            if n_fft == MEL_FFT:
                mel = (self._log_mel(got) - self._log_mel(want)).abs().mean()
        return total / len(RESOLUTIONS), mel

    def _log_mel(self, magnitude: Tensor) -> Tensor:
        return torch.log10((magnitude.transpose(1, 2) @ self.filters).clamp(min=1e-3))

    def _harmonic(self, audio: Tensor, target: Tensor, voiced: Tensor) -> Tensor:
        total = audio.new_zeros(())
        for n_fft in (1024, 512):
            low, high = (n_fft * hz // SAMPLE_RATE_HZ for hz in (LOW_BAND_HZ, HIGH_BAND_HZ))
            got, want = self._magnitude(audio, n_fft), self._magnitude(target, n_fft)
            inside = (F.avg_pool1d(voiced[:, None], n_fft, n_fft // 4) > 0.95).float()
            n_inside = inside.sum() + 1e-3
            got_low, want_low = got[:, 1:low], want[:, 1:low]
            total = total + ((got_low - want_low) * inside).norm() / (
                (want_low * inside).norm() + 1e-3
            )
            distance = _log_distance(got_low, want_low, 1e-3) * inside
            total = total + distance.sum() / (n_inside * (low - 1))
            distance = _log_distance(got[:, low:high], HIGH_BAND_TARGET * want[:, low:high], 1e-3)
            distance = (distance * inside).sum() / (n_inside * (high - low))
            total = total + HIGH_BAND_WEIGHT * distance
        return total / 2


def _log_distance(got: Tensor, want: Tensor, floor: float) -> Tensor:
    return (torch.log(got + floor) - torch.log(want + floor)).abs()


def _compressed_distance(got: Tensor, want: Tensor) -> Tensor:
    """Relative L1 distance of complex spectra whose magnitudes are compressed to their root."""
    got, want = _compress(got), _compress(want)
    return (got - want).abs().mean() / want.abs().mean()


def _compress(spectrum: Tensor) -> Tensor:
    return spectrum * (spectrum.real**2 + spectrum.imag**2 + 1e-4) ** -0.25
