"""Full-size CosyVoice checkpoints with random weights, in the official layout. Needs torch.

The same bytes every time: every tensor is drawn from a generator seeded with its own name. The
sizes are the published ones; the test suite holds our modules to the published lists of tensors.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from pathlib import Path
from typing import Dict, Mapping

import torch

from edge_tts.build.cosyvoice import config
from edge_tts.build.cosyvoice.flow import Flow
from edge_tts.build.cosyvoice.hift import Hift
from edge_tts.build.cosyvoice.qwen_lm import QwenLm
from edge_tts.build.cosyvoice.transformer_lm import TransformerLm

SPEAKERS = ("中文女", "英文男")
SPEAKER_SIZE = 192
N_WHISPER_IDS = 50257
QWEN_FOLDER = "CosyVoice-BlankEN"
QWEN = config.QwenLmConfig(896, 24, 14, 2, 4864, 1e6, 1e-6, 151936, 6561, 6564)

_ENCODER = config.BlocksConfig(512, 512, 8, 2048, 6)
_TEXT_ENCODER = config.BlocksConfig(512, 1024, 16, 4096, 6)
_DECODER = config.BlocksConfig(1024, 1024, 16, 4096, 14)
_DILATIONS = ((1, 3, 5), (1, 3, 5), (1, 3, 5))
_HIFT = {
    1: ((8, 8), (16, 16), (7, 11)),
    2: ((8, 5, 3), (16, 11, 7), (7, 7, 11)),
}
_QUIET = 0.2
"""Level of the vocoder's last layer: a loud one clips every sample, and then all sounds agree."""


def write_checkpoint(path: Path, generation: int) -> Path:
    """Make the folder `path` unless a complete one is there; returns it."""
    if (path / "complete").exists():
        return path
    path.mkdir(parents=True, exist_ok=True)
    for file, module in modules(generation).items():
        weights = random_weights(module)
        if file == "hift.pt":
            weights = weight_normed(weights)
        if file == "llm.pt" and generation == 2:
            weights["llm.model.lm_head.weight"] = weights["llm.model.model.embed_tokens.weight"]
        torch.save(weights, path / file)
        del weights
    torch.save({name: {"embedding": _drawn(name, (1, SPEAKER_SIZE))} for name in SPEAKERS},
               path / "spk2info.pt")  # fmt: skip
    recipe = _RECIPES[generation] + _HIFT_RECIPE.format(*map(_listed, _HIFT[generation]))
    name = "cosyvoice.yaml" if generation == 1 else "cosyvoice2.yaml"
    (path / name).write_text(recipe, encoding="utf-8")
    write_vocabulary(path, generation)
    (path / "complete").touch()
    return path


def modules(generation: int) -> Dict[str, torch.nn.Module]:
    """The modules of each weight file, without memory for their weights."""
    is_causal = generation == 2
    channels = (256,) if is_causal else (256, 256)
    estimator = config.EstimatorConfig(channels, 320, 12, 4, 8, 64, 1024, 1024, is_causal)
    n_tokens = QWEN.n_speech_tokens if is_causal else 4096
    n_up_blocks = 4 if is_causal else 0
    rates, kernels, source_kernels = _HIFT[generation]
    hift = config.HiftConfig(
        base=512,
        n_harmonics=9,
        rates=rates,
        kernels=kernels,
        resblock_kernels=(3, 7, 11),
        dilations=_DILATIONS,
        source_kernels=source_kernels,
        source_dilations=_DILATIONS,
        f0_width=512,
        fft_size=16,
        hop=4,
        leak=0.1,
    )
    first = config.TransformerLmConfig(_TEXT_ENCODER, _DECODER, 51866, n_tokens, SPEAKER_SIZE)
    flow = config.FlowConfig(_ENCODER, n_up_blocks, n_tokens, SPEAKER_SIZE, estimator)
    with torch.device("meta"):
        lm = QwenLm(QWEN) if is_causal else TransformerLm(first)
        return {"llm.pt": lm, "flow.pt": Flow(flow), "hift.pt": Hift(hift)}


def random_weights(module: torch.nn.Module) -> Dict[str, torch.Tensor]:
    """Weights that keep the size of what passes through them; gains and alphas are near 1."""
    found = {}
    for name, value in module.state_dict().items():
        if "lm_head" in name:
            continue  # shares its storage with the text embedding
        noise = _drawn(name, tuple(value.shape))
        if value.dim() == 1 or "norm" in name:
            is_gain = name.endswith(("weight", "alpha"))
            found[name] = noise.mul_(0.1).add_(1.0 if is_gain else 0.0)
        else:
            level = _QUIET if name.startswith("conv_post") else 1.0
            found[name] = noise.mul_(level / max(1, value[0].numel()) ** 0.5)
    return found


