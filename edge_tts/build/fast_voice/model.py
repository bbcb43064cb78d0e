"""The student: a causal source-filter generator with FiLM conditioning.

Input is what Kokoro's decoder hands to its own generator (80 Hz features, F0, energy); output is a
complex filter per short-time bin for a harmonic source, plus a noise magnitude. Nothing normalises
over time, so any window can be computed on its own. Layout after Vocos (Siuzdak 2023, ConvNeXt and
an iSTFT head) and the neural source-filter models (Wang et al. 2019).

Shapes: B batch, T frames at 80 Hz, U = T * upsampling sub-frames, K = n_fft // 2 + 1 bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

SAMPLE_RATE_HZ = 24000
FRAME_SAMPLES = 300
N_FEATURES = 512
N_INPUTS = N_FEATURES + 3
"""Features, log F0, voicing and energy."""

N_STYLE = 256
VOICED_HZ = 10.0
REFERENCE_HZ = 200.0
MAX_LOG_GAIN = 4.0


@dataclass(frozen=True)
class StudentConfig:
    """Sizes of the student.

    `frame_ahead` and `sub_ahead` have a number per block: how many of its own steps (12.5 ms, and
    that over `upsampling`) each convolution sees ahead of the step it speaks of.
    """

    frame_channels: int = 320
    frame_ahead: Tuple[int, ...] = (0, 0, 0, 0, 1, 1, 0, 0)
    sub_channels: int = 256
    sub_ahead: Tuple[int, ...] = (1, 1, 0)
    input_kernel: int = 3
    input_ahead: int = 1
    upsampling: int = 2
    expansion: int = 3
    kernel: int = 7
    condition: int = 128
    bottleneck: int = 32

    @property
    def look_ahead(self) -> int:
        """80 Hz frames the whole network sees ahead."""
        return self.input_ahead + sum(self.frame_ahead) + sum(self.sub_ahead) // self.upsampling

    @property
    def hop(self) -> int:
        """Samples per sub-frame."""
        return FRAME_SAMPLES // self.upsampling

    @property
    def n_fft(self) -> int:
        """Window length of the head, four hops."""
        return 4 * self.hop

    @property
    def n_bins(self) -> int:
        """Bins of the head's short-time spectrum."""
        return self.n_fft // 2 + 1


class Spectrum(NamedTuple):
    """The head's output: complex filter and noise magnitude, each [B, U, K]."""

    gain_real: Tensor
    gain_imag: Tensor
    noise: Tensor


class Block(nn.Module):
    """ConvNeXt block: depthwise convolution, FiLM-modulated norm, pointwise MLP.

    It is causal: row t of its output speaks of row t - `ahead` of its input.
    """

    def __init__(self, channels: int, ahead: int, config: StudentConfig) -> None:
        super().__init__()
        self.ahead = ahead
        self.depthwise = nn.Conv1d(channels, channels, config.kernel, groups=channels)
        self.norm = nn.LayerNorm(channels, elementwise_affine=False)
        self.film = nn.Linear(config.condition, 2 * channels)
        self.expand = nn.Linear(channels, channels * config.expansion)
        self.project = nn.Linear(channels * config.expansion, channels)
        self.scale = nn.Parameter(torch.full((channels,), 0.3))
        nn.init.zeros_(self.film.weight)
        nn.init.zeros_(self.film.bias)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """[B, T, C] → [B, T, C]; row t sees t - kernel + 1 … t."""
        padded = F.pad(x, (0, 0, self.depthwise.kernel_size[0] - 1, 0))
        return self.on(padded, self.convolve(padded), condition)

    def on(self, padded: Tensor, convolved: Tensor, condition: Tensor) -> Tensor:
        """The output, from the input after `kernel` - 1 earlier rows, and its convolution."""
        first = self.depthwise.kernel_size[0] - 1 - self.ahead
        spoken_of = padded[:, first : first + convolved.shape[1]]
        return spoken_of + self.scale * self.mix(convolved, condition)

    def convolve(self, padded: Tensor) -> Tensor:
        """Depthwise convolution of [B, T + kernel - 1, C] to [B, T, C]."""
        # [B, T, C] seen as a channels-last image: several times faster on CPUs than Conv1d.
        image = padded.transpose(1, 2).unsqueeze(-1)
        weight = self.depthwise.weight.unsqueeze(-1).contiguous(memory_format=torch.channels_last)
        out = F.conv2d(image, weight, self.depthwise.bias, groups=image.shape[1])
        return out.squeeze(-1).transpose(1, 2)

    def mix(self, y: Tensor, condition: Tensor) -> Tensor:
        """The position-wise half of the block."""
        gamma, beta = self.film(condition).unsqueeze(1).chunk(2, -1)
        y = self.norm(y) * (1 + gamma) + beta
        return self.project(F.gelu(self.expand(y), approximate="tanh"))


