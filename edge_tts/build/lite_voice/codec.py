"""EnCodec's decoder (Défossez et al. 2022), trained to turn the vectors of codes into sound.

The architecture is that of the published 24 kHz model with fewer channels and 40 frames per second
instead of 75. The teacher's pitch being locked to the frames, the waveform itself can be asked for;
spectral distances (Yamamoto et al. 2020, without the adversary) do the rest.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import EncodecConfig, EncodecModel

from edge_tts.build.fast_voice.losses import mel_filters
from edge_tts.build.lite_voice.codes import (
    CODEBOOK_SIZE,
    LATENT,
    N_CODEBOOKS,
    N_FFT,
    Quantiser,
)
from edge_tts.build.lite_voice.recordings import Coded
from edge_tts.build.lite_voice.teacher import FRAME_RATE_HZ, SAMPLES_PER_FRAME
from edge_tts.build.lite_voice.training import Task

RATIOS = (8, 5, 5, 3)
N_FILTERS = 16
BATCH_SIZE, WINDOW_FRAMES = 4, 32
UNSEEN_FRAMES = 4
"""At the start of a window, which lacks the past that running speech has."""

RESOLUTIONS = (2048, 1024, 512, 256, 128)
MEL_WEIGHT, WAVEFORM_WEIGHT = 2.0, 2.0

_FLOOR = 1e-3
_N_HELD_OUT = 12


def codec_config() -> EncodecConfig:
    """Sizes of the codec."""
    bits = int(np.log2(CODEBOOK_SIZE))
    return EncodecConfig(
        upsampling_ratios=list(RATIOS),
        num_filters=N_FILTERS,
        hidden_size=LATENT,
        codebook_size=CODEBOOK_SIZE,
        target_bandwidths=[FRAME_RATE_HZ * N_CODEBOOKS * bits / 1000],
    )


class CodecTask(Task):
    """Windows of codes, and the sound they came from."""

    name = "codec"
    learning_rate = 1e-3

    def __init__(self, sentences: Sequence[Coded], quantiser: Quantiser) -> None:
        self.network: nn.Module = EncodecModel(codec_config()).decoder
        self._quantiser = quantiser
        self._distance = SpectralDistance()
        long_enough = [each for each in sentences if len(each.codes) >= WINDOW_FRAMES]
        self._training = [each for each in long_enough if not each.recording.is_held_out]
        self._held_out = [each for each in long_enough if each.recording.is_held_out]

    def loss(self, rng: np.random.Generator) -> Tensor:
        chosen = rng.integers(len(self._training), size=BATCH_SIZE)
        windows = [self._window(self._training[i], rng) for i in chosen]
        latents, audio = (torch.stack(each) for each in zip(*windows))
        heard = slice(UNSEEN_FRAMES * SAMPLES_PER_FRAME, None)
        got, want = self.network(latents)[:, 0, heard], audio[:, heard]
        spectral, mel = self._distance(got, want)
        waveform = (got - want).abs().mean() / want.abs().mean()
        return spectral + MEL_WEIGHT * mel + WAVEFORM_WEIGHT * waveform

    def held_out(self, network: nn.Module) -> Dict[str, float]:
        decibels: List[float] = []
        likeness: List[float] = []
        for each in self._held_out[:_N_HELD_OUT]:
            samples = network(self._latents(each.codes)[None])[:, 0]
            wanted = torch.from_numpy(each.recording.audio)[None]
            decibels.append(20 / np.log(10) * float(self._distance(samples, wanted)[1]))
            likeness.append(float(functional.cosine_similarity(samples, wanted)))
        return {
            "held_out_mel_db": float(np.mean(decibels)),
            "held_out_likeness": float(np.mean(likeness)),
        }

    def _window(self, sentence: Coded, rng: np.random.Generator) -> Tuple[Tensor, Tensor]:
        start = int(rng.integers(len(sentence.codes) - WINDOW_FRAMES + 1))
        frames = slice(start, start + WINDOW_FRAMES)
        samples = slice(start * SAMPLES_PER_FRAME, (start + WINDOW_FRAMES) * SAMPLES_PER_FRAME)
        audio = torch.from_numpy(sentence.recording.audio[samples])
        return self._latents(sentence.codes[frames]), audio

    def _latents(self, codes: "np.ndarray") -> Tensor:
        """[latent, frames]."""
        return torch.from_numpy(self._quantiser.latents(codes).T.copy())


class SpectralDistance(nn.Module):
    """Magnitudes at five resolutions, and log-mel spectra, of [batch, samples]."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("filters", torch.from_numpy(mel_filters(N_FFT)))
        for n_fft in RESOLUTIONS:
            self.register_buffer(f"window_{n_fft}", torch.hann_window(n_fft))

    def forward(self, audio: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
        """Spectral convergence plus log distance, and the log-mel distance in nepers."""
        total = audio.new_zeros(())
        mel = audio.new_zeros(())
        for n_fft in RESOLUTIONS:
            got, want = self._magnitude(audio, n_fft), self._magnitude(target, n_fft)
            total = total + (got - want).norm() / want.norm()
            total = total + _log_distance(got, want, _FLOOR * n_fft / N_FFT)
            if n_fft == N_FFT:
                mel = _log_distance(self._mel(got), self._mel(want), _FLOOR)
        return total / len(RESOLUTIONS), mel

    def _magnitude(self, samples: Tensor, n_fft: int) -> Tensor:
        window = getattr(self, f"window_{n_fft}")
        spectrum = torch.stft(samples, n_fft, n_fft // 4, window=window, return_complex=True)
        return torch.sqrt(spectrum.real**2 + spectrum.imag**2 + 1e-9)

    def _mel(self, magnitude: Tensor) -> Tensor:
        return magnitude.transpose(1, 2) @ self.filters


def _log_distance(got: Tensor, want: Tensor, floor: float) -> Tensor:
    return (torch.log(got + floor) - torch.log(want + floor)).abs().mean()
