"""`config.json`: sizes of the T5, and where EnCodec's codes lie in its vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

from edge_tts.build.lite.json_file import JsonFile
from edge_tts.voices.lite.settings import DELAY, FLAT, CodecLayout

SAMPLE_RATE_HZ = 24_000
_MAX_CODEBOOKS = 32
_MAX_DELAY = 16
_CLASS = "T5ForConditionalGeneration"
_FEED_FORWARDS = ("relu", "gated-gelu")


@dataclass(frozen=True)
class T5Config:
    """Sizes of T5 and T5 v1.1 (Raffel et al. 2020, Shazeer 2020)."""

    n_ids: int
    width: int
    n_heads: int
    head_size: int
    inner: int
    is_gated: bool
    n_encoder_layers: int
    n_decoder_layers: int
    n_buckets: int
    max_distance: int
    norm_epsilon: float
    scales_output: bool
    """Whether hidden states are divided by √width before the head, as T5 with a tied head does."""


@dataclass(frozen=True)
class LiteConfig:
    """The whole file. `offsets` are the first vocabulary ids of the codebooks."""

    t5: T5Config
    codec: CodecLayout
    offsets: Tuple[int, ...]
    start_id: int
    pad_id: int
    end_id: int

    def overlaps_codes(self, number: int) -> bool:
        """Whether an id is one of the codes."""
        return any(first <= number < first + self.codec.codebook_size for first in self.offsets)


def read_config(file: JsonFile) -> LiteConfig:
    """Validate every field that is used. Raises ModelError naming the first wrong one."""
    t5 = _t5(file)
    section = file.section("codec")
    layout = _layout(section)
    offsets = _offsets(section, layout, t5.n_ids)
    config = LiteConfig(
        t5=t5,
        codec=layout,
        offsets=tuple(offsets),
        start_id=file.integer("decoder_start_token_id", 0, least=0),
        pad_id=file.integer("pad_token_id", 0, least=0),
        end_id=file.integer("eos_token_id", 1, least=0),
    )
    names = {
        "decoder_start_token_id": config.start_id,
        "pad_token_id": config.pad_id,
        "eos_token_id": config.end_id,
    }
    for key, number in names.items():
        if number >= t5.n_ids:
            raise file.fault(key, f"is {number}, the vocabulary has {t5.n_ids} ids")
        if config.overlaps_codes(number):
            raise file.fault(key, f"is {number}, which 'codec.code_offsets' makes a code")
    if config.end_id in (config.start_id, config.pad_id):
        raise file.fault("eos_token_id", "must differ from the start and the padding")
    return config


def _t5(file: JsonFile) -> T5Config:
    kind = file.text("model_type")
    if kind != "t5":
        raise file.unsupported("model_type", f"is {kind!r}; this version builds 't5' only")
    if file.has("architectures") and file.raw("architectures") != [_CLASS]:
        raise file.unsupported("architectures", f"must be [{_CLASS!r}]")
    if not file.flag("is_encoder_decoder", True):
        raise file.unsupported("is_encoder_decoder", "must be true")
    feed_forward = file.text("feed_forward_proj", "relu")
    if feed_forward not in _FEED_FORWARDS:
        raise file.unsupported(
            "feed_forward_proj", f"is {feed_forward!r}; known: {', '.join(_FEED_FORWARDS)}"
        )
    n_layers = file.integer("num_layers")
    return T5Config(
        n_ids=file.integer("vocab_size"),
        width=file.integer("d_model"),
        n_heads=file.integer("num_heads"),
        head_size=file.integer("d_kv"),
        inner=file.integer("d_ff"),
        is_gated=feed_forward.startswith("gated"),
        n_encoder_layers=n_layers,
        n_decoder_layers=file.integer("num_decoder_layers", n_layers),
        n_buckets=_n_buckets(file),
        max_distance=_max_distance(file),
        norm_epsilon=file.number("layer_norm_epsilon", 1e-6),
        # Newer files say it, older ones mean it by tying the head to the embedding.
        scales_output=file.flag("scale_decoder_outputs", file.flag("tie_word_embeddings", True)),
    )


def _n_buckets(file: JsonFile) -> int:
    n_buckets = file.integer("relative_attention_num_buckets", 32, least=4)
    if n_buckets % 4:
        raise file.fault("relative_attention_num_buckets", "must be a multiple of 4")
    return n_buckets


def _max_distance(file: JsonFile) -> int:
    least = _n_buckets(file) // 2 + 1
    return file.integer("relative_attention_max_distance", 128, least=least)


def _layout(section: JsonFile) -> CodecLayout:
    model = section.text("model")
    if model != "encodec_24khz":
        raise section.unsupported("model", f"is {model!r}; known: 'encodec_24khz'")
    rate_hz = section.integer("sample_rate")
    if rate_hz != SAMPLE_RATE_HZ:
        raise section.unsupported("sample_rate", f"must be {SAMPLE_RATE_HZ}, not {rate_hz}")
    n_codebooks = section.integer("num_codebooks")
    if n_codebooks > _MAX_CODEBOOKS:
        raise section.fault("num_codebooks", f"must be at most {_MAX_CODEBOOKS}")
    interleaving = section.text("interleaving")
    if interleaving not in (FLAT, DELAY):
        raise section.unsupported(
            "interleaving", f"is {interleaving!r}; known: {FLAT!r}, {DELAY!r}"
        )
    return CodecLayout(
        sample_rate_hz=rate_hz,
        frame_rate_hz=section.integer("frame_rate"),
        n_codebooks=n_codebooks,
        codebook_size=section.integer("codebook_size"),
        interleaving=interleaving,
        delays=_delays(section, interleaving, n_codebooks),
    )


def _delays(section: JsonFile, interleaving: str, n_codebooks: int) -> Tuple[int, ...]:
    if interleaving == FLAT:
        if section.has("delays"):
            raise section.fault("delays", f"belongs to the interleaving {DELAY!r}")
        return (0,) * n_codebooks
    delays = section.integers("delays")
    if len(delays) != n_codebooks or delays[0] != 0 or max(delays) > _MAX_DELAY:
        raise section.fault(
            "delays", f"must hold {n_codebooks} numbers up to {_MAX_DELAY}, of which the first is 0"
        )
    return tuple(delays)


def _offsets(section: JsonFile, layout: CodecLayout, n_ids: int) -> List[int]:
    offsets = section.integers("code_offsets")
    if len(offsets) != layout.n_codebooks:
        raise section.fault("code_offsets", f"must hold {layout.n_codebooks} numbers")
    ends = [first + layout.codebook_size for first in offsets]
    if max(ends) > n_ids:
        raise section.fault(
            "code_offsets", f"reach to id {max(ends) - 1}, the vocabulary has {n_ids} ids"
        )
    in_order = sorted(zip(offsets, ends))
    if any(second[0] < first[1] for first, second in zip(in_order, in_order[1:])):
        raise section.fault("code_offsets", "give one id to two codebooks")
    return offsets