class Student(nn.Module):
    """80 Hz features and a harmonic source → audio at 24 kHz."""

    def __init__(self, config: StudentConfig) -> None:
        super().__init__()
        self.config = config
        for name, size in (("x", N_FEATURES), ("pool", 2 * N_FEATURES), ("style", N_STYLE)):
            self.register_buffer(f"{name}_mean", torch.zeros(size))
            self.register_buffer(f"{name}_std", torch.ones(size))
        c, s = config.frame_channels, config.sub_channels
        self.input = nn.Conv1d(N_INPUTS, c, config.input_kernel)
        self.input_norm = nn.LayerNorm(c)
        self.pool = nn.Linear(2 * N_FEATURES, config.bottleneck)
        self.pool_dropout = nn.Dropout(0.2)
        self.condition = nn.Linear(N_STYLE + config.bottleneck, config.condition)
        self.frame_blocks = nn.ModuleList(Block(c, ahead, config) for ahead in config.frame_ahead)
        self.upsample = nn.Linear(c, config.upsampling * s)
        self.sub_blocks = nn.ModuleList(Block(s, ahead, config) for ahead in config.sub_ahead)
        self.output_norm = nn.LayerNorm(s)
        self.output = nn.Linear(s, 4 * config.n_bins)
        self.register_buffer("window", torch.hann_window(config.n_fft))
        self._start_quiet()

    def _start_quiet(self) -> None:
        """Begin near a faint copy of the source: log gains of -5, filter 1 + 0i."""
        with torch.no_grad():
            self.output.weight.mul_(0.3)
            bias = self.output.bias.view(4, -1)
            bias.zero_()
            bias[0] = bias[3] = -5.0
            bias[1] = 1.0

    def conditioning(self, style: Tensor, pool: Tensor) -> Tensor:
        """FiLM vector from the style row [B, 256] and the mean and std of x over time [B, 1024]."""
        pooled = self.pool_dropout(self.pool((pool - self.pool_mean) / self.pool_std))
        features = torch.cat([(style - self.style_mean) / self.style_std, pooled], 1)
        return F.gelu(self.condition(features), approximate="tanh")

    def inputs(self, x: Tensor, f0: Tensor, energy: Tensor) -> Tensor:
        """x [B, 512, T], f0 and energy [B, T] → what the network reads [B, 515, T]."""
        voiced = (f0 > VOICED_HZ).float()
        log_f0 = torch.log(f0.clamp(min=VOICED_HZ) / REFERENCE_HZ) * voiced
        standard = (x - self.x_mean[:, None]) / self.x_std[:, None]
        return torch.cat([standard, torch.stack([log_f0, voiced, energy], 1)], 1)

    def encode(self, padded: Tensor) -> Tensor:
        """Inputs after `input_kernel` - 1 earlier ones [B, 515, ...] → [B, T, frame_channels]."""
        return self.input_norm(self.input(padded).transpose(1, 2))

    def spectrum(self, x: Tensor, f0: Tensor, energy: Tensor, condition: Tensor) -> Spectrum:
        """Filter for every input frame, `look_ahead` frames late: row t speaks of t - look_ahead.

        The delay is how a causal network looks ahead, and it makes streaming exact: a window of n
        frames goes in, n frames come out, and each convolution carries its last inputs.
        """
        h = self.encode(F.pad(self.inputs(x, f0, energy), (self.config.input_kernel - 1, 0)))
        for block in self.frame_blocks:
            h = block(h, condition)
        h = self.upsample(h)
        h = h.reshape(h.shape[0], -1, self.config.sub_channels)
        for block in self.sub_blocks:
            h = block(h, condition)
        return self.head(h)

    def head(self, h: Tensor) -> Spectrum:
        """[B, U, sub_channels] → filter and noise."""
        gain, real, imag, noise = self.output(self.output_norm(h)).chunk(4, -1)
        gain = torch.exp(gain.clamp(max=MAX_LOG_GAIN))
        return Spectrum(gain * real, gain * imag, torch.exp(noise.clamp(max=MAX_LOG_GAIN)))

    def forward(
        self, x: Tensor, f0: Tensor, energy: Tensor, condition: Tensor, source: Tensor
    ) -> Tuple[Tensor, Tensor]:
        """Audio [B, (T - look_ahead) * 300] and its harmonic part's spectrum [B, U, K] (complex).

        `source` covers exactly the frames that are produced.
        """
        late = self.config.look_ahead * self.config.upsampling
        spectrum = Spectrum(*(part[:, late:] for part in self.spectrum(x, f0, energy, condition)))
        harmonic = self.stft(source) * torch.complex(spectrum.gain_real, spectrum.gain_imag)
        noise = torch.view_as_complex(torch.randn(*spectrum.noise.shape, 2))
        return self.istft(harmonic + spectrum.noise * noise), harmonic

    def stft(self, samples: Tensor) -> Tensor:
        """[B, U * hop] → [B, U, K], frames centred on their hop."""
        n_fft, hop = self.config.n_fft, self.config.hop
        padding = (n_fft - hop) // 2
        frames = F.pad(samples, (padding, padding)).unfold(1, n_fft, hop)
        return torch.fft.rfft(frames * self.window)

    def istft(self, spectrum: Tensor) -> Tensor:
        """Overlap-add inverse of `stft`; the Hann window squared sums to 1.5 at four hops."""
        n_fft, hop = self.config.n_fft, self.config.hop
        frames = torch.fft.irfft(spectrum, n=n_fft) * (self.window / 1.5)
        length = (frames.shape[1] - 1) * hop + n_fft
        samples = F.fold(frames.transpose(1, 2), (1, length), (1, n_fft), stride=(1, hop))
        padding = (n_fft - hop) // 2
        return samples.reshape(frames.shape[0], -1)[:, padding:-padding]


def gflop_per_second(config: StudentConfig) -> float:
    """Multiply-adds of the student, counted as two, per second of audio (without the FFTs)."""
    frame_rate_hz = SAMPLE_RATE_HZ / FRAME_SAMPLES
    c, s = config.frame_channels, config.sub_channels

    def block(channels: int) -> int:
        return 2 * channels * (2 * channels * config.expansion + config.kernel)

    frame = 2 * N_INPUTS * config.input_kernel * c + len(config.frame_ahead) * block(c)
    frame += 2 * c * config.upsampling * s
    sub_frame = len(config.sub_ahead) * block(s) + 2 * s * 4 * config.n_bins
    return frame_rate_hz * (frame + config.upsampling * sub_frame) / 1e9
