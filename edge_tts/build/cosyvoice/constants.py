"""What a checkpoint gives the run time besides engines: its constants and its small weights."""

from __future__ import annotations

from typing import Tuple, Union

import numpy as np
import torch

from edge_tts.build.cosyvoice.checkpoint import Checkpoint, Generation
from edge_tts.build.cosyvoice.config import N_QWEN_STOPS
from edge_tts.build.cosyvoice.qwen_lm import QwenLm
from edge_tts.build.cosyvoice.transformer_lm import TransformerLm
from edge_tts.voices.cosyvoice.prefix import Affine
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.tables import Tables

MAX_POSITIONS = 2304
"""Prompt, text and speech of one segment; the cache grows to what an utterance needs of it."""

_N_STEPS = 10  # of the flow; the official code fixes it


def tables(checkpoint: Checkpoint) -> Tables:
    """Read them from the modules, without copies of the large ones."""
    lm = checkpoint.lm
    mix = checkpoint.hift.m_source["l_linear"]
    is_first = isinstance(lm, TransformerLm)
    text = lm.text_embedding if is_first else lm.qwen.embed_tokens
    with torch.no_grad():
        positions = lm.llm.positions(MAX_POSITIONS).numpy() if is_first else None
    return Tables(
        text=text.weight.numpy(),
        speech=lm.speech_embedding.weight.numpy(),
        marks=lm.llm_embedding.weight.numpy(),
        lm_speaker=_affine(lm.spk_embed_affine_layer) if is_first else None,
        flow_speaker=_affine(checkpoint.flow.spk_embed_affine_layer),
        mixer=np.append(mix.weight.numpy().ravel(), mix.bias.numpy()),
        positions=positions,
    )


def settings(checkpoint: Checkpoint) -> Settings:
    """The constants the run time needs."""
    recipe, lm = checkpoint.recipe, checkpoint.lm
    n_tokens = checkpoint.lm_config.n_speech_tokens
    n_stops = 1 if checkpoint.generation is Generation.V1 else N_QWEN_STOPS
    n_heads, head_size, n_layers = _cache_shape(lm)
    return Settings(
        generation=checkpoint.generation.value,
        sample_rate_hz=checkpoint.sample_rate_hz,
        token_rate_hz=checkpoint.token_rate_hz,
        samples_per_frame=checkpoint.hift_config.samples_per_frame,
        n_speech_tokens=n_tokens,
        stop_ids=tuple(range(n_tokens, n_tokens + n_stops)),
        top_p=recipe.number("llm.sampling.top_p", 0.8),
        top_k=recipe.integer("llm.sampling.top_k", 25),
        repeat_window=recipe.integer("llm.sampling.win_size", 10),
        repeat_share=recipe.number("llm.sampling.tau_r", 0.1),
        guidance=recipe.number("flow.decoder.cfm_params.content.inference_cfg_rate", 0.7),
        n_steps=_N_STEPS,
        sine_level=recipe.number("hift.nsf_alpha", 0.1),
        noise_level=recipe.number("hift.nsf_sigma", 0.003),
        voiced_above_hz=recipe.number("hift.nsf_voiced_threshold", 10),
        n_heads=n_heads,
        head_size=head_size,
        n_layers=n_layers,
        max_positions=MAX_POSITIONS,
    )


def _cache_shape(lm: Union[TransformerLm, QwenLm]) -> Tuple[int, int, int]:
    """Heads of keys and values, their size, and layers."""
    if isinstance(lm, QwenLm):
        size = lm.qwen.head_size
        width = lm.qwen.layers[0].self_attn.k_proj.weight.shape[0]
        return width // size, size, len(lm.qwen.layers)
    width = lm.llm.after_norm.weight.shape[0]
    n_heads = lm.llm.encoders[0].self_attn.n_heads
    return n_heads, width // n_heads, len(lm.llm.encoders)


def _affine(layer: torch.nn.Linear) -> Affine:
    return Affine(layer.weight.numpy(), layer.bias.numpy())
