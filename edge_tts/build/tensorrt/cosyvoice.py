"""CosyVoice's parts as graphs for TensorRT. Needs torch and the checkpoint: a workstation's job.

Two parts differ from those ONNX Runtime gets. The language model reads a cache of fixed size and
how much of it counts, so that one CUDA graph serves every step; keys and values are never copied:
the scores of earlier and of new positions are computed apart and joined. The estimator always runs
the guided and the unguided flow as one batch of two.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import onnx
import torch
from torch import Tensor, nn

from edge_tts.build.cosyvoice.checkpoint import Checkpoint
from edge_tts.build.cosyvoice.parts import parts
from edge_tts.build.cosyvoice.qwen_lm import GroupedAttention, QwenLm, Rotation
from edge_tts.build.cosyvoice.relative_attention import MASKED, Block
from edge_tts.build.cosyvoice.transformer_lm import TransformerLm
from edge_tts.build.tensorrt import checker
from edge_tts.build.torch_voice.export import export_part
from edge_tts.build.torch_voice.parts import Part, TensorSpec
from edge_tts.voices.manifest import Shape

LENGTH = "length"
"""Input int32 [1]: how many rows of the cache count."""


class StaticTransformer(nn.Module):
    """CosyVoice 1's decoder; `positions` are the distance codes 0 … m + n - 1."""

    def __init__(self, lm: TransformerLm) -> None:
        super().__init__()
        self._lm = lm

    def forward(
        self, x: Tensor, cache: Tensor, length: Tensor, positions: Tensor
    ) -> Tuple[Tensor, Tensor, Tensor]:
        """x [n, width] after the first `length` of cache [m, layers, 2, heads, d]."""
        lm, n, m = self._lm.llm, x.shape[0], cache.shape[0]
        to_new = torch.arange(n)[:, None] - torch.arange(n)[None]
        to_past = torch.arange(n)[:, None] + length - torch.arange(m)[None]
        rows = torch.cat([to_past, to_new], dim=1).clamp(min=0)
        mask = _mask(n, m, length)
        x = lm.embed(x)
        fresh = []
        for layer, block in enumerate(lm.encoders):
            codes = block.self_attn.split(positions[:, layer])
            x, new = _relative_block(block, x, cache[:, layer], codes, rows, mask)
            fresh.append(new)
        hidden = lm.after_norm(x)
        return hidden, self._lm.llm_decoder(hidden[-1]), torch.stack(fresh, dim=1)


