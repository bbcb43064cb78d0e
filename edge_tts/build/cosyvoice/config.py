"""Sizes of a checkpoint: counts and constants from its yaml, widths from its tensors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Tuple

from torch import Tensor

from edge_tts.build.cosyvoice.recipe import Recipe
from edge_tts.errors import ModelError

MEL_BANDS = 80

Shapes = Mapping[str, Tensor]


@dataclass(frozen=True)
class BlocksConfig:
    """A stack of transformer blocks; `n_inputs` is the width of what its input layer reads."""

    n_inputs: int
    width: int
    n_heads: int
    inner: int
    n_blocks: int


@dataclass(frozen=True)
class TransformerLmConfig:
    """CosyVoice 1: a text encoder and a decoder with relative positions."""

    text_encoder: BlocksConfig
    decoder: BlocksConfig
    n_text_tokens: int
    n_speech_tokens: int
    speaker_size: int


@dataclass(frozen=True)
class QwenLmConfig:
    """CosyVoice 2: Qwen2 with a speech embedding and a speech head."""

    width: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    inner: int
    rope_theta: float
    norm_epsilon: float
    n_text_tokens: int
    n_speech_tokens: int
    n_speech_rows: int
    """Rows of the speech embedding and head: the tokens and the stop ids after them."""


@dataclass(frozen=True)
class EstimatorConfig:
    """The U-net that estimates the flow. `is_causal` is CosyVoice 2's kind."""

    channels: Tuple[int, ...]
    n_inputs: int
    n_mid_stages: int
    n_blocks: int
    n_heads: int
    head_size: int
    time_width: int
    feed_forward: int
    is_causal: bool


@dataclass(frozen=True)
class FlowConfig:
    """Speech tokens to mel. `n_up_blocks` is 0 for CosyVoice 1, which regulates length instead."""

    encoder: BlocksConfig
    n_up_blocks: int
    n_speech_tokens: int
    speaker_size: int
    estimator: EstimatorConfig


@dataclass(frozen=True)
class HiftConfig:
    """The vocoder: a harmonic source and an inverse STFT behind a convolution stack."""

    base: int
    n_harmonics: int
    rates: Tuple[int, ...]
    kernels: Tuple[int, ...]
    resblock_kernels: Tuple[int, ...]
    dilations: Tuple[Tuple[int, ...], ...]
    source_kernels: Tuple[int, ...]
    source_dilations: Tuple[Tuple[int, ...], ...]
    f0_width: int
    fft_size: int
    hop: int
    leak: float

    @property
    def samples_per_frame(self) -> int:
        """Samples of sound that one mel frame becomes."""
        product = self.hop
        for rate in self.rates:
            product *= rate
        return product


def transformer_lm(recipe: Recipe, weights: Shapes, path: Path) -> TransformerLmConfig:
    """Sizes of a CosyVoice 1 language model."""
    size = Sizes(weights, path)
    return TransformerLmConfig(
        text_encoder=_blocks(recipe, size, "llm.text_encoder", "text_encoder"),
        decoder=_blocks(recipe, size, "llm.llm", "llm"),
        n_text_tokens=size.of("text_embedding.weight", 0),
        n_speech_tokens=size.of("speech_embedding.weight", 0),
        speaker_size=size.of("spk_embed_affine_layer.weight", 1),
    )


def qwen_lm(qwen_config: Path, weights: Shapes, path: Path) -> QwenLmConfig:
    """Sizes of a CosyVoice 2 language model; `qwen_config` is Qwen's `config.json`."""
    known = _read_json(qwen_config)
    size = Sizes(weights, path)
    rows = size.of("speech_embedding.weight", 0)
    return QwenLmConfig(
        width=size.of("speech_embedding.weight", 1),
        n_layers=int(known["num_hidden_layers"]),
        n_heads=int(known["num_attention_heads"]),
        n_kv_heads=int(known["num_key_value_heads"]),
        inner=size.of("llm.model.model.layers.0.mlp.gate_proj.weight", 0),
        rope_theta=float(known["rope_theta"]),
        norm_epsilon=float(known["rms_norm_eps"]),
        n_text_tokens=size.of("llm.model.model.embed_tokens.weight", 0),
        n_speech_tokens=rows - N_QWEN_STOPS,
        n_speech_rows=rows,
    )


N_QWEN_STOPS = 3
"""Ids after the speech tokens of CosyVoice 2, each of which ends an utterance."""

_N_UP_BLOCKS = 4  # CosyVoice 2's architecture fixes it; the yaml does not say


