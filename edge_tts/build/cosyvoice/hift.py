"""The vocoder: HiFTNet (Li et al. 2023), a HiFi-GAN with a harmonic source and an inverse STFT.

The Fourier transforms are convolutions with fixed windows, because neither TensorRT 8.5 nor ONNX
before opset 17 has them as operators.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from edge_tts.build.cosyvoice.config import MEL_BANDS, HiftConfig

_AUDIO_LIMIT = 0.99
_MAX_MAGNITUDE = 100.0
_LAST_LEAK = 0.01


class F0Predictor(nn.Module):
    """Pitch per mel frame: [1, 80, T] → f0 in Hz [1, T]."""

    _N_CONVOLUTIONS = 5

    def __init__(self, width: int) -> None:
        super().__init__()
        layers = []
        for i in range(self._N_CONVOLUTIONS):
            n_in = MEL_BANDS if i == 0 else width
            layers += [nn.Conv1d(n_in, width, 3, padding=1), nn.ELU()]
        self.condnet = nn.Sequential(*layers)
        self.classifier = nn.Linear(width, 1)

    def forward(self, mel: Tensor) -> Tensor:
        return torch.abs(self.classifier(self.condnet(mel).transpose(1, 2)))[:, :, 0]


class Snake(nn.Module):
    """x + sin²(αx)/α (Ziyin et al. 2020) with one α per channel."""

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.empty(n_channels))

    def forward(self, x: Tensor) -> Tensor:
        alpha = self.alpha[:, None]
        sine = torch.sin(alpha * x)
        return x + sine * sine / (alpha + 1e-9)


class ResidualBlock(nn.Module):
    """Dilated convolutions with snakes, residual."""

    def __init__(self, n_channels: int, kernel: int, dilations: Sequence[int]) -> None:
        super().__init__()
        self.convs1 = nn.ModuleList(_same(n_channels, kernel, dilation) for dilation in dilations)
        self.convs2 = nn.ModuleList(_same(n_channels, kernel, 1) for _ in dilations)
        self.activations1 = nn.ModuleList(Snake(n_channels) for _ in dilations)
        self.activations2 = nn.ModuleList(Snake(n_channels) for _ in dilations)

    def forward(self, x: Tensor) -> Tensor:
        for first, second, before, between in zip(
            self.convs1, self.convs2, self.activations1, self.activations2
        ):
            x = x + second(between(first(before(x))))
        return x


class Spectrum(nn.Module):
    """Short Fourier transform and its inverse, for windows of `size` (Hann) every `hop` samples."""

    def __init__(self, size: int, hop: int) -> None:
        super().__init__()
        self._size, self._hop = size, hop
        n_bins = size // 2 + 1
        # Made on the CPU in double precision, whatever device the weights are on.
        samples = torch.arange(size, dtype=torch.float64, device="cpu")
        window = 0.5 - 0.5 * torch.cos(2 * math.pi * samples / size)
        bins = torch.arange(n_bins, dtype=torch.float64, device="cpu")
        angles = 2 * math.pi * bins[:, None] * samples / size
        waves = torch.cat([torch.cos(angles), -torch.sin(angles)])
        weight = torch.full((n_bins,), 2.0, dtype=torch.float64, device="cpu")
        weight[0] = weight[-1] = 1.0
        inverse = waves * torch.cat([weight, weight])[:, None] / size
        self._analysis = (waves * window)[:, None].float()
        self._synthesis = (inverse * window)[:, None].float()
        self._power = (window * window)[None, None].float()

    def analyse(self, signal: Tensor) -> Tensor:
        """[1, 1, L] → [1, 2 · bins, L / hop + 1], real parts then imaginary ones."""
        padded = functional.pad(signal, (self._size // 2, self._size // 2), mode="reflect")
        return functional.conv1d(padded, self._analysis, stride=self._hop)

    def synthesise(self, parts: Tensor) -> Tensor:
        """The inverse: [1, 2 · bins, n] → [1, 1, hop · (n - 1)]."""
        signal = functional.conv_transpose1d(parts, self._synthesis, stride=self._hop)
        ones = torch.ones_like(parts[:, :1])
        power = functional.conv_transpose1d(ones, self._power, stride=self._hop)
        edge = self._size // 2
        return signal[:, :, edge:-edge] / power[:, :, edge:-edge]


class Hift(nn.Module):
    """The whole `hift.pt`; `m_source` mixes the harmonics and is read by the run time's source."""

    def __init__(self, config: HiftConfig) -> None:
        super().__init__()
        self._config = config
        self._spectrum = Spectrum(config.fft_size, config.hop)
        n_parts = config.fft_size + 2
        widths = [config.base // 2**i for i in range(len(config.rates) + 1)]
        self.m_source = nn.ModuleDict({"l_linear": nn.Linear(config.n_harmonics, 1)})
        self.f0_predictor = F0Predictor(config.f0_width)
        self.conv_pre = nn.Conv1d(MEL_BANDS, config.base, 7, padding=3)
        self.ups = nn.ModuleList(
            nn.ConvTranspose1d(widths[i], widths[i + 1], kernel, rate, padding=(kernel - rate) // 2)
            for i, (rate, kernel) in enumerate(zip(config.rates, config.kernels))
        )
        self.source_downs = nn.ModuleList(
            _downsampling(n_parts, widths[i + 1], math.prod(config.rates[i + 1 :]))
            for i in range(len(config.rates))
        )
        self.source_resblocks = nn.ModuleList(
            ResidualBlock(widths[i + 1], kernel, dilations)
            for i, (kernel, dilations) in enumerate(
                zip(config.source_kernels, config.source_dilations)
            )
        )
        self.resblocks = nn.ModuleList(
            ResidualBlock(width, kernel, dilations)
            for width in widths[1:]
            for kernel, dilations in zip(config.resblock_kernels, config.dilations)
        )
        self.conv_post = nn.Conv1d(widths[-1], n_parts, 7, padding=3)

    def forward(self, mel: Tensor, source: Tensor) -> Tensor:
        """mel [1, 80, T] and source [1, 1, T · samples per frame] → sound of the source's shape."""
        spectrum = self.convolve(mel, self._spectrum.analyse(source))
        n_bins = self._config.fft_size // 2 + 1
        # Clipped before the exponential: e^x overflows fp16 above 11.
        magnitude = torch.exp(spectrum[:, :n_bins].clamp(max=math.log(_MAX_MAGNITUDE)))
        phase = torch.sin(spectrum[:, n_bins:])
        parts = torch.cat([magnitude * torch.cos(phase), magnitude * torch.sin(phase)], dim=1)
        return self._spectrum.synthesise(parts).clamp(-_AUDIO_LIMIT, _AUDIO_LIMIT)

    def convolve(self, mel: Tensor, source_parts: Tensor) -> Tensor:
        """The stack alone: log magnitudes and phases [1, 2 · bins, n] from the source's STFT."""
        config, n_kinds = self._config, len(self._config.resblock_kernels)
        x = self.conv_pre(mel)
        for i, up in enumerate(self.ups):
            x = up(functional.leaky_relu(x, config.leak))
            if i == len(self.ups) - 1:
                x = torch.cat([x[:, :, 1:2], x], dim=2)  # reflected: the STFT has one frame more
            x = x + self.source_resblocks[i](self.source_downs[i](source_parts))
            kinds = self.resblocks[i * n_kinds : (i + 1) * n_kinds]
            x = reduce(torch.add, [block(x) for block in kinds]) / n_kinds
        return self.conv_post(functional.leaky_relu(x, _LAST_LEAK))

    @property
    def spectrum(self) -> Spectrum:
        """The transforms it uses."""
        return self._spectrum


def _same(n_channels: int, kernel: int, dilation: int) -> nn.Conv1d:
    padding = (kernel - 1) * dilation // 2
    return nn.Conv1d(n_channels, n_channels, kernel, dilation=dilation, padding=padding)


def _downsampling(n_in: int, n_out: int, stride: int) -> nn.Conv1d:
    if stride == 1:
        return nn.Conv1d(n_in, n_out, 1)
    return nn.Conv1d(n_in, n_out, 2 * stride, stride, padding=stride // 2)
