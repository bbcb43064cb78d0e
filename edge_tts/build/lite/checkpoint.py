"""A checkpoint folder of the lite family as torch modules, or a clear reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import torch
from torch import Tensor

from edge_tts.build.lite.codec_checkpoint import Codec, read_codec
from edge_tts.build.lite.config import LiteConfig, read_config
from edge_tts.build.lite.generation import read_sampling
from edge_tts.build.lite.json_file import JsonFile
from edge_tts.build.lite.recognition import CONFIG
from edge_tts.build.lite.t5 import Decoder, Encoder
from edge_tts.build.lite.vocabulary import Vocabulary, read_vocabulary
from edge_tts.build.lite.weights import Weights, read_folder
from edge_tts.voices.lite.settings import Sampling

GENERATION = "generation_config.json"

_SHARED = "shared.weight"
_BIAS = "{}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint read completely.

    `text_rows` [ids, width] and `code_rows` [codes + 2, width] are embeddings; `encoder_bias` and
    `decoder_bias` [buckets, heads].
    """

    path: Path
    config: LiteConfig
    sampling: Sampling
    vocabulary: Vocabulary
    encoder: Encoder
    decoder: Decoder
    codec: Codec
    text_rows: Tensor
    code_rows: Tensor
    encoder_bias: Tensor
    decoder_bias: Tensor


def read_checkpoint(path: Path, report: Callable[[str], None]) -> Checkpoint:
    """Read the folder `path`. Raises ModelError naming the first file that is wrong, and why."""
    config = read_config(JsonFile.read(path / CONFIG))
    sampling = read_sampling(JsonFile.read(path / GENERATION), config)
    vocabulary = read_vocabulary(path, config)
    report("reading EnCodec")
    codec = read_codec(path, config.codec)
    report("reading the language model")
    weights = read_folder(path)
    return _filled(path, config, sampling, vocabulary, codec, weights)


def _filled(
    path: Path,
    config: LiteConfig,
    sampling: Sampling,
    vocabulary: Vocabulary,
    codec: Codec,
    weights: Weights,
) -> Checkpoint:
    t5 = config.t5
    shared = weights.take(_SHARED, t5.n_ids, t5.width)
    _take_copies(weights, shared)
    scale = t5.width**-0.5 if t5.scales_output else 1.0
    has_own_head = weights.has("lm_head.weight")
    head = weights.take("lm_head.weight", t5.n_ids, t5.width) if has_own_head else shared
    encoder = Encoder(t5, weights)
    decoder = Decoder(t5, weights, head[_score_ids(config)] * scale)
    biases = [
        weights.take(_BIAS.format(side), t5.n_buckets, t5.n_heads)
        for side in ("encoder", "decoder")
    ]
    # Some published T5 files carry a bias for cross-attention, which T5 never reads.
    weights.drop("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias")
    weights.finish()
    return Checkpoint(
        path=path,
        config=config,
        sampling=sampling,
        vocabulary=vocabulary,
        encoder=encoder.eval(),
        decoder=decoder.eval(),
        codec=codec,
        text_rows=shared[: vocabulary.n_rows],
        code_rows=shared[[*_code_ids(config), config.start_id, config.pad_id]],
        encoder_bias=biases[0],
        decoder_bias=biases[1],
    )


def _take_copies(weights: Weights, shared: Tensor) -> None:
    """Copies of the embedding that `.bin` files hold for either side."""
    for side in ("encoder", "decoder"):
        name = f"{side}.embed_tokens.weight"
        if weights.has(name) and not torch.equal(weights.take(name, *shared.shape), shared):
            raise weights.fault(f"{name!r} differs from {_SHARED!r}, which T5 shares")


def _code_ids(config: LiteConfig) -> "list[int]":
    """Vocabulary ids of all codes, codebook after codebook."""
    size = config.codec.codebook_size
    return [number for first in config.offsets for number in range(first, first + size)]


def _score_ids(config: LiteConfig) -> "list[int]":
    """Vocabulary ids that are ever drawn: all codes, then the end."""
    return [*_code_ids(config), config.end_id]
