"""Tiny lite checkpoints with random weights, in the layout of Hugging Face. Needs torch."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Dict, Tuple

import sentencepiece
import torch

WIDTH, N_HEADS, HEAD_SIZE, INNER = 16, 2, 8, 24
N_LAYERS = 2
N_BUCKETS = 8
CODEBOOK_SIZE = 32
N_CODEBOOKS = 2
LATENT, CODEC_WIDTH = 8, 32
RATIOS = (8, 5, 4, 2)
TAGS = ("[LNGzh]", "[LNGen]", "[SPKalice]", "[SPKbob]")
N_TEXT = 128
SENTENCES = (
    "出门向左，然后直走。",
    "turn left at the next street, then go on.",
    "你好！好吗？再见。",
)

Tensors = Dict[str, torch.Tensor]


def write_checkpoint(
    path: Path, *, interleaving: str = "flat", form: str = "official", seed: int = 0
) -> Path:
    """Write a checkpoint into `path` and return it; `form` is EnCodec's, see `write_codec`."""
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config(interleaving)), encoding="utf-8")
    (path / "generation_config.json").write_text(json.dumps(GENERATION), encoding="utf-8")
    (path / "spiece.model").write_bytes(vocabulary())
    generator = torch.Generator().manual_seed(seed)
    torch.save(t5_tensors(generator), path / "pytorch_model.bin")
    write_codec(path, generator, form)
    return path


def config(interleaving: str) -> dict:
    """The fields of `config.json`."""
    codec = {
        "model": "encodec_24khz",
        "sample_rate": 24000,
        "frame_rate": 75,
        "num_codebooks": N_CODEBOOKS,
        "codebook_size": CODEBOOK_SIZE,
        "code_offsets": [N_TEXT + k * CODEBOOK_SIZE for k in range(N_CODEBOOKS)],
        "interleaving": interleaving,
    }
    if interleaving == "delay":
        codec["delays"] = list(range(N_CODEBOOKS))
    return {
        "model_type": "t5",
        "architectures": ["T5ForConditionalGeneration"],
        "vocab_size": N_TEXT + N_CODEBOOKS * CODEBOOK_SIZE,
        "d_model": WIDTH,
        "d_kv": HEAD_SIZE,
        "d_ff": INNER,
        "num_heads": N_HEADS,
        "num_layers": N_LAYERS,
        "relative_attention_num_buckets": N_BUCKETS,
        "relative_attention_max_distance": 20,
        "feed_forward_proj": "gated-gelu",
        "decoder_start_token_id": 0,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "tie_word_embeddings": True,
        "codec": codec,
    }


GENERATION = {
    "do_sample": True,
    "temperature": 0.9,
    "top_k": 20,
    "top_p": 0.95,
    "repetition_penalty": 1.1,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
    "eos_token_id": 1,
}


