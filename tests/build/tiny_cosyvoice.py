"""Tiny CosyVoice checkpoints with random weights, in the official layout. Needs torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Dict

import torch

from edge_tts.build.cosyvoice import config
from edge_tts.build.cosyvoice.flow import Flow
from edge_tts.build.cosyvoice.hift import Hift
from edge_tts.build.cosyvoice.qwen_lm import QwenLm
from edge_tts.build.cosyvoice.transformer_lm import TransformerLm

SPEAKER_SIZE = 8
N_SPEECH_TOKENS = 60
WIDTH = 16
N_HEADS = 2
INNER = 24
STOP_BIAS = 4.0
"""Added to the stop id's score, so that random weights stop within a sentence."""

_BLOCKS = config.BlocksConfig(n_inputs=WIDTH, width=WIDTH, n_heads=N_HEADS, inner=INNER, n_blocks=1)
_V1 = config.TransformerLmConfig(_BLOCKS, _BLOCKS, 256, N_SPEECH_TOKENS, SPEAKER_SIZE)
_V2 = config.QwenLmConfig(
    width=WIDTH,
    n_layers=2,
    n_heads=N_HEADS,
    n_kv_heads=1,
    inner=INNER,
    rope_theta=1e6,
    norm_epsilon=1e-6,
    n_text_tokens=280,
    n_speech_tokens=N_SPEECH_TOKENS,
    n_speech_rows=N_SPEECH_TOKENS + 3,
)
_RATES = {1: (8, 8), 2: (8, 5, 3)}
_KERNELS = {1: (16, 16), 2: (16, 11, 7)}
_SOURCE_KERNELS = {1: (7, 11), 2: (7, 7, 11)}
_DILATIONS = ((1, 3, 5), (1, 3, 5), (1, 3, 5))


def write_checkpoint(path: Path, generation: int, *, seed: int = 0) -> Path:
    """Write a checkpoint of CosyVoice 1 or 2 into `path` and return it."""
    path.mkdir(parents=True)
    generator = torch.Generator().manual_seed(seed)
    lm = TransformerLm(_V1) if generation == 1 else QwenLm(_V2)
    weights = random_weights(lm, generator)
    weights["llm_decoder.bias"][N_SPEECH_TOKENS] += STOP_BIAS
    # The other stop ids of CosyVoice 2 could end a sentence before its shortest length.
    weights["llm_decoder.bias"][N_SPEECH_TOKENS + 1 :] -= STOP_BIAS
    if generation == 2:
        weights["llm.model.lm_head.weight"] = weights["llm.model.model.embed_tokens.weight"]
        write_qwen(path / "CosyVoice-BlankEN")
    torch.save(weights, path / "llm.pt")
    torch.save(random_weights(Flow(_flow(generation)), generator), path / "flow.pt")
    hift = random_weights(Hift(_hift(generation)), generator)
    torch.save(weight_normed(hift), path / "hift.pt")
    torch.save(_speakers(generator), path / "spk2info.pt")
    name = "cosyvoice.yaml" if generation == 1 else "cosyvoice2.yaml"
    (path / name).write_text(recipe(generation), encoding="utf-8")
    if generation == 1:
        write_ranks(path / "multilingual.tiktoken")
    return path


def random_weights(module: torch.nn.Module, generator: torch.Generator) -> Dict[str, torch.Tensor]:
    """Random values on a coarse grid, so that they compress; gains and alphas stay positive."""
    found = {}
    for name, value in module.state_dict().items():
        fan_in = max(1, value[0].numel() if value.dim() > 1 else 1)
        noise = torch.randn(value.shape, generator=generator)
        if "norm" in name or ".out.1." in name or value.dim() == 1:
            is_gain = name.endswith(("weight", "alpha"))
            values = (1.0 if is_gain else 0.0) + 0.1 * noise
        else:
            # A quiet vocoder: a loud one clips every sample, and then all sounds are equal.
            level = 0.2 if name.startswith("conv_post") else 1.0
            values = level * noise / fan_in**0.5
        found[name] = (values * 64).round() / 64
    return found


def weight_normed(weights: Dict[str, torch.Tensor], *, old: bool = False) -> Dict:
    """Spell convolutions as weight norm does; `old` is the spelling of older torch."""
    plain = ("source_downs", "m_source", "f0_predictor.classifier")
    magnitude, direction = (
        ("weight_g", "weight_v")
        if old
        else ("parametrizations.weight.original0", "parametrizations.weight.original1")
    )
    found = {}
    for name, value in weights.items():
        if not name.endswith(".weight") or name.startswith(plain):
            found[name] = value
            continue
        stem = name[: -len("weight")]
        norm = value.flatten(1).norm(dim=1).reshape(-1, 1, 1)
        # A direction that is not of length 1, so that forgetting to divide shows.
        found[f"{stem}{magnitude}"], found[f"{stem}{direction}"] = norm, 2 * value
    return found


def recipe(generation: int) -> str:
    """The yaml of a checkpoint."""
    text = RECIPE_V1 if generation == 1 else RECIPE_V2
    return text.replace("HEADS", str(N_HEADS)) + _HIFT_RECIPE.format(
        rates=list(_RATES[generation]),
        kernels=list(_KERNELS[generation]),
        source_kernels=list(_SOURCE_KERNELS[generation]),
        source_dilations=[list(row) for row in _DILATIONS[: len(_RATES[generation])]],
    )


