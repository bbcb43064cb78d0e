"""The U-net that estimates the flow's direction (Matcha-TTS, Mehta et al. 2024, after Grad-TTS)."""

from __future__ import annotations

import math
from typing import List, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional

from edge_tts.build.cosyvoice.config import MEL_BANDS, EstimatorConfig
from edge_tts.build.cosyvoice.group_norm import FrameGroupNorm
from edge_tts.build.cosyvoice.relative_attention import chunk_mask

_TIME_SCALE = 1000.0
_N_GROUPS = 8


def mish(x: Tensor) -> Tensor:
    """x · tanh(softplus(x)) (Misra 2019) without the logarithm, which ONNX Runtime is slow at.

    Where the exponential overflows the result is x, as it should be.
    """
    grown = torch.exp(x)
    return x * (1 - 2 / (grown * (grown + 2) + 2))


class Convolution(nn.Conv1d):
    """Convolution over time of [batch, T, channels], as one product with three shifted copies.

    Faster than the operator on the CPU, free of transposes, and quantised as linear layers are.
    The causal kind sees no later frame.
    """

    _KERNEL = 3

    def __init__(self, n_in: int, n_out: int, *, is_causal: bool) -> None:
        super().__init__(n_in, n_out, self._KERNEL)
        n_before = self._KERNEL - 1 if is_causal else self._KERNEL // 2
        self._padding = (0, 0, n_before, self._KERNEL - 1 - n_before)

    def forward(self, x: Tensor) -> Tensor:
        padded = functional.pad(x, self._padding)
        # Ends counted from the end: lengths computed in the graph would cost as much as a shift.
        shifted = [padded[:, i : i + 1 - self._KERNEL or None] for i in range(self._KERNEL)]
        weight = self.weight.permute(0, 2, 1).reshape(self.out_channels, -1)
        return functional.linear(torch.cat(shifted, dim=2), weight, self.bias)


class Pointwise(nn.Conv1d):
    """Convolution of width one over [batch, T, channels]."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__(n_in, n_out, 1)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight.squeeze(2), self.bias)


class ConvolutionBlock(nn.Module):
    """Convolution, norm, Mish. The keys are the checkpoint's: the causal kind counts transposes."""

    def __init__(self, n_in: int, n_out: int, *, is_causal: bool) -> None:
        super().__init__()
        norm = nn.LayerNorm(n_out) if is_causal else FrameGroupNorm(_N_GROUPS, n_out)
        convolution = Convolution(n_in, n_out, is_causal=is_causal)
        self.block = nn.ModuleDict({"0": convolution, "2" if is_causal else "1": norm})

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.block.values():
            x = layer(x)
        return mish(x)


class ResidualBlock(nn.Module):
    """Two convolution blocks with the time embedding between them."""

    def __init__(self, n_in: int, n_out: int, time_width: int, *, is_causal: bool) -> None:
        super().__init__()
        self.mlp = nn.ModuleDict({"1": nn.Linear(time_width, n_out)})
        self.block1 = ConvolutionBlock(n_in, n_out, is_causal=is_causal)
        self.block2 = ConvolutionBlock(n_out, n_out, is_causal=is_causal)
        self.res_conv = Pointwise(n_in, n_out)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        hidden = self.block1(x) + self.mlp["1"](mish(time))[:, None]
        return self.block2(hidden) + self.res_conv(x)


class Attention(nn.Module):
    """Multi-head attention without positions; queries, keys and values are one product."""

    def __init__(self, width: int, n_heads: int, head_size: int) -> None:
        super().__init__()
        inner = n_heads * head_size
        self._n_heads, self._head_size = n_heads, head_size
        self.to_q = nn.Linear(width, inner, bias=False)
        self.to_k = nn.Linear(width, inner, bias=False)
        self.to_v = nn.Linear(width, inner, bias=False)
        self.to_out = nn.ModuleList([nn.Linear(inner, width)])

    def forward(self, x: Tensor, mask: Optional[Tensor]) -> Tensor:
        weight = torch.cat([self.to_q.weight, self.to_k.weight, self.to_v.weight])
        n_batch = x.shape[0]
        query, key, value = (
            part.reshape(n_batch, -1, self._n_heads, self._head_size)
            for part in functional.linear(x, weight).chunk(3, dim=2)
        )
        scores = torch.matmul(query.transpose(1, 2), key.permute(0, 2, 3, 1))
        scores = scores * self._head_size**-0.5
        if mask is not None:
            scores = scores + mask
        mixed = torch.matmul(scores.softmax(dim=-1), value.transpose(1, 2))
        return self.to_out[0](mixed.transpose(1, 2).flatten(2))