def flow(recipe: Recipe, weights: Shapes, path: Path, *, is_causal: bool) -> FlowConfig:
    """Sizes of the flow of either generation."""
    size = Sizes(weights, path)
    return FlowConfig(
        encoder=_blocks(recipe, size, "flow.encoder", "encoder"),
        n_up_blocks=_N_UP_BLOCKS if is_causal else 0,
        n_speech_tokens=size.of("input_embedding.weight", 0),
        speaker_size=size.of("spk_embed_affine_layer.weight", 1),
        estimator=_estimator(recipe, size, is_causal),
    )


def hift(recipe: Recipe, weights: Shapes, path: Path) -> HiftConfig:
    """Sizes of the vocoder."""
    size = Sizes(weights, path)
    return HiftConfig(
        base=size.of("conv_pre.weight", 0),
        n_harmonics=size.of("m_source.l_linear.weight", 1),
        rates=tuple(recipe.integers("hift.upsample_rates")),
        kernels=tuple(recipe.integers("hift.upsample_kernel_sizes")),
        resblock_kernels=tuple(recipe.integers("hift.resblock_kernel_sizes")),
        dilations=_rows(recipe, "hift.resblock_dilation_sizes"),
        source_kernels=tuple(recipe.integers("hift.source_resblock_kernel_sizes")),
        source_dilations=_rows(recipe, "hift.source_resblock_dilation_sizes"),
        f0_width=size.of("f0_predictor.classifier.weight", 1),
        fft_size=recipe.integer("hift.istft_params.n_fft"),
        hop=recipe.integer("hift.istft_params.hop_len"),
        leak=recipe.number("hift.lrelu_slope"),
    )


class Sizes:
    """Axis lengths of named tensors, with an error that names the file."""

    def __init__(self, weights: Shapes, path: Path) -> None:
        self._weights = weights
        self._path = path

    def of(self, name: str, axis: int) -> int:
        """Length of one axis. Raises ModelError when the tensor or the axis does not exist."""
        tensor = self._weights.get(name)
        if tensor is None or tensor.dim() <= axis:
            raise ModelError(
                f"{self._path} is not this part of a CosyVoice checkpoint: it lacks {name!r} or "
                "the tensor has another rank; download the checkpoint again",
                code="model.checkpoint_invalid",
            )
        return int(tensor.shape[axis])


def _blocks(recipe: Recipe, size: Sizes, section: str, prefix: str) -> BlocksConfig:
    return BlocksConfig(
        n_inputs=size.of(f"{prefix}.embed.out.0.weight", 1),
        width=size.of(f"{prefix}.embed.out.0.weight", 0),
        n_heads=recipe.integer(f"{section}.attention_heads"),
        inner=size.of(f"{prefix}.encoders.0.feed_forward.w_1.weight", 0),
        n_blocks=recipe.integer(f"{section}.num_blocks"),
    )


def _estimator(recipe: Recipe, size: Sizes, is_causal: bool) -> EstimatorConfig:
    section, prefix = "flow.decoder.estimator", "decoder.estimator"
    first = f"{prefix}.down_blocks.0.1.0.ff.net.0.proj.weight"
    return EstimatorConfig(
        channels=tuple(recipe.integers(f"{section}.channels")),
        n_inputs=size.of(f"{prefix}.down_blocks.0.0.res_conv.weight", 1),
        n_mid_stages=recipe.integer(f"{section}.num_mid_blocks"),
        n_blocks=recipe.integer(f"{section}.n_blocks"),
        n_heads=recipe.integer(f"{section}.num_heads"),
        head_size=recipe.integer(f"{section}.attention_head_dim"),
        time_width=size.of(f"{prefix}.time_mlp.linear_1.weight", 0),
        feed_forward=size.of(first, 0),
        is_causal=is_causal,
    )


def _rows(recipe: Recipe, path: str) -> Tuple[Tuple[int, ...], ...]:
    return tuple(tuple(row) for row in recipe.integer_lists(path))


_QWEN_KEYS = (
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "rope_theta",
    "rms_norm_eps",
)


def _read_json(path: Path) -> Mapping[str, float]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        bad = [key for key in _QWEN_KEYS if not isinstance(known[key], (int, float))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} is missing or is not Qwen's configuration ({error!r}); download the "
            "checkpoint again, with its folder CosyVoice-BlankEN",
            code="model.checkpoint_invalid",
        ) from error
    if bad:
        raise ModelError(
            f"{path}: {bad[0]!r} must be a number; download the checkpoint again",
            code="model.checkpoint_invalid",
        )
    return known
