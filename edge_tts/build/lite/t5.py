"""T5 as engines run it: caches and position biases as inputs, which also say who sees whom.

Scores are not divided by the root of the head size, and only self-attention has a bias: both as in
the original (Raffel et al. 2020). Products with the same input are one layer.
"""

from __future__ import annotations

from typing import List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from edge_tts.build.lite.config import T5Config
from edge_tts.build.lite.weights import Weights


class RmsNorm(nn.Module):
    """Scale to unit root mean square (Zhang & Sennrich 2019)."""

    def __init__(self, weight: Tensor, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)
        self._epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x / torch.sqrt((x * x).mean(-1, keepdim=True) + self._epsilon))


class FeedForward(nn.Module):
    """Norm, two layers and the residual; gated in T5 v1.1."""

    def __init__(self, config: T5Config, weights: Weights, prefix: str) -> None:
        super().__init__()
        width, inner = config.width, config.inner
        self.norm = _norm(config, weights, prefix)
        names = ("wi_0", "wi_1") if config.is_gated else ("wi",)
        dense = f"{prefix}.DenseReluDense"
        self.enter = linear([weights.take(f"{dense}.{n}.weight", inner, width) for n in names])
        self.leave = linear([weights.take(f"{dense}.wo.weight", width, inner)])
        self._is_gated = config.is_gated

    def forward(self, x: Tensor) -> Tensor:
        entered = self.enter(self.norm(x))
        if self._is_gated:
            gate, value = entered.chunk(2, dim=-1)
            entered = functional.gelu(gate, approximate="tanh") * value
        else:
            entered = functional.relu(entered)
        return x + self.leave(entered)