class GeluLayer(nn.Module):
    """Linear and exact GELU."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.proj = nn.Linear(width, inner)

    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(self.proj(x))


class TransformerBlock(nn.Module):
    """Pre-norm attention and feed-forward on [batch, T, channels]; names as diffusers has them."""

    def __init__(self, width: int, config: EstimatorConfig) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn1 = Attention(width, config.n_heads, config.head_size)
        self.norm3 = nn.LayerNorm(width)
        inner = config.feed_forward // config.channels[0] * width
        layers = {"0": GeluLayer(width, inner), "2": nn.Linear(inner, width)}
        self.ff = nn.ModuleDict({"net": nn.ModuleDict(layers)})

    def forward(self, x: Tensor, mask: Optional[Tensor]) -> Tensor:
        x = x + self.attn1(self.norm1(x), mask)
        hidden = self.norm3(x)
        for layer in self.ff["net"].values():
            hidden = layer(hidden)
        return x + hidden


class Resampling(nn.Module):
    """Halve or double the frame rate; only the non-causal U-net with several levels does."""

    def __init__(self, width: int, *, up: bool) -> None:
        super().__init__()
        kind, kernel = (nn.ConvTranspose1d, 4) if up else (nn.Conv1d, 3)
        self.conv = kind(width, width, kernel, stride=2, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x.transpose(1, 2)).transpose(1, 2)


class TimeEmbedding(nn.Module):
    """Flow time [batch] to [batch, time_width]."""

    def __init__(self, n_inputs: int, time_width: int) -> None:
        super().__init__()
        self._half = n_inputs // 2
        self.linear_1 = nn.Linear(n_inputs, time_width)
        self.linear_2 = nn.Linear(time_width, time_width)

    def forward(self, time: Tensor) -> Tensor:
        rates = torch.exp(torch.arange(self._half).float() * (-math.log(1e4) / (self._half - 1)))
        angles = _TIME_SCALE * time[:, None] * rates[None]
        sinusoids = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)
        return self.linear_2(functional.silu(self.linear_1(sinusoids)))


class Estimator(nn.Module):
    """Direction of the flow for a batch of states.

    `state`, `mu` and `cond` are [batch, 80, T], `speaker` [batch, 80], `time` [batch]; returns
    [batch, 80, T]. `visible` int [T], for the causal kind only, is how many frames each frame may
    attend to.
    """

    def __init__(self, config: EstimatorConfig) -> None:
        super().__init__()
        self._is_causal = config.is_causal
        self.time_mlp = TimeEmbedding(config.n_inputs, config.time_width)
        widths = config.channels
        n_in = (config.n_inputs, *widths[:-1])
        self.down_blocks = nn.ModuleList(
            self._stage(config, n_in[i], width, self._last(config, i, width, up=False))
            for i, width in enumerate(widths)
        )
        self.mid_blocks = nn.ModuleList(
            self._stage(config, widths[-1], widths[-1], None) for _ in range(config.n_mid_stages)
        )
        rising = widths[::-1]
        n_above = (widths[-1], *rising[:-1])
        self.up_blocks = nn.ModuleList(
            self._stage(config, n_above[i] + width, width, self._last(config, i, width, up=True))
            for i, width in enumerate(rising)
        )
        self.final_block = ConvolutionBlock(rising[-1], rising[-1], is_causal=config.is_causal)
        self.final_proj = Pointwise(rising[-1], MEL_BANDS)

    @staticmethod
    def _stage(
        config: EstimatorConfig, n_in: int, width: int, last: Optional[nn.Module]
    ) -> nn.ModuleList:
        blocks = nn.ModuleList(TransformerBlock(width, config) for _ in range(config.n_blocks))
        first = ResidualBlock(n_in, width, config.time_width, is_causal=config.is_causal)
        return nn.ModuleList([first, blocks] if last is None else [first, blocks, last])

    @staticmethod
    def _last(config: EstimatorConfig, level: int, width: int, *, up: bool) -> nn.Module:
        if level < len(config.channels) - 1:
            return Resampling(width, up=up)
        return Convolution(width, width, is_causal=config.is_causal)

    def forward(
        self,
        state: Tensor,
        mu: Tensor,
        speaker: Tensor,
        cond: Tensor,
        time: Tensor,
        visible: Optional[Tensor] = None,
    ) -> Tensor:
        embedded = self.time_mlp(time)
        mask = None if visible is None else chunk_mask(state.shape[2], visible)
        everywhere = speaker[:, :, None].expand(-1, -1, state.shape[2])
        x = torch.cat([state, mu, everywhere, cond], dim=1).transpose(1, 2)
        skipped: List[Tensor] = []
        for residual, blocks, last in self.down_blocks:
            x = self._run(residual, blocks, x, embedded, mask)
            skipped.append(x)
            x = last(x)
        for residual, blocks in self.mid_blocks:
            x = self._run(residual, blocks, x, embedded, mask)
        for residual, blocks, last in self.up_blocks:
            skip = skipped.pop()
            x = torch.cat([x[:, : skip.shape[1]], skip], dim=2)
            x = last(self._run(residual, blocks, x, embedded, mask))
        return self.final_proj(self.final_block(x)).transpose(1, 2)

    @staticmethod
    def _run(
        residual: nn.Module, blocks: nn.Module, x: Tensor, time: Tensor, mask: Optional[Tensor]
    ) -> Tensor:
        x = residual(x, time)
        for block in blocks:
            x = block(x, mask)
        return x
