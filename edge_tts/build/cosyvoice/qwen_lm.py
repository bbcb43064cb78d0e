"""CosyVoice 2's language model: Qwen2 (Yang et al. 2024) with speech tokens at both ends."""

from __future__ import annotations

from typing import Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from edge_tts.build.cosyvoice.config import QwenLmConfig
from edge_tts.build.cosyvoice.relative_attention import hidden_unless


class RmsNorm(nn.Module):
    """Scale to unit root mean square (Zhang & Sennrich 2019)."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self._epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x / torch.sqrt((x * x).mean(-1, keepdim=True) + self._epsilon))


class Rotation:
    """Rotary positions (Su et al. 2021) for a run of positions, halves paired as Qwen does."""

    def __init__(self, positions: Tensor, size: int, theta: float) -> None:
        rates = 1.0 / (theta ** (torch.arange(0, size, 2).float() / size))
        angles = positions.float()[:, None] * rates
        both = torch.cat([angles, angles], dim=1)[:, None]
        self._cosine, self._sine = torch.cos(both), torch.sin(both)

    def __call__(self, x: Tensor) -> Tensor:
        """Rotate [n, heads, size]."""
        half = x.shape[2] // 2
        turned = torch.cat([-x[..., half:], x[..., :half]], dim=2)
        return x * self._cosine + turned * self._sine


class GroupedAttention(nn.Module):
    """Causal attention in which groups of query heads share one head of keys and values."""

    def __init__(self, config: QwenLmConfig) -> None:
        super().__init__()
        size = config.width // config.n_heads
        self._n_heads, self._n_kv_heads, self._size = config.n_heads, config.n_kv_heads, size
        self.q_proj = nn.Linear(config.width, config.n_heads * size)
        self.k_proj = nn.Linear(config.width, config.n_kv_heads * size)
        self.v_proj = nn.Linear(config.width, config.n_kv_heads * size)
        self.o_proj = nn.Linear(config.n_heads * size, config.width, bias=False)

    def forward(
        self, x: Tensor, past: Tensor, rotate: Rotation, mask: Tensor
    ) -> Tuple[Tensor, Tensor]:
        n, group = x.shape[0], self._n_heads // self._n_kv_heads
        query = rotate(self.q_proj(x).reshape(n, self._n_heads, self._size))
        key = rotate(self.k_proj(x).reshape(n, self._n_kv_heads, self._size))
        value = self.v_proj(x).reshape(n, self._n_kv_heads, self._size)
        new = torch.stack([key, value], dim=1)
        memory = torch.cat([past, new])
        # Query heads of a group become rows of one product: no copies of keys and values.
        grouped = query.reshape(n, self._n_kv_heads, group, self._size).permute(1, 2, 0, 3)
        keys = memory[:, 0].permute(1, 2, 0)[:, None]
        scores = torch.matmul(grouped, keys) * self._size**-0.5 + mask
        mixed = torch.matmul(scores.softmax(dim=-1), memory[:, 1].transpose(0, 1)[:, None])
        joined = mixed.permute(2, 0, 1, 3).reshape(n, self._n_heads * self._size)
        return self.o_proj(joined), new


class GatedFeedForward(nn.Module):
    """SiLU-gated linear layers (Shazeer 2020)."""

    def __init__(self, config: QwenLmConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.width, config.inner, bias=False)
        self.up_proj = nn.Linear(config.width, config.inner, bias=False)
        self.down_proj = nn.Linear(config.inner, config.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class QwenLayer(nn.Module):
    """Pre-norm attention and feed-forward, both residual."""

    def __init__(self, config: QwenLmConfig) -> None:
        super().__init__()
        self.self_attn = GroupedAttention(config)
        self.mlp = GatedFeedForward(config)
        self.input_layernorm = RmsNorm(config.width, config.norm_epsilon)
        self.post_attention_layernorm = RmsNorm(config.width, config.norm_epsilon)

    def forward(
        self, x: Tensor, past: Tensor, rotate: Rotation, mask: Tensor
    ) -> Tuple[Tensor, Tensor]:
        attended, new = self.self_attn(self.input_layernorm(x), past, rotate, mask)
        x = x + attended
        return x + self.mlp(self.post_attention_layernorm(x)), new


class Qwen(nn.Module):
    """Positions [n, width] after `past` cached ones to normed hidden states [n, width]."""

    def __init__(self, config: QwenLmConfig) -> None:
        super().__init__()
        self.head_size = config.width // config.n_heads
        self._theta = config.rope_theta
        self.embed_tokens = nn.Embedding(config.n_text_tokens, config.width)
        self.layers = nn.ModuleList(QwenLayer(config) for _ in range(config.n_layers))
        self.norm = RmsNorm(config.width, config.norm_epsilon)

    def forward(self, x: Tensor, cache: Tensor) -> Tuple[Tensor, Tensor]:
        """`cache` is [m, layers, 2, kv heads, d] of earlier positions; returns the new ones'."""
        n, n_past = x.shape[0], cache.shape[0]
        queries = torch.arange(n) + n_past
        mask = hidden_unless(torch.arange(n_past + n)[None] <= queries[:, None])
        rotate = Rotation(queries, self.head_size, self._theta)
        fresh = []
        for index, layer in enumerate(self.layers):
            x, new = layer(x, cache[:, index], rotate, mask)
            fresh.append(new)
        return self.norm(x), torch.stack(fresh, dim=1)


class QwenLm(nn.Module):
    """The whole `llm.pt` of CosyVoice 2. Its text head is part of the file and never used."""

    def __init__(self, config: QwenLmConfig) -> None:
        super().__init__()
        text_head = nn.Linear(config.width, config.n_text_tokens, bias=False)
        body = nn.ModuleDict({"model": Qwen(config), "lm_head": text_head})
        self.llm = nn.ModuleDict({"model": body})
        self.llm_embedding = nn.Embedding(2, config.width)
        self.llm_decoder = nn.Linear(config.width, config.n_speech_rows)
        self.speech_embedding = nn.Embedding(config.n_speech_rows, config.width)

    @property
    def qwen(self) -> Qwen:
        """The transformer without heads."""
        body: Qwen = self.llm["model"]["model"]
        return body