class SelfAttention(nn.Module):
    """Norm, attention over cached and new positions, and the residual."""

    def __init__(self, config: T5Config, weights: Weights, prefix: str) -> None:
        super().__init__()
        self._n_heads, self._size = config.n_heads, config.head_size
        self.norm = _norm(config, weights, prefix)
        self.enter = linear(_projections(config, weights, f"{prefix}.SelfAttention", "qkv"))
        self.leave = linear([_output(config, weights, f"{prefix}.SelfAttention")])

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """Over the new positions only; `bias` [heads, n, n]."""
        query, key, value = self._entered(x)
        shares = (torch.matmul(query, key.transpose(1, 2)) + bias).softmax(dim=-1)
        return x + self._left(torch.matmul(shares, value))

    def cached(
        self, x: Tensor, keys: Tensor, values: Tensor, bias: Tensor
    ) -> Tuple[Tensor, Tensor, Tensor]:
        """Returns x, and keys [heads, size, n] and values [heads, n, size] to remember.

        The cache is never joined with the new positions, which would copy all of it: scores are
        joined instead.
        """
        query, key, value = self._entered(x)
        new_keys, capacity = key.transpose(1, 2), keys.shape[2]
        scores = torch.cat([torch.matmul(query, keys), torch.matmul(query, new_keys)], dim=2)
        shares = (scores + bias).softmax(dim=-1)
        old, new = shares[:, :, :capacity], shares[:, :, capacity:]
        mixed = torch.matmul(old, values) + torch.matmul(new, value)
        return x + self._left(mixed), new_keys, value

    def _entered(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        split = self.enter(self.norm(x)).reshape(x.shape[0], 3, self._n_heads, self._size)
        query, key, value = split.permute(1, 2, 0, 3).unbind(0)
        return query, key, value

    def _left(self, mixed: Tensor) -> Tensor:
        return self.leave(joined_heads(mixed))


class CrossAttention(nn.Module):
    """Norm, attention over the text, and the residual; `bias` [n, s] hides texts of others."""

    def __init__(self, config: T5Config, weights: Weights, prefix: str) -> None:
        super().__init__()
        self._n_heads, self._size = config.n_heads, config.head_size
        self.norm = _norm(config, weights, prefix)
        self.enter = linear(_projections(config, weights, f"{prefix}.EncDecAttention", "q"))
        self.leave = linear([_output(config, weights, f"{prefix}.EncDecAttention")])

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
        query = self.enter(self.norm(x)).reshape(x.shape[0], self._n_heads, self._size)
        shares = (torch.matmul(query.transpose(0, 1), keys) + bias).softmax(dim=-1)
        return x + self.leave(joined_heads(torch.matmul(shares, values)))


class Encoder(nn.Module):
    """Embedded text [s, width] to what every decoder layer needs of it, computed once."""

    def __init__(self, config: T5Config, weights: Weights) -> None:
        super().__init__()
        self._config = config
        names = [f"encoder.block.{i}.layer" for i in range(config.n_encoder_layers)]
        self.attentions = nn.ModuleList(SelfAttention(config, weights, f"{n}.0") for n in names)
        self.feed_forwards = nn.ModuleList(FeedForward(config, weights, f"{n}.1") for n in names)
        self.norm = RmsNorm(
            weights.take("encoder.final_layer_norm.weight", config.width), config.norm_epsilon
        )
        self.cross = linear(
            [
                value
                for i in range(config.n_decoder_layers)
                for value in _projections(
                    config, weights, f"decoder.block.{i}.layer.1.EncDecAttention", "kv"
                )
            ]
        )

    def forward(self, x: Tensor, bias: Tensor) -> Tuple[Tensor, ...]:
        """`bias` [heads, s, s]; per layer keys [heads, size, s] and values [heads, s, size]."""
        for attend, feed in zip(self.attentions, self.feed_forwards):
            x = feed(attend(x, bias))
        config = self._config
        split = self.cross(self.norm(x)).reshape(
            x.shape[0], 2 * config.n_decoder_layers, config.n_heads, config.head_size
        )
        pieces = split.permute(1, 2, 0, 3).unbind(0)
        return tuple(
            piece if index % 2 else piece.transpose(1, 2) for index, piece in enumerate(pieces)
        )


class Decoder(nn.Module):
    """Positions [n, width] after those in the cache, to scores [n, ids] of the codes after each.

    The positions may be of one utterance, or of several whose caches and texts lie side by side.
    """

    def __init__(self, config: T5Config, weights: Weights, head: Tensor) -> None:
        super().__init__()
        names = [f"decoder.block.{i}.layer" for i in range(config.n_decoder_layers)]
        self.selves = nn.ModuleList(SelfAttention(config, weights, f"{n}.0") for n in names)
        self.crosses = nn.ModuleList(CrossAttention(config, weights, f"{n}.1") for n in names)
        self.feed_forwards = nn.ModuleList(FeedForward(config, weights, f"{n}.2") for n in names)
        self.norm = RmsNorm(
            weights.take("decoder.final_layer_norm.weight", config.width), config.norm_epsilon
        )
        self.head = linear([head])

    def forward(
        self, x: Tensor, bias: Tensor, text_bias: Tensor, *caches: Tensor
    ) -> Tuple[Tensor, ...]:
        """`caches` are per layer keys, values, text keys and text values."""
        fresh: List[Tensor] = []
        layers = zip(self.selves, self.crosses, self.feed_forwards)
        for index, (attend, read, feed) in enumerate(layers):
            keys, values, text_keys, text_values = caches[4 * index : 4 * index + 4]
            x, new_keys, new_values = attend.cached(x, keys, values, bias)
            x = feed(read(x, text_keys, text_values, text_bias))
            fresh += [new_keys, new_values]
        return (self.head(self.norm(x)), *fresh)


def linear(parts: List[Tensor]) -> nn.Linear:
    """One layer of several with the same input, given as [outputs, inputs]."""
    weight = torch.cat(parts) if len(parts) > 1 else parts[0]
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
    layer.weight = nn.Parameter(weight, requires_grad=False)
    return layer


def joined_heads(mixed: Tensor) -> Tensor:
    """[heads, n, size] as [n, heads · size]."""
    return mixed.transpose(0, 1).reshape(mixed.shape[1], mixed.shape[0] * mixed.shape[2])


def _projections(config: T5Config, weights: Weights, prefix: str, kinds: str) -> List[Tensor]:
    heads = config.n_heads * config.head_size
    return [weights.take(f"{prefix}.{kind}.weight", heads, config.width) for kind in kinds]


def _output(config: T5Config, weights: Weights, prefix: str) -> Tensor:
    return weights.take(f"{prefix}.o.weight", config.width, config.n_heads * config.head_size)


def _norm(config: T5Config, weights: Weights, prefix: str) -> RmsNorm:
    return RmsNorm(weights.take(f"{prefix}.layer_norm.weight", config.width), config.norm_epsilon)
