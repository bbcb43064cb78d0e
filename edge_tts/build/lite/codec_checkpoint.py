"""EnCodec's 24 kHz model from either published form: the `encodec` package's or Hugging Face's.

Both hold the same tensors under different names, with weight norm. Only the decoder and the
codebooks are read; sizes come from the tensors and must be those of a causal SEANet decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple

import torch
from torch import Tensor, nn

from edge_tts.build.lite.encodec import CodecConfig, StreamingDecoder
from edge_tts.build.lite.json_file import JsonFile
from edge_tts.build.lite.weights import Weights, read_file, read_folder
from edge_tts.build.torch_voice.weights import without_weight_norm
from edge_tts.errors import ModelError
from edge_tts.voices.lite.settings import CodecLayout

FOLDER = "encodec"
FILES = "encodec_24khz*.th"

_FIXED = {
    "model_type": "encodec",
    "audio_channels": 1,
    "normalize": False,
    "num_residual_layers": 1,
    "norm_type": "weight_norm",
    "use_causal_conv": True,
    "pad_mode": "reflect",
    "trim_right_ratio": 1.0,
    "use_conv_shortcut": True,
}


@dataclass(frozen=True)
class Names:
    """How one form calls the tensors."""

    layer: str
    convolution: str
    transposed: str
    lstm: str
    codebook: str
    unused: Tuple[str, ...]


OFFICIAL = Names(
    layer="decoder.model",
    convolution="conv.conv",
    transposed="convtr.convtr",
    lstm="lstm",
    codebook="quantizer.vq.layers.{}._codebook.embed",
    unused=("encoder.", "quantizer."),
)
HUGGING_FACE = Names(
    layer="decoder.layers",
    convolution="conv",
    transposed="conv",
    lstm="lstm",
    codebook="quantizer.layers.{}.codebook.embed",
    unused=("encoder.", "quantizer."),
)


@dataclass(frozen=True)
class Codec:
    """The decoder, and codebooks float32 [codebooks, size, latent]."""

    config: CodecConfig
    decoder: StreamingDecoder
    codebooks: Tensor


def read_codec(checkpoint: Path, layout: CodecLayout) -> Codec:
    """EnCodec beside a language model: the folder `encodec` or the file `encodec_24khz*.th`.

    Raises ModelError when there is neither or when it does not fit `layout`.
    """
    folder = checkpoint / FOLDER
    if folder.is_dir():
        _check_config(JsonFile.read(folder / "config.json"), layout)
        return read_tensors(read_folder(folder), HUGGING_FACE, layout)
    files = sorted(checkpoint.glob(FILES))
    if len(files) != 1:
        raise ModelError(
            f"{checkpoint} has no EnCodec model; put facebook/encodec_24khz into its folder "
            f"'{FOLDER}', or the encodec package's encodec_24khz-d7cc33bc.th beside config.json",
            code="model.file_missing",
        )
    return read_tensors(Weights(read_file(files[0]), files[0]), OFFICIAL, layout)


def read_tensors(found: Weights, names: Names, layout: CodecLayout) -> Codec:
    """Fill the decoder. Raises ModelError for a tensor that is missing, left over or misshapen."""
    codebooks = _codebooks(found, names, layout)
    for prefix in names.unused:
        found.drop(prefix)
    weights = Weights(without_weight_norm(found.take_all()), found.path)
    config = _sizes(weights, names, codebooks.shape[2])
    if layout.frame_rate_hz * config.samples_per_frame != layout.sample_rate_hz:
        raise weights.fault(
            f"it makes {config.samples_per_frame} samples per frame, 'codec.frame_rate' wants "
            f"{layout.sample_rate_hz / layout.frame_rate_hz:g}"
        )
    with torch.device("meta"):
        decoder = StreamingDecoder(config)
    decoder = decoder.to_empty(device="cpu")
    _Filler(weights, names).fill(decoder)
    weights.finish()
    return Codec(config, decoder.eval().requires_grad_(False), codebooks)


class _Filler:
    """Moves tensors into the decoder, layer by layer in the order both forms number them."""

    def __init__(self, weights: Weights, names: Names) -> None:
        self._weights = weights
        self._names = names

    def fill(self, decoder: StreamingDecoder) -> None:
        names = self._names
        self._convolution(decoder.enter.conv, f"0.{names.convolution}")
        self._lstm(decoder.lstm, f"1.{names.lstm}")
        for i, (up, residual) in enumerate(zip(decoder.raises, decoder.residuals)):
            self._convolution(up.conv, f"{3 + 3 * i}.{names.transposed}")
            block = f"{4 + 3 * i}"
            self._convolution(residual.first.conv, f"{block}.block.1.{names.convolution}")
            self._convolution(residual.second, f"{block}.block.3.{names.convolution}")
            self._convolution(residual.shortcut, f"{block}.shortcut.{names.convolution}")
        last = 3 + 3 * len(decoder.raises)
        self._convolution(decoder.leave.conv, f"{last}.{names.convolution}")
        for convolution in (decoder.enter, decoder.leave, *(r.first for r in decoder.residuals)):
            convolution.reset_mirror()

    def _convolution(self, layer: nn.Module, name: str) -> None:
        self._assign(layer, ("weight", "bias"), name)

    def _lstm(self, layer: nn.LSTM, name: str) -> None:
        self._assign(layer, [key for key, _ in layer.named_parameters()], name)

    def _assign(self, layer: nn.Module, keys: "Tuple[str, ...] | List[str]", name: str) -> None:
        for key in keys:
            parameter = getattr(layer, key)
            value = self._weights.take(f"{self._names.layer}.{name}.{key}", *parameter.shape)
            with torch.no_grad():
                parameter.copy_(value)


def _sizes(weights: Weights, names: Names, latent: int) -> CodecConfig:
    """Widths and kernels as the tensors have them; `_Filler` checks that all others agree."""

    def shape(name: str) -> Tuple[int, ...]:
        return weights.shape(f"{names.layer}.{name}.weight")

    width, n_in, kernel = _rank3(weights, shape(f"0.{names.convolution}"))
    if n_in != latent:
        raise weights.fault(f"the codebooks are {latent} wide and the decoder reads {n_in}")
    ratios: List[int] = []
    while weights.has(f"{names.layer}.{3 + 3 * len(ratios)}.{names.transposed}.weight") and (
        weights.has(f"{names.layer}.{4 + 3 * len(ratios)}.shortcut.{names.convolution}.weight")
    ):
        name = f"{3 + 3 * len(ratios)}.{names.transposed}"
        ratios.append(_rank3(weights, shape(name))[2] // 2)
    if not ratios or 0 in ratios:
        raise weights.fault("it has no up-sampling layers")
    hidden, _, residual_kernel = _rank3(weights, shape(f"4.block.1.{names.convolution}"))
    n_layers = sum(".weight_ih_l" in name for name in weights.names)
    last_kernel = _rank3(weights, shape(f"{3 + 3 * len(ratios)}.{names.convolution}"))[2]
    if n_layers < 1 or min(kernel, residual_kernel, last_kernel) < 2:
        raise weights.fault("it is not EnCodec's causal decoder with an LSTM")
    return CodecConfig(
        latent=latent,
        width=width,
        n_lstm_layers=n_layers,
        ratios=tuple(ratios),
        kernel=kernel,
        last_kernel=last_kernel,
        residual_kernel=residual_kernel,
        compress=max(1, width // 2 // hidden),
    )


def _rank3(weights: Weights, shape: Tuple[int, ...]) -> Tuple[int, int, int]:
    if len(shape) != 3:
        raise weights.fault(f"a convolution has the shape {shape}")
    return shape[0], shape[1], shape[2]


def _codebooks(weights: Weights, names: Names, layout: CodecLayout) -> Tensor:
    first = weights.shape(names.codebook.format(0))
    if len(first) != 2 or first[0] != layout.codebook_size:
        raise weights.fault(
            f"its codebooks are {first}, 'codec.codebook_size' says {layout.codebook_size}"
        )
    if not weights.has(names.codebook.format(layout.n_codebooks - 1)):
        raise weights.fault(f"it has fewer than 'codec.num_codebooks' ({layout.n_codebooks})")
    return torch.stack(
        [weights.take(names.codebook.format(k), *first) for k in range(layout.n_codebooks)]
    )


def _check_config(file: JsonFile, layout: CodecLayout) -> None:
    for key, value in _FIXED.items():
        if file.has(key) and file.raw(key) != value:
            raise file.unsupported(key, f"is {file.raw(key)!r}; this version needs {value!r}")
    rate_hz = file.integer("sampling_rate", 24_000)
    if rate_hz != layout.sample_rate_hz:
        raise file.unsupported("sampling_rate", f"is {rate_hz}; it must be {layout.sample_rate_hz}")
