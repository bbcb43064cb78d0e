"""The engines a voice runs on, as modules with named inputs and outputs.

Every random number and every length-dependent table is an input; integers are int32.
"""

from __future__ import annotations

from typing import Tuple

from torch import Tensor, nn

from edge_tts.build.cosyvoice.checkpoint import Checkpoint, Generation
from edge_tts.build.cosyvoice.config import MEL_BANDS
from edge_tts.build.cosyvoice.flow import Flow
from edge_tts.build.cosyvoice.flow_encoder import PlainFlowEncoder, UpsamplingFlowEncoder
from edge_tts.build.cosyvoice.hift import Hift
from edge_tts.build.cosyvoice.qwen_lm import QwenLm
from edge_tts.build.cosyvoice.transformer_lm import TransformerLm
from edge_tts.build.torch_voice.parts import Part, TensorSpec


def parts(checkpoint: Checkpoint) -> Tuple[Part, ...]:
    """Every engine of a checkpoint, in the order speech passes through them."""
    lm, flow, hift = checkpoint.lm, checkpoint.flow, checkpoint.hift
    is_first = isinstance(lm, TransformerLm)
    speaking = (_text_encoder(lm), _transformer(lm)) if is_first else (_qwen(lm),)
    is_causal = checkpoint.generation is Generation.V2
    encoder = _doubling_encoder(flow) if is_causal else _stretching_encoder(flow)
    samples = checkpoint.hift_config.samples_per_frame
    return (*speaking, encoder, _estimator(flow, is_causal), _f0(hift), _vocoder(hift, samples))


class _TextEncoderModule(nn.Module):
    def __init__(self, lm: TransformerLm) -> None:
        super().__init__()
        self._lm = lm

    def forward(self, embedded: Tensor) -> Tensor:
        return self._lm.text_encoder_affine_layer(self._lm.text_encoder(embedded))


class _TransformerModule(nn.Module):
    def __init__(self, lm: TransformerLm) -> None:
        super().__init__()
        self._lm = lm

    def forward(self, x: Tensor, cache: Tensor, positions: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        hidden, new = self._lm.llm(x, cache, positions)
        return hidden, self._lm.llm_decoder(hidden[-1]), new


class _QwenModule(nn.Module):
    def __init__(self, lm: QwenLm) -> None:
        super().__init__()
        self._lm = lm

    def forward(self, x: Tensor, cache: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        hidden, new = self._lm.qwen(x, cache)
        return hidden, self._lm.llm_decoder(hidden[-1]), new


class _F0Module(nn.Module):
    def __init__(self, hift: Hift) -> None:
        super().__init__()
        self._predictor = hift.f0_predictor

    def forward(self, mel: Tensor) -> Tensor:
        return self._predictor(mel)


def _text_encoder(lm: TransformerLm) -> Part:
    n_inputs = lm.text_embedding.weight.shape[1]
    width = lm.text_encoder_affine_layer.weight.shape[0]
    return Part(
        "text_encoder",
        _TextEncoderModule(lm),
        (TensorSpec("embedded", ("n", n_inputs)),),
        (TensorSpec("codes", ("n", width)),),
        {"n": 5},
    )


def _transformer(lm: TransformerLm) -> Part:
    first = lm.llm.encoders[0].self_attn
    n_layers, width = len(lm.llm.encoders), lm.llm.after_norm.weight.shape[0]
    kept = (n_layers, 2, first.n_heads, width // first.n_heads)
    inputs = (
        TensorSpec("x", ("n", lm.llm_embedding.weight.shape[1])),
        TensorSpec("cache", ("m", *kept)),
        TensorSpec("positions", ("n+m", n_layers, width)),
    )
    outputs = _lm_outputs(width, lm.llm_decoder.weight.shape[0], kept)
    return Part("lm", _TransformerModule(lm), inputs, outputs, {"n": 3, "m": 4, "n+m": 7})


def _qwen(lm: QwenLm) -> Part:
    width = lm.llm_embedding.weight.shape[1]
    kv_width = lm.qwen.layers[0].self_attn.k_proj.weight.shape[0]
    size = lm.qwen.head_size
    kept = (len(lm.qwen.layers), 2, kv_width // size, size)
    inputs = (TensorSpec("x", ("n", width)), TensorSpec("cache", ("m", *kept)))
    outputs = _lm_outputs(width, lm.llm_decoder.weight.shape[0], kept)
    return Part("lm", _QwenModule(lm), inputs, outputs, {"n": 3, "m": 4})


def _lm_outputs(width: int, n_ids: int, kept: Tuple[int, ...]) -> Tuple[TensorSpec, ...]:
    return (
        TensorSpec("hidden", ("n", width)),
        TensorSpec("logits", (n_ids,)),
        TensorSpec("new_cache", ("n", *kept)),
    )


def _stretching_encoder(flow: Flow) -> Part:
    inputs = (
        TensorSpec("tokens", ("n",), is_integer=True),
        TensorSpec("left", ("t",), is_integer=True),
        TensorSpec("right", ("t",), is_integer=True),
        TensorSpec("share", ("t",)),
    )
    outputs = (
        TensorSpec("encoded", ("n", flow.encoder_proj.weight.shape[1])),
        TensorSpec("mu", (1, MEL_BANDS, "t")),
    )
    return Part("flow_encoder", PlainFlowEncoder(flow), inputs, outputs, {"n": 9, "t": 13})


def _doubling_encoder(flow: Flow) -> Part:
    inputs = (
        TensorSpec("tokens", ("n+3",), is_integer=True),
        TensorSpec("has_context", (1,)),
        TensorSpec("visible", ("n",), is_integer=True),
    )
    outputs = (
        TensorSpec("encoded", ("2n", flow.encoder_proj.weight.shape[1])),
        TensorSpec("mu", (1, MEL_BANDS, "2n")),
    )
    module = UpsamplingFlowEncoder(flow)
    return Part("flow_encoder", module, inputs, outputs, {"n": 9, "n+3": 12, "2n": 18})


def _estimator(flow: Flow, is_causal: bool) -> Part:
    frames = ("b", MEL_BANDS, "t")
    inputs = [
        TensorSpec("state", frames),
        TensorSpec("mu", frames),
        TensorSpec("speaker", ("b", MEL_BANDS)),
        TensorSpec("cond", frames),
        TensorSpec("time", ("b",)),
    ]
    if is_causal:
        inputs.append(TensorSpec("visible", ("t",), is_integer=True))
    module = flow.decoder["estimator"]
    outputs = (TensorSpec("direction", frames),)
    return Part("estimator", module, tuple(inputs), outputs, {"b": 2, "t": 13})


def _f0(hift: Hift) -> Part:
    inputs = (TensorSpec("mel", (1, MEL_BANDS, "t")),)
    return Part("f0", _F0Module(hift), inputs, (TensorSpec("f0_hz", (1, "t")),), {"t": 13})


def _vocoder(hift: Hift, samples_per_frame: int) -> Part:
    inputs = (TensorSpec("mel", (1, MEL_BANDS, "t")), TensorSpec("source", (1, 1, "l")))
    outputs = (TensorSpec("audio", (1, 1, "l")),)
    return Part("vocoder", hift, inputs, outputs, {"t": 13, "l": 13 * samples_per_frame})
