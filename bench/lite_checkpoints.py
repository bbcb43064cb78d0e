"""Lite checkpoints with random weights, made by `transformers` and the `encodec` package.

Both libraries run beside ours in bench/lite_parity.py and bench/lite_full.py; neither is needed to
build or to speak. `encodec` imports torchaudio for its file tools only, so an empty module stands
in for it.
"""

from __future__ import annotations

import io
import json
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

import sentencepiece
import torch
from transformers import EncodecConfig, EncodecModel, T5Config, T5ForConditionalGeneration

# After transformers, which asks whether torchaudio is there.
sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))

from encodec.model import EncodecModel as OfficialCodec  # noqa: E402
from encodec.modules import SEANetDecoder, SEANetEncoder  # noqa: E402
from encodec.quantization import ResidualVectorQuantizer  # noqa: E402

TAGS = ("[LNGzh]", "[LNGen]", "[SPKfirst]", "[SPKsecond]")
SENTENCES = (
    "前方三百米左转，进入长安街。",
    "keep right and take the second exit.",
    "请系好安全带！",
)
FRAME_RATE_HZ = 75


@dataclass(frozen=True)
class Size:
    """Sizes of both models; `n_filters` and `latent` are EnCodec's."""

    width: int
    n_heads: int
    head_size: int
    inner: int
    n_layers: int
    n_text: int
    n_codebooks: int
    codebook_size: int
    n_filters: int
    latent: int


TINY = Size(32, 4, 8, 48, 2, 200, 2, 64, 2, 16)
FULL = Size(1024, 16, 64, 2816, 9, 32000, 2, 1024, 32, 128)
"""The T5 has 304 million parameters, EnCodec the sizes of its published 24 kHz model."""


def write(path: Path, size: Size, interleaving: str, form: str, seed: int = 0) -> Path:
    """Write a checkpoint into `path`; `form` of EnCodec: `official` or `hugging_face`."""
    torch.manual_seed(seed)
    model = T5ForConditionalGeneration(_t5_config(size))
    model.save_pretrained(path)
    fields: Dict[str, Any] = json.loads((path / "config.json").read_text(encoding="utf-8"))
    fields["codec"] = _codec_section(size, interleaving)
    (path / "config.json").write_text(json.dumps(fields), encoding="utf-8")
    (path / "spiece.model").write_bytes(_vocabulary())
    # The vocabulary above is small; a tag at the end makes the text embeddings as many as wanted.
    added = {"[SPKlast]": size.n_text - 1}
    (path / "added_tokens.json").write_text(json.dumps(added), encoding="utf-8")
    generation = {
        "do_sample": True,
        "temperature": 0.9,
        "top_k": 50,
        "top_p": 0.9,
        "repetition_penalty": 1.1,
        "decoder_start_token_id": 0,
        "pad_token_id": 0,
        "eos_token_id": 1,
    }
    (path / "generation_config.json").write_text(json.dumps(generation), encoding="utf-8")
    if form == "official":
        torch.save(official_codec(size).state_dict(), path / "encodec_24khz-random.th")
    else:
        hugging_face_codec(size).save_pretrained(path / "encodec")
    return path


def read_t5(path: Path) -> T5ForConditionalGeneration:
    """The language model as `transformers` reads it back."""
    return T5ForConditionalGeneration.from_pretrained(path).eval()


def read_codec(path: Path, size: Size) -> Any:
    """EnCodec as its own library reads it back."""
    if (path / "encodec").is_dir():
        return EncodecModel.from_pretrained(path / "encodec").eval()
    codec = official_codec(size)
    (file,) = path.glob("encodec_24khz*.th")
    codec.load_state_dict(torch.load(file, weights_only=True))
    return codec.eval()


def decode(codec: Any, codes: torch.Tensor) -> torch.Tensor:
    """Samples [n] of codes [frames, codebooks] by either library."""
    with torch.no_grad():
        if isinstance(codec, OfficialCodec):
            return codec.decode([(codes.T[None], None)]).ravel()
        return codec.decode(codes.T[None, None], [None]).audio_values.ravel()


def official_codec(size: Size) -> OfficialCodec:
    """The class of `encodec_model_24khz`, with random weights and codebooks."""
    sizes = {"channels": 1, "norm": "weight_norm", "causal": True}
    sizes.update({"n_filters": size.n_filters, "dimension": size.latent})
    quantizer = ResidualVectorQuantizer(dimension=size.latent, n_q=8, bins=size.codebook_size)
    codec = OfficialCodec(
        SEANetEncoder(**sizes),
        SEANetDecoder(**sizes),
        quantizer,
        target_bandwidths=[6.0],
        sample_rate=24_000,
        channels=1,
    )
    for name, value in codec.state_dict().items():
        if name.endswith("embed"):
            value.normal_()
    return codec.eval()


def hugging_face_codec(size: Size) -> EncodecModel:
    """The same in `transformers`."""
    codec = EncodecModel(
        EncodecConfig(
            num_filters=size.n_filters,
            hidden_size=size.latent,
            codebook_size=size.codebook_size,
            target_bandwidths=[6.0],
        )
    )
    for name, value in codec.state_dict().items():
        if name.endswith("embed"):
            value.normal_()
    return codec.eval()


def _t5_config(size: Size) -> T5Config:
    return T5Config(
        vocab_size=size.n_text + size.n_codebooks * size.codebook_size,
        d_model=size.width,
        d_kv=size.head_size,
        d_ff=size.inner,
        num_heads=size.n_heads,
        num_layers=size.n_layers,
        feed_forward_proj="gated-gelu",
        decoder_start_token_id=0,
        architectures=["T5ForConditionalGeneration"],
    )


def _codec_section(size: Size, interleaving: str) -> Dict[str, Any]:
    section: Dict[str, Any] = {
        "model": "encodec_24khz",
        "sample_rate": 24_000,
        "frame_rate": FRAME_RATE_HZ,
        "num_codebooks": size.n_codebooks,
        "codebook_size": size.codebook_size,
        "code_offsets": offsets(size),
        "interleaving": interleaving,
    }
    if interleaving == "delay":
        section["delays"] = list(range(size.n_codebooks))
    return section


def offsets(size: Size) -> List[int]:
    """First vocabulary ids of the codebooks."""
    return [size.n_text + k * size.codebook_size for k in range(size.n_codebooks)]


def _vocabulary() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type="char",
        vocab_size=100,
        hard_vocab_limit=False,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        user_defined_symbols=list(TAGS),
        minloglevel=2,
    )
    return model.getvalue()
