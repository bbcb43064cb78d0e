"""EnCodec's decoder as a stream: the causal SEANet of the 24 kHz model (Défossez et al. 2022).

Everything it carries from chunk to chunk is an input and an output. Before the first frame a
convolution sees the following ones mirrored (EnCodec pads with `reflect`), so the first chunk
brings its own past along; that is what `is_first` switches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

State = Dict[str, Tensor]


@dataclass(frozen=True)
class CodecConfig:
    """Sizes of the decoder. The k-th convolution stack is `width / 2^(k+1)` wide."""

    latent: int
    width: int
    n_lstm_layers: int
    ratios: Tuple[int, ...]
    kernel: int
    last_kernel: int
    residual_kernel: int
    compress: int

    @property
    def samples_per_frame(self) -> int:
        """Samples of sound that one frame becomes."""
        product = 1
        for ratio in self.ratios:
            product *= ratio
        return product


class CausalConv(nn.Module):
    """A convolution that sees its own and `kernel - 1` earlier inputs."""

    def __init__(self, n_in: int, n_out: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(n_in, n_out, kernel)
        self.tail_shape = (1, n_in, kernel - 1)
        self.register_buffer("mirror", torch.arange(kernel - 1, 0, -1), persistent=False)

    def reset_mirror(self) -> None:
        """Restore the buffer after the module was made without memory."""
        self.mirror = torch.arange(self.tail_shape[2], 0, -1)

    def forward(self, x: Tensor, tail: Tensor, is_first: Tensor) -> Tuple[Tensor, Tensor]:
        """Returns the result and the next tail."""
        n_past = self.tail_shape[2]
        # A chunk shorter than the mirror is continued with zeros, as EnCodec does.
        longer = torch.cat([x, torch.zeros_like(tail)], dim=2)
        mirrored = longer.index_select(2, self.mirror)
        joined = torch.cat([is_first * mirrored + (1 - is_first) * tail, x], dim=2)
        return self.conv(joined), joined[:, :, -n_past:]


class Upsampling(nn.Module):
    """A transposed convolution over two frames, of which the earlier one is the tail."""

    def __init__(self, n_in: int, n_out: int, ratio: int) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose1d(n_in, n_out, 2 * ratio, ratio)
        self.tail_shape = (1, n_in, 1)
        self._ratio = ratio

    def forward(self, x: Tensor, tail: Tensor) -> Tuple[Tensor, Tensor]:
        """Returns the result and the next tail. Before the first frame the tail is zero."""
        raised = self.conv(torch.cat([tail, x], dim=2))
        return raised[:, :, self._ratio : -self._ratio], x[:, :, -1:]


class Residual(nn.Module):
    """ELU, causal convolution, ELU, 1×1 convolution; beside them a 1×1 shortcut."""

    def __init__(self, width: int, kernel: int, compress: int) -> None:
        super().__init__()
        self.first = CausalConv(width, width // compress, kernel)
        self.second = nn.Conv1d(width // compress, width, 1)
        self.shortcut = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor, tail: Tensor, is_first: Tensor) -> Tuple[Tensor, Tensor]:
        inner, tail = self.first(functional.elu(x), tail, is_first)
        return self.shortcut(x) + self.second(functional.elu(inner)), tail


class StreamingDecoder(nn.Module):
    """Latent frames [1, latent, n] to samples [1, 1, n · hop], with its state."""

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        width = config.width
        self.enter = CausalConv(config.latent, width, config.kernel)
        self.lstm = nn.LSTM(width, width, config.n_lstm_layers)
        self.raises = nn.ModuleList()
        self.residuals = nn.ModuleList()
        for ratio in config.ratios:
            self.raises.append(Upsampling(width, width // 2, ratio))
            width //= 2
            self.residuals.append(Residual(width, config.residual_kernel, config.compress))
        self.leave = CausalConv(width, 1, config.last_kernel)

    def state_shapes(self) -> Dict[str, Tuple[int, int, int]]:
        """Shape of everything carried, by name, in the order of `forward`."""
        memory = (self.lstm.num_layers, 1, self.lstm.hidden_size)
        shapes = {"hidden": memory, "cell": memory, "tail_enter": self.enter.tail_shape}
        for i, (up, residual) in enumerate(zip(self.raises, self.residuals)):
            shapes[f"tail_up_{i}"] = up.tail_shape
            shapes[f"tail_residual_{i}"] = residual.first.tail_shape
        shapes["tail_leave"] = self.leave.tail_shape
        return shapes

    def forward(
        self, x: Tensor, is_first: Tensor, hidden: Tensor, cell: Tensor, *tails: Tensor
    ) -> Tuple[Tensor, ...]:
        """Returns the samples and the new state in the order it came."""
        new: List[Tensor] = []
        x, tail = self.enter(x, tails[0], is_first)
        new.append(tail)
        steps = x.permute(2, 0, 1)
        remembered, (hidden, cell) = self.lstm(steps, (hidden, cell))
        x = (remembered + steps).permute(1, 2, 0)
        for i, (up, residual) in enumerate(zip(self.raises, self.residuals)):
            x, tail = up(functional.elu(x), tails[1 + 2 * i])
            new.append(tail)
            x, tail = residual(x, tails[2 + 2 * i], is_first)
            new.append(tail)
        audio, tail = self.leave(functional.elu(x), tails[-1], is_first)
        return (audio, hidden, cell, *new, tail)