def weight_normed(weights: Mapping[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
    """Spell convolutions as the vocoder's weight norm does."""
    plain = ("source_downs", "m_source", "f0_predictor.classifier")
    found = {}
    for name, value in weights.items():
        if not name.endswith(".weight") or name.startswith(plain):
            found[name] = value
            continue
        stem = name[: -len("weight")] + "parametrizations.weight.original"
        found[f"{stem}0"] = value.flatten(1).norm(dim=1).reshape(-1, 1, 1)
        found[f"{stem}1"] = value
    return found


def write_vocabulary(path: Path, generation: int) -> None:
    """Every byte is a text id: the published vocabularies only change which rows are read.

    Whisper's number of ids is made up with tokens that no joining of bytes leads to.
    """
    if generation == 1:
        tokens = [bytes([byte]) for byte in range(256)]
        tokens += [b"never" + rank.to_bytes(4, "big") for rank in range(256, N_WHISPER_IDS)]
        lines = [f"{b64encode(token).decode()} {rank}" for rank, token in enumerate(tokens)]
        (path / "multilingual.tiktoken").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    folder = path / QWEN_FOLDER
    folder.mkdir(exist_ok=True)
    known = {
        "num_hidden_layers": QWEN.n_layers,
        "num_attention_heads": QWEN.n_heads,
        "num_key_value_heads": QWEN.n_kv_heads,
        "rope_theta": QWEN.rope_theta,
        "rms_norm_eps": QWEN.norm_epsilon,
        "hidden_size": QWEN.width,
        "intermediate_size": QWEN.inner,
        "vocab_size": QWEN.n_text_tokens,
    }
    vocab = {letter: number for number, letter in enumerate([*_byte_letters(), "he"])}
    (folder / "config.json").write_text(json.dumps(known), encoding="utf-8")
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\nh e\n", encoding="utf-8")


def _drawn(name: str, shape: "tuple[int, ...]") -> torch.Tensor:
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    return torch.randn(shape, generator=generator)


def _byte_letters() -> str:
    """One printable letter for every byte, as byte-level BPE spells them."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (chr(code) for code in range(0x100, 0x200))
    return "".join(chr(byte) if byte in plain else next(others) for byte in range(256))


def _listed(values: "tuple[int, ...]") -> str:
    return str(list(values))


_RECIPES = {
    1: """sample_rate: 22050
llm: !new:cosyvoice.llm.llm.TransformerLM
    text_encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
        attention_heads: 16
        num_blocks: 6
    llm: !new:cosyvoice.transformer.encoder.TransformerEncoder
        attention_heads: 16
        num_blocks: 14
flow: !new:cosyvoice.flow.flow.MaskedDiffWithXvec
    input_frame_rate: 50
    encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
        attention_heads: 8
        num_blocks: 6
    decoder: !new:cosyvoice.flow.flow_matching.ConditionalCFM
        estimator: !new:cosyvoice.flow.decoder.ConditionalDecoder
            channels: [256, 256]
            attention_head_dim: 64
            n_blocks: 4
            num_mid_blocks: 12
            num_heads: 8
""",
    2: """sample_rate: 24000
token_frame_rate: 25
llm: !new:cosyvoice.llm.llm.Qwen2LM {}
flow: !new:cosyvoice.flow.flow.CausalMaskedDiffWithXvec
    input_frame_rate: !ref <token_frame_rate>
    encoder: !new:cosyvoice.transformer.upsample_encoder.UpsampleConformerEncoder
        attention_heads: 8
        num_blocks: 6
    decoder: !new:cosyvoice.flow.flow_matching.CausalConditionalCFM
        estimator: !new:cosyvoice.flow.decoder.CausalConditionalDecoder
            channels: [256]
            attention_head_dim: 64
            n_blocks: 4
            num_mid_blocks: 12
            num_heads: 8
""",
}
_HIFT_RECIPE = """hift: !new:cosyvoice.hifigan.generator.HiFTGenerator
    nsf_alpha: 0.1
    nsf_sigma: 0.003
    nsf_voiced_threshold: 10
    upsample_rates: {}
    upsample_kernel_sizes: {}
    istft_params:
        n_fft: 16
        hop_len: 4
    resblock_kernel_sizes: [3, 7, 11]
    resblock_dilation_sizes: [[1, 3, 5], [1, 3, 5], [1, 3, 5]]
    source_resblock_kernel_sizes: {}
    source_resblock_dilation_sizes: [[1, 3, 5], [1, 3, 5], [1, 3, 5]]
    lrelu_slope: 0.1
"""
