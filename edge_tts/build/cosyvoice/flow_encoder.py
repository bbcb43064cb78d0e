"""Speech tokens to the mel-like sequence the flow starts from, of either generation."""

from __future__ import annotations

from typing import Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from edge_tts.build.cosyvoice.config import MEL_BANDS, BlocksConfig
from edge_tts.build.cosyvoice.group_norm import GroupNorm
from edge_tts.build.cosyvoice.relative_attention import (
    Block,
    InputLayer,
    chunk_mask,
    run_blocks,
)

LOOKAHEAD_TOKENS = 3
"""Tokens of CosyVoice 2 that a frame sees ahead of it."""


def _blocks(config: BlocksConfig, n: int) -> nn.ModuleList:
    return nn.ModuleList(
        Block(config.width, config.n_heads, config.inner, functional.silu) for _ in range(n)
    )


class PlainEncoder(nn.Module):
    """CosyVoice 1: [n, width] to [n, width] with full attention."""

    def __init__(self, config: BlocksConfig) -> None:
        super().__init__()
        self.embed = InputLayer(config.n_inputs, config.width)
        self.encoders = _blocks(config, config.n_blocks)
        self.after_norm = nn.LayerNorm(config.width)

    def forward(self, x: Tensor) -> Tensor:
        return self.after_norm(run_blocks(self.encoders, self.embed(x), None))


class LengthRegulator(nn.Module):
    """CosyVoice 1: stretch [n, 80] to mel frames, then smooth them."""

    _N_CONVOLUTIONS = 4

    def __init__(self) -> None:
        super().__init__()
        layers = []
        for _ in range(self._N_CONVOLUTIONS):
            layers += [nn.Conv1d(MEL_BANDS, MEL_BANDS, 3, padding=1), GroupNorm(1, MEL_BANDS)]
            layers += [nn.Mish()]
        self.model = nn.Sequential(*layers, nn.Conv1d(MEL_BANDS, MEL_BANDS, 1))

    def forward(self, x: Tensor, left: Tensor, right: Tensor, share: Tensor) -> Tensor:
        """Frame t is `x[left[t]] * (1 - share[t]) + x[right[t]] * share[t]`: [1, 80, T]."""
        share = share[:, None]
        before, after = x.index_select(0, left), x.index_select(0, right)
        stretched = before * (1 - share) + after * share
        return self.model(stretched.t()[None])


class Lookahead(nn.Module):
    """CosyVoice 2: mix each position with the three after it and two before."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(width, width, LOOKAHEAD_TOKENS + 1)
        self.conv2 = nn.Conv1d(width, width, 3)

    def forward(self, x: Tensor) -> Tensor:
        """[n + 3, width] → [n, width]."""
        mixed = functional.leaky_relu(self.conv1(x.t()[None]))
        mixed = self.conv2(functional.pad(mixed, (2, 0)))
        return x[:-LOOKAHEAD_TOKENS] + mixed[0].t()


class Doubling(nn.Module):
    """CosyVoice 2: two frames for each position."""

    _KERNEL = 5

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, self._KERNEL)

    def forward(self, x: Tensor) -> Tensor:
        doubled = x[:, None].expand(-1, 2, -1).flatten(0, 1)
        return self.conv(functional.pad(doubled.t()[None], (self._KERNEL - 1, 0)))[0].t()


class UpsamplingEncoder(nn.Module):
    """CosyVoice 2: [n + 3, width] tokens to [2 n, width] frames."""

    def __init__(self, config: BlocksConfig, n_up_blocks: int) -> None:
        super().__init__()
        self.embed = InputLayer(config.n_inputs, config.width)
        self.pre_lookahead_layer = Lookahead(config.width)
        self.encoders = _blocks(config, config.n_blocks)
        self.up_layer = Doubling(config.width)
        self.up_embed = InputLayer(config.width, config.width)
        self.up_encoders = _blocks(config, n_up_blocks)
        self.after_norm = nn.LayerNorm(config.width)

    def forward(self, x: Tensor, has_context: Tensor, visible: Tensor) -> Tensor:
        """The last three positions of `x` are context: real ones if `has_context` [1] is 1, else 0.

        `visible` int [n] is how many positions each one may attend to.
        """
        x = self.embed(x)
        context = x[-LOOKAHEAD_TOKENS:] * has_context
        x = self.pre_lookahead_layer(torch.cat([x[:-LOOKAHEAD_TOKENS], context]))
        x = run_blocks(self.encoders, x, chunk_mask(x.shape[0], visible))
        x = self.up_embed(self.up_layer(x))
        visible = (2 * visible)[:, None].expand(-1, 2).flatten()
        x = run_blocks(self.up_encoders, x, chunk_mask(x.shape[0], visible))
        return self.after_norm(x)


class PlainFlowEncoder(nn.Module):
    """CosyVoice 1 up to the flow: tokens and stretch to (encoded [n, width], mu [1, 80, T])."""

    def __init__(self, flow: nn.Module) -> None:
        super().__init__()
        self._flow = flow

    def forward(
        self, tokens: Tensor, left: Tensor, right: Tensor, share: Tensor
    ) -> Tuple[Tensor, Tensor]:
        flow = self._flow
        encoded = flow.encoder(flow.input_embedding(tokens))
        return encoded, flow.length_regulator(flow.encoder_proj(encoded), left, right, share)


class UpsamplingFlowEncoder(nn.Module):
    """CosyVoice 2 up to the flow: n + 3 tokens to (encoded [2 n, width], mu [1, 80, 2 n])."""

    def __init__(self, flow: nn.Module) -> None:
        super().__init__()
        self._flow = flow

    def forward(
        self, tokens: Tensor, has_context: Tensor, visible: Tensor
    ) -> Tuple[Tensor, Tensor]:
        flow = self._flow
        encoded = flow.encoder(flow.input_embedding(tokens), has_context, visible)
        return encoded, flow.encoder_proj(encoded).t()[None]
