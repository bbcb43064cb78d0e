"""Sizes of a CosyVoice checkpoint, from the shapes of its tensors. Needs torch."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Mapping, Sequence, Tuple

import torch

from edge_tts.build.cosyvoice import constants
from edge_tts.build.cosyvoice.checkpoint import Checkpoint, Generation, read_checkpoint
from edge_tts.build.plan.sizes import POSITION_BYTES, PartSize, VoiceSize, part_size

Shapes = Mapping[str, Sequence[int]]


def voice_size(path: Path) -> VoiceSize:
    """Sizes of the checkpoint in `path`, whose weights stay on disk. Raises ModelError."""
    checkpoint = read_checkpoint(path)
    fixed = constants.settings(checkpoint)
    lm, flow, hift = (
        _shapes(module) for module in (checkpoint.lm, checkpoint.flow, checkpoint.hift)
    )
    first = checkpoint.generation is Generation.V1
    parts = (
        *(_first_lm(lm) if first else _second_lm(lm)),
        part_size("flow_encoder", flow, ("input_embedding", "encoder", "length_regulator")),
        part_size("estimator", flow, ("decoder.",)),
        part_size("f0", hift, ("f0_predictor.",)),
        _vocoder(hift),
    )
    return VoiceSize(
        name=path.resolve().name,
        parts=parts,
        n_table=_n_table(checkpoint),
        cache_bytes=2 * fixed.n_layers * fixed.n_heads * fixed.head_size * POSITION_BYTES,
        token_rate_hz=fixed.token_rate_hz,
        frames_per_second=fixed.sample_rate_hz / fixed.samples_per_frame,
    )


def _first_lm(shapes: Shapes) -> Tuple[PartSize, ...]:
    return (
        part_size("text_encoder", shapes, ("text_encoder.", "text_encoder_affine_layer.")),
        # Projected positions are a table of their own, computed when the voice is built.
        part_size("lm", shapes, ("llm.", "llm_decoder."), without="linear_pos"),
    )


def _second_lm(shapes: Shapes) -> Tuple[PartSize, ...]:
    body = "llm.model.model."
    return (part_size("lm", shapes, (f"{body}layers.", f"{body}norm.", "llm_decoder.")),)


def _vocoder(shapes: Shapes) -> PartSize:
    others = {
        name: shape
        for name, shape in shapes.items()
        if not name.startswith(("f0_predictor.", "m_source."))
    }
    return part_size("vocoder", others, ("",))


def _n_table(checkpoint: Checkpoint) -> int:
    lm = checkpoint.lm
    first = checkpoint.generation is Generation.V1
    table = lm.text_embedding if first else lm.qwen.embed_tokens
    return int(table.weight.numel())


def _shapes(module: torch.nn.Module) -> Dict[str, Tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in module.state_dict().items()}