def _flow(generation: int) -> config.FlowConfig:
    estimator = config.EstimatorConfig(
        channels=(WIDTH, WIDTH) if generation == 1 else (WIDTH,),
        n_inputs=4 * config.MEL_BANDS,
        n_mid_stages=1,
        n_blocks=1,
        n_heads=N_HEADS,
        head_size=4,
        time_width=16,
        feed_forward=2 * WIDTH,
        is_causal=generation == 2,
    )
    n_up_blocks = 0 if generation == 1 else 4
    return config.FlowConfig(_BLOCKS, n_up_blocks, N_SPEECH_TOKENS, SPEAKER_SIZE, estimator)


def _hift(generation: int) -> config.HiftConfig:
    n_ups = len(_RATES[generation])
    return config.HiftConfig(
        base=16,
        n_harmonics=9,
        rates=_RATES[generation],
        kernels=_KERNELS[generation],
        resblock_kernels=(3, 7, 11),
        dilations=_DILATIONS,
        source_kernels=_SOURCE_KERNELS[generation],
        source_dilations=_DILATIONS[:n_ups],
        f0_width=8,
        fft_size=16,
        hop=4,
        leak=0.1,
    )


def _speakers(generator: torch.Generator) -> Dict:
    names = ("中文女", "英文男")
    return {n: {"embedding": torch.randn(1, SPEAKER_SIZE, generator=generator)} for n in names}


def write_qwen(folder: Path) -> None:
    """Qwen's configuration and a vocabulary of single bytes and one merge."""
    folder.mkdir()
    known = {
        "num_hidden_layers": _V2.n_layers,
        "num_attention_heads": _V2.n_heads,
        "num_key_value_heads": _V2.n_kv_heads,
        "rope_theta": _V2.rope_theta,
        "rms_norm_eps": _V2.norm_epsilon,
    }
    vocab = {letter: number for number, letter in enumerate([*byte_letters(), "he"])}
    (folder / "config.json").write_text(json.dumps(known), encoding="utf-8")
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\nh e\n", encoding="utf-8")


def write_ranks(path: Path) -> None:
    """A vocabulary of all bytes, in the form of tiktoken."""
    from base64 import b64encode

    lines = [f"{b64encode(bytes([byte])).decode()} {byte}" for byte in range(256)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def byte_letters() -> str:
    """One printable letter for every byte, as byte-level BPE spells them."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (chr(code) for code in range(0x100, 0x200))
    return "".join(chr(byte) if byte in plain else next(others) for byte in range(256))


RECIPE_V1 = """
sample_rate: 22050
llm: !new:cosyvoice.llm.llm.TransformerLM
    text_encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
        attention_heads: HEADS
        num_blocks: 1
    llm: !new:cosyvoice.transformer.encoder.TransformerEncoder
        attention_heads: HEADS
        num_blocks: 1
    sampling: !name:cosyvoice.utils.common.ras_sampling
        top_p: 0.8
        top_k: 25
        win_size: 10
        tau_r: 0.1
flow: !new:cosyvoice.flow.flow.MaskedDiffWithXvec
    input_frame_rate: 50
    encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
        attention_heads: HEADS
        num_blocks: 1
    decoder: !new:cosyvoice.flow.flow_matching.ConditionalCFM
        estimator: !new:cosyvoice.flow.decoder.ConditionalDecoder
            channels: [16, 16]
            attention_head_dim: 4
            n_blocks: 1
            num_mid_blocks: 1
            num_heads: HEADS
"""
RECIPE_V2 = """
sample_rate: 24000
token_frame_rate: 25
llm: !new:cosyvoice.llm.llm.Qwen2LM
    sampling: !name:cosyvoice.utils.common.ras_sampling
        top_p: 0.8
        top_k: 25
        win_size: 10
        tau_r: 0.1
flow: !new:cosyvoice.flow.flow.CausalMaskedDiffWithXvec
    input_frame_rate: !ref <token_frame_rate>
    encoder: !new:cosyvoice.transformer.upsample_encoder.UpsampleConformerEncoder
        attention_heads: HEADS
        num_blocks: 1
    decoder: !new:cosyvoice.flow.flow_matching.CausalConditionalCFM
        estimator: !new:cosyvoice.flow.decoder.CausalConditionalDecoder
            channels: [16]
            attention_head_dim: 4
            n_blocks: 1
            num_mid_blocks: 1
            num_heads: HEADS
"""
_HIFT_RECIPE = """
hift: !new:cosyvoice.hifigan.generator.HiFTGenerator
    nsf_alpha: 0.1
    nsf_sigma: 0.003
    nsf_voiced_threshold: 10
    upsample_rates: {rates}
    upsample_kernel_sizes: {kernels}
    istft_params:
        n_fft: 16
        hop_len: 4
    resblock_kernel_sizes: [3, 7, 11]
    resblock_dilation_sizes: [[1, 3, 5], [1, 3, 5], [1, 3, 5]]
    source_resblock_kernel_sizes: {source_kernels}
    source_resblock_dilation_sizes: {source_dilations}
    lrelu_slope: 0.1
"""