class StaticQwen(nn.Module):
    """CosyVoice 2's language model."""

    def __init__(self, lm: QwenLm) -> None:
        super().__init__()
        self._lm = lm

    def forward(self, x: Tensor, cache: Tensor, length: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        """x [n, width] after the first `length` of cache [m, layers, 2, kv heads, d]."""
        qwen, n, m = self._lm.qwen, x.shape[0], cache.shape[0]
        rotate = Rotation(torch.arange(n) + length, qwen.head_size, qwen._theta)
        mask = _mask(n, m, length)
        fresh = []
        for index, layer in enumerate(qwen.layers):
            normed = layer.input_layernorm(x)
            attended, new = _grouped_attention(
                layer.self_attn, normed, cache[:, index], rotate, mask
            )
            x = x + attended
            x = x + layer.mlp(layer.post_attention_layernorm(x))
            fresh.append(new)
        hidden = qwen.norm(x)
        return hidden, self._lm.llm_decoder(hidden[-1]), torch.stack(fresh, dim=1)


def _mask(n: int, m: int, length: Tensor) -> Tensor:
    """Additive [n, m + n]: the counted rows of the cache, and new positions up to one's own."""
    past = (torch.arange(m)[None] < length).expand(n, -1)
    new = torch.arange(n)[None] <= torch.arange(n)[:, None]
    visible = torch.cat([past, new], dim=1)
    return torch.where(visible, 0.0, MASKED)


def _relative_block(
    block: Block, x: Tensor, past: Tensor, positions: Tensor, rows: Tensor, mask: Tensor
) -> Tuple[Tensor, Tensor]:
    """One block of `relative_attention` with the past apart: past is [m, 2, heads, d]."""
    attention, m = block.self_attn, past.shape[0]
    attention_norm, feed_forward_norm = (getattr(block, name) for name in block._norm_names)
    normed = attention_norm(x)
    new = attention.keys_values(normed)
    query = attention.split(attention.linear_q(normed))
    by_content = (query + attention.pos_bias_u).transpose(0, 1)
    content = torch.cat(
        [torch.matmul(by_content, rows_of[:, 0].permute(1, 2, 0)) for rows_of in (past, new)], dim=2
    )
    by_distance = torch.matmul(
        (query + attention.pos_bias_v).transpose(0, 1), positions.permute(1, 2, 0)
    )
    position = by_distance.gather(2, rows[None].expand(attention.n_heads, -1, -1))
    weights = ((content + position) / math.sqrt(query.shape[2]) + mask).softmax(dim=-1)
    mixed = torch.matmul(weights[:, :, :m], past[:, 1].transpose(0, 1))
    mixed = mixed + torch.matmul(weights[:, :, m:], new[:, 1].transpose(0, 1))
    x = x + attention.linear_out(mixed.transpose(0, 1).flatten(1))
    return x + block.feed_forward(feed_forward_norm(x)), new


def _grouped_attention(
    attention: GroupedAttention, x: Tensor, past: Tensor, rotate: Rotation, mask: Tensor
) -> Tuple[Tensor, Tensor]:
    """`GroupedAttention` with the past apart: past is [m, 2, kv heads, d]."""
    n, m, size = x.shape[0], past.shape[0], attention._size
    n_kv, group = attention._n_kv_heads, attention._n_heads // attention._n_kv_heads
    query = rotate(attention.q_proj(x).reshape(n, attention._n_heads, size))
    key = rotate(attention.k_proj(x).reshape(n, n_kv, size))
    value = attention.v_proj(x).reshape(n, n_kv, size)
    new = torch.stack([key, value], dim=1)
    grouped = query.reshape(n, n_kv, group, size).permute(1, 2, 0, 3)
    scores = torch.cat(
        [torch.matmul(grouped, keys[:, 0].permute(1, 2, 0)[:, None]) for keys in (past, new)], dim=3
    )
    weights = (scores * size**-0.5 + mask).softmax(dim=-1)
    mixed = torch.matmul(weights[..., :m], past[:, 1].transpose(0, 1)[:, None])
    mixed = mixed + torch.matmul(weights[..., m:], new[:, 1].transpose(0, 1)[:, None])
    return attention.o_proj(mixed.permute(2, 0, 1, 3).reshape(n, -1)), new


def static_parts(checkpoint: Checkpoint) -> Tuple[Part, ...]:
    """Every engine of a checkpoint in the form TensorRT gets."""
    return tuple(_static(part, checkpoint) for part in parts(checkpoint))


def _static(part: Part, checkpoint: Checkpoint) -> Part:
    if part.name == "estimator":
        return replace(
            part, inputs=_pinned(part.inputs, "b", 2), outputs=_pinned(part.outputs, "b", 2)
        )
    if part.name != "lm":
        return part
    lm = checkpoint.lm
    is_first = isinstance(lm, TransformerLm)
    inputs = list(part.inputs)
    inputs.insert(2, TensorSpec(LENGTH, (1,), is_integer=True))
    module = StaticTransformer(lm) if is_first else StaticQwen(lm)
    return replace(part, module=module, inputs=tuple(inputs))


def _pinned(specs: Tuple[TensorSpec, ...], axis: str, size: int) -> Tuple[TensorSpec, ...]:
    def shape(spec: TensorSpec) -> Shape:
        return tuple(size if name == axis else name for name in spec.shape)

    return tuple(replace(spec, shape=shape(spec)) for spec in specs)


def write_graphs(checkpoint: Checkpoint, folder: Path) -> List[Path]:
    """Export every part into `folder` and return the files, in the order of speech."""
    return write_parts(static_parts(checkpoint), folder)


def write_parts(wanted: Sequence[Part], folder: Path) -> List[Path]:
    """Export parts with named nodes and axes, checked for every parser. Raises EngineError."""
    written = []
    for part in wanted:
        path = folder / f"{part.name}.onnx"
        export_part(part, path)
        _name_axes(path, part)
        checker.require(onnx.load(str(path), load_external_data=False), part.name)
        written.append(path)
    return written


def _name_axes(path: Path, part: Part) -> None:
    """Give every node a name of its own, and the inputs' axes the names of the part's shapes."""
    model = onnx.load(str(path), load_external_data=False)
    shapes: Dict[str, Shape] = {spec.name: spec.shape for spec in (*part.inputs, *part.outputs)}
    for item in (*model.graph.input, *model.graph.output):
        for dimension, name in zip(item.type.tensor_type.shape.dim, shapes[item.name]):
            if isinstance(name, str):
                dimension.dim_param = name
            else:
                dimension.dim_value = name
    for index, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{index}"
    onnx.save(model, str(path))
