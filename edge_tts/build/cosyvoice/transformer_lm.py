"""CosyVoice 1's language model: a causal text encoder and a causal decoder of speech tokens."""

from __future__ import annotations

from typing import Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from edge_tts.build.cosyvoice.config import BlocksConfig, TransformerLmConfig
from edge_tts.build.cosyvoice.relative_attention import (
    Block,
    InputLayer,
    causal_mask,
    encode_distances,
    hidden_unless,
    run_blocks,
)


class TextEncoder(nn.Module):
    """Text embeddings [n, n_inputs] to codes [n, width]; each code knows the text before it."""

    def __init__(self, config: BlocksConfig) -> None:
        super().__init__()
        self.embed = InputLayer(config.n_inputs, config.width)
        self.encoders = nn.ModuleList(
            Block(config.width, config.n_heads, config.inner, functional.silu)
            for _ in range(config.n_blocks)
        )
        self.after_norm = nn.LayerNorm(config.width)

    def forward(self, embedded: Tensor) -> Tensor:
        x = self.embed(embedded)
        return self.after_norm(run_blocks(self.encoders, x, causal_mask(x.shape[0])))


class Decoder(nn.Module):
    """Sequence positions [n, width] after `past` cached ones to hidden states [n, width]."""

    def __init__(self, config: BlocksConfig) -> None:
        super().__init__()
        self.embed = InputLayer(config.n_inputs, config.width, relu=True)
        self.encoders = nn.ModuleList(
            Block(config.width, config.n_heads, config.inner, torch.relu, ("norm1", "norm2"))
            for _ in range(config.n_blocks)
        )
        self.after_norm = nn.LayerNorm(config.width)

    def positions(self, n: int) -> Tensor:
        """Projected codes of the distances 0 … n - 1, [n, layers, width].

        They do not depend on the text, so they are computed once, when a voice is built.
        """
        width = self.after_norm.weight.shape[0]
        codes = encode_distances(torch.arange(n).float(), width)
        return torch.stack([block.self_attn.linear_pos(codes) for block in self.encoders], dim=1)

    def forward(self, x: Tensor, cache: Tensor, positions: Tensor) -> Tuple[Tensor, Tensor]:
        """`cache` is [m, layers, 2, heads, d] of earlier positions; returns that of the new ones.

        `positions` is `self.positions(m + n)`.
        """
        n, n_past = x.shape[0], cache.shape[0]
        queries = torch.arange(n)[:, None] + n_past
        distances = queries - torch.arange(n_past + n)[None]
        mask = hidden_unless(distances >= 0)
        rows = distances.clamp(min=0)
        x = self.embed(x)
        fresh = []
        for layer, block in enumerate(self.encoders):
            codes = block.self_attn.split(positions[:, layer])
            x, new = block(x, cache[:, layer], codes, rows, mask)
            fresh.append(new)
        return self.after_norm(x), torch.stack(fresh, dim=1)


class TransformerLm(nn.Module):
    """The whole `llm.pt` of CosyVoice 1."""

    def __init__(self, config: TransformerLmConfig) -> None:
        super().__init__()
        text, width = config.text_encoder, config.decoder.n_inputs
        self.text_embedding = nn.Embedding(config.n_text_tokens, text.n_inputs)
        self.text_encoder = TextEncoder(text)
        self.text_encoder_affine_layer = nn.Linear(text.width, width)
        self.llm_embedding = nn.Embedding(2, width)
        self.llm = Decoder(config.decoder)
        self.llm_decoder = nn.Linear(config.decoder.width, config.n_speech_tokens + 1)
        self.speech_embedding = nn.Embedding(config.n_speech_tokens, width)
        self.spk_embed_affine_layer = nn.Linear(config.speaker_size, width)
