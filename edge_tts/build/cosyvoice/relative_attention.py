"""Transformer blocks with relative positions, as CosyVoice's text encoder, LM and flow use them.

Self-attention with relative position embeddings is Transformer-XL's (Dai et al. 2019) in ESPnet's
form. Sequences have no batch axis: [n, width]. Masks are additive.
"""

from __future__ import annotations

import math
from typing import Callable, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn

MASKED = -6e4
"""Added to a hidden score: e^-60000 is 0 in every precision, and the number itself fits fp16."""

_BLOCK_EPSILON = 1e-12  # the checkpoints were trained with it; norms therefore stay fp32

Activation = Callable[[Tensor], Tensor]


def encode_distances(distances: Tensor, width: int) -> Tensor:
    """Sinusoids of float distances [n], query position minus key position: [n, width]."""
    rates = torch.exp(torch.arange(0, width, 2).float() * (-math.log(1e4) / width))
    angles = distances[:, None] * rates
    return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).flatten(1)


def hidden_unless(visible: Tensor) -> Tensor:
    """Additive mask from a boolean one."""
    return (~visible).float() * MASKED


class RelativeAttention(nn.Module):
    """Multi-head attention whose scores depend on content and on distance."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.linear_q = nn.Linear(width, width)
        self.linear_k = nn.Linear(width, width)
        self.linear_v = nn.Linear(width, width)
        self.linear_out = nn.Linear(width, width)
        self.linear_pos = nn.Linear(width, width, bias=False)
        self.pos_bias_u = nn.Parameter(torch.empty(n_heads, width // n_heads))
        self.pos_bias_v = nn.Parameter(torch.empty(n_heads, width // n_heads))

    def split(self, x: Tensor) -> Tensor:
        """[n, width] → [n, heads, width / heads]."""
        return x.reshape(-1, self.n_heads, x.shape[1] // self.n_heads)

    def keys_values(self, x: Tensor) -> Tensor:
        """What later positions need of `x`: [n, 2, heads, width / heads]."""
        return torch.stack([self.split(self.linear_k(x)), self.split(self.linear_v(x))], dim=1)

    def forward(
        self, x: Tensor, memory: Tensor, positions: Tensor, rows: Tensor, mask: Optional[Tensor]
    ) -> Tensor:
        """Attend from `x` [n, width] to `memory` [m, 2, heads, d].

        `positions` [r, heads, d] are projected distance codes and `rows` [n, m] says which one
        belongs to each pair.
        """
        query = self.split(self.linear_q(x))
        keys, values = memory[:, 0], memory[:, 1]
        content = torch.matmul((query + self.pos_bias_u).transpose(0, 1), keys.permute(1, 2, 0))
        by_distance = torch.matmul(
            (query + self.pos_bias_v).transpose(0, 1), positions.permute(1, 2, 0)
        )
        position = by_distance.gather(2, rows[None].expand(self.n_heads, -1, -1))
        scores = (content + position) / math.sqrt(query.shape[2])
        if mask is not None:
            scores = scores + mask
        mixed = torch.matmul(scores.softmax(dim=-1), values.transpose(0, 1))
        return self.linear_out(mixed.transpose(0, 1).flatten(1))


class FeedForward(nn.Module):
    """Two linear layers around an activation."""

    def __init__(self, width: int, inner: int, activation: Activation) -> None:
        super().__init__()
        self.w_1 = nn.Linear(width, inner)
        self.w_2 = nn.Linear(inner, width)
        self._activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return self.w_2(self._activation(self.w_1(x)))


class Block(nn.Module):
    """Pre-norm attention and feed-forward, both residual."""

    def __init__(
        self,
        width: int,
        n_heads: int,
        inner: int,
        activation: Activation,
        norm_names: Sequence[str] = ("norm_mha", "norm_ff"),
    ) -> None:
        super().__init__()
        self._norm_names = tuple(norm_names)
        self.self_attn = RelativeAttention(width, n_heads)
        self.feed_forward = FeedForward(width, inner, activation)
        for name in self._norm_names:
            self.add_module(name, nn.LayerNorm(width, eps=_BLOCK_EPSILON))

    def forward(
        self,
        x: Tensor,
        past: Optional[Tensor],
        positions: Tensor,
        rows: Tensor,
        mask: Optional[Tensor],
    ) -> Tuple[Tensor, Tensor]:
        """The new [n, width] and this layer's keys and values of `x`."""
        attention_norm, feed_forward_norm = (getattr(self, name) for name in self._norm_names)
        normed = attention_norm(x)
        new = self.self_attn.keys_values(normed)
        memory = new if past is None else torch.cat([past, new])
        x = x + self.self_attn(normed, memory, positions, rows, mask)
        return x + self.feed_forward(feed_forward_norm(x)), new


class InputLayer(nn.Module):
    """Linear, norm, optionally ReLU, then scaled by √width."""

    def __init__(self, n_inputs: int, width: int, *, relu: bool = False) -> None:
        super().__init__()
        self.out = nn.Sequential(nn.Linear(n_inputs, width), nn.LayerNorm(width))
        self._relu = relu
        self._scale = math.sqrt(width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.out(x)
        return (torch.relu(x) if self._relu else x) * self._scale


def run_blocks(blocks: nn.ModuleList, x: Tensor, mask: Optional[Tensor]) -> Tensor:
    """A whole sequence through blocks that see both directions, as far as `mask` lets them."""
    n, width = x.shape
    steps = torch.arange(n)
    # Row 0 is the distance n - 1 and the last one -(n - 1).
    codes = encode_distances(((n - 1) - torch.arange(2 * n - 1)).float(), width)
    rows = (n - 1) - steps[:, None] + steps[None]
    for block in blocks:
        attention = block.self_attn
        positions = attention.split(attention.linear_pos(codes))
        x, _ = block(x, None, positions, rows, mask)
    return x


def causal_mask(n: int) -> Tensor:
    """Additive [n, n]: each position sees itself and what came before."""
    steps = torch.arange(n)
    return hidden_unless(steps[None] <= steps[:, None])


def chunk_mask(n: int, visible: Tensor) -> Tensor:
    """Additive [n, n]: query i sees the first `visible[i]` positions."""
    return hidden_unless(torch.arange(n)[None] < visible[:, None])