def vocabulary() -> bytes:
    """A SentencePiece model of single characters and the tags."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type="char",
        vocab_size=N_TEXT,
        hard_vocab_limit=False,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        user_defined_symbols=list(TAGS),
        minloglevel=2,
    )
    return model.getvalue()


def t5_tensors(generator: torch.Generator) -> Tensors:
    """Random weights on a coarse grid, so that they compress."""
    heads = N_HEADS * HEAD_SIZE
    shapes: Dict[str, Tuple[int, ...]] = {
        "shared.weight": (N_TEXT + N_CODEBOOKS * CODEBOOK_SIZE, WIDTH),
        "encoder.final_layer_norm.weight": (WIDTH,),
        "decoder.final_layer_norm.weight": (WIDTH,),
    }
    for side, n_sublayers in (("encoder", 2), ("decoder", 3)):
        first = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        shapes[first] = (N_BUCKETS, N_HEADS)
        for i in range(N_LAYERS):
            block = f"{side}.block.{i}.layer"
            attentions = ("0.SelfAttention", "1.EncDecAttention")[: n_sublayers - 1]
            for attention in attentions:
                for kind in "qkv":
                    shapes[f"{block}.{attention}.{kind}.weight"] = (heads, WIDTH)
                shapes[f"{block}.{attention}.o.weight"] = (WIDTH, heads)
            dense = f"{block}.{n_sublayers - 1}.DenseReluDense"
            shapes[f"{dense}.wi_0.weight"] = shapes[f"{dense}.wi_1.weight"] = (INNER, WIDTH)
            shapes[f"{dense}.wo.weight"] = (WIDTH, INNER)
            for k in range(n_sublayers):
                shapes[f"{block}.{k}.layer_norm.weight"] = (WIDTH,)
    tensors = {name: _random(name, shape, generator) for name, shape in shapes.items()}
    # Scores are the product with this table: wide ones make codes that depend on the text.
    tensors["shared.weight"] *= 8
    # And a wide end, which random weights would seldom draw.
    tensors["shared.weight"][1] *= 1.5
    return tensors


def _random(name: str, shape: Tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    noise = torch.randn(shape, generator=generator)
    if "norm" in name:
        value = 1 + 0.1 * noise
    elif "relative" in name:
        value = noise
    else:
        value = noise / shape[-1] ** 0.5
    return (value * 64).round() / 64


def codec_tensors(generator: torch.Generator) -> Tensors:
    """EnCodec's decoder and codebooks, by the names of Hugging Face without weight norm."""
    width = CODEC_WIDTH
    tensors: Tensors = {}

    def convolution(name: str, *shape: int, n_out: int) -> None:
        fan_in = shape[1] * shape[2] if n_out == shape[0] else shape[0] * 2
        noise = torch.randn(shape, generator=generator)
        tensors[f"{name}.weight"] = (noise / fan_in**0.5 * 64).round() / 64
        bias = 0.1 * torch.randn(n_out, generator=generator)
        tensors[f"{name}.bias"] = (bias * 64).round() / 64

    convolution("decoder.layers.0.conv", width, LATENT, 7, n_out=width)
    lstm = torch.nn.LSTM(width, width, 2)
    for key, value in lstm.named_parameters():
        noise = torch.randn(value.shape, generator=generator) / width**0.5
        tensors[f"decoder.layers.1.lstm.{key}"] = (noise * 64).round() / 64
    for i, ratio in enumerate(RATIOS):
        half = width // 2
        convolution(f"decoder.layers.{3 + 3 * i}.conv", width, half, 2 * ratio, n_out=half)
        block = f"decoder.layers.{4 + 3 * i}"
        convolution(f"{block}.block.1.conv", half // 2, half, 3, n_out=half // 2)
        convolution(f"{block}.block.3.conv", half, half // 2, 1, n_out=half)
        convolution(f"{block}.shortcut.conv", half, half, 1, n_out=half)
        width = half
    convolution(f"decoder.layers.{3 + 3 * len(RATIOS)}.conv", 1, width, 7, n_out=1)
    for k in range(N_CODEBOOKS + 1):
        noise = torch.randn((CODEBOOK_SIZE, LATENT), generator=generator)
        tensors[f"quantizer.layers.{k}.codebook.embed"] = (noise * 64).round() / 64
        tensors[f"quantizer.layers.{k}.codebook.cluster_size"] = torch.ones(CODEBOOK_SIZE)
    tensors["encoder.layers.0.conv.bias"] = torch.zeros(4)
    return tensors


def write_codec(path: Path, generator: torch.Generator, form: str) -> None:
    """EnCodec as the `encodec` package publishes it (`official`) or as Hugging Face does (`hf`)."""
    named = weight_normed(codec_tensors(generator), new=form == "hf")
    if form == "official":
        renamed = {official_name(name): value for name, value in named.items()}
        torch.save(renamed, path / "encodec_24khz-00000000.th")
        return
    from safetensors.torch import save_file

    folder = path / "encodec"
    folder.mkdir()
    known = {"model_type": "encodec", "sampling_rate": 24000, "use_causal_conv": True}
    (folder / "config.json").write_text(json.dumps(known), encoding="utf-8")
    save_file(
        {name: value.contiguous() for name, value in named.items()}, folder / "model.safetensors"
    )


def official_name(name: str) -> str:
    """`decoder.model.3.convtr.convtr.bias` of `decoder.layers.3.conv.bias`."""
    if name.startswith("quantizer."):
        return name.replace("quantizer.layers.", "quantizer.vq.layers.").replace(
            ".codebook.", "._codebook."
        )
    head, tail = (
        name.replace(".layers.", ".model.").rsplit(".conv.", 1)
        if ".conv." in name
        else (
            name.replace(".layers.", ".model."),
            "",
        )
    )
    if not tail:
        return head
    number = int(head.split(".")[2])
    is_raising = head.count(".") == 2 and number % 3 == 0 and 0 < number < 3 + 3 * len(RATIOS)
    return f"{head}.{'convtr.convtr' if is_raising else 'conv.conv'}.{tail}"


def weight_normed(tensors: Tensors, *, new: bool) -> Tensors:
    """Spell the decoder's convolutions as weight norm does, in the new or the old way."""
    suffixes = (
        ("parametrizations.weight.original0", "parametrizations.weight.original1")
        if new
        else ("weight_g", "weight_v")
    )
    found: Tensors = {}
    for name, value in tensors.items():
        if not name.endswith("conv.weight"):
            found[name] = value
            continue
        stem = name[: -len("weight")]
        norm = value.flatten(1).norm(dim=1).reshape(-1, 1, 1)
        # A direction that is not of length 1, so that forgetting to divide shows.
        found[stem + suffixes[0]], found[stem + suffixes[1]] = norm, 2 * value
    return found
