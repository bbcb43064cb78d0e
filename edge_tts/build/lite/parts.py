"""The engines a lite voice runs on, as modules with named inputs and outputs."""

from __future__ import annotations

from typing import List, Tuple

from edge_tts.build.lite.checkpoint import Checkpoint
from edge_tts.build.lite.encodec import StreamingDecoder
from edge_tts.build.torch_voice.parts import Part, TensorSpec


def parts(checkpoint: Checkpoint) -> Tuple[Part, ...]:
    """Every engine of a checkpoint, in the order speech passes through them."""
    return (_encoder(checkpoint), _decoder(checkpoint), _codec(checkpoint))


def _encoder(checkpoint: Checkpoint) -> Part:
    t5 = checkpoint.config.t5
    inputs = (
        TensorSpec("x", ("s", t5.width)),
        TensorSpec("bias", (t5.n_heads, "s", "s")),
    )
    return Part("encoder", checkpoint.encoder, inputs, _text_cache(checkpoint), {"s": 5})


def _decoder(checkpoint: Checkpoint) -> Part:
    t5, layout = checkpoint.config.t5, checkpoint.config.codec
    heads, size = t5.n_heads, t5.head_size
    inputs = [
        TensorSpec("x", ("n", t5.width)),
        TensorSpec("bias", (heads, "n", "m+n")),
        TensorSpec("text_bias", ("n", "s")),
    ]
    outputs = [TensorSpec("scores", ("n", layout.stop_id + 1))]
    text = _text_cache(checkpoint)
    for i in range(t5.n_decoder_layers):
        inputs += [
            TensorSpec(f"keys_{i}", (heads, size, "m")),
            TensorSpec(f"values_{i}", (heads, "m", size)),
            *text[2 * i : 2 * i + 2],
        ]
        outputs += [
            TensorSpec(f"new_keys_{i}", (heads, size, "n")),
            TensorSpec(f"new_values_{i}", (heads, "n", size)),
        ]
    lengths = {"n": 3, "m": 4, "m+n": 7, "s": 5}
    return Part("decoder", checkpoint.decoder, tuple(inputs), tuple(outputs), lengths)


def _text_cache(checkpoint: Checkpoint) -> Tuple[TensorSpec, ...]:
    t5 = checkpoint.config.t5
    specs: List[TensorSpec] = []
    for i in range(t5.n_decoder_layers):
        specs.append(TensorSpec(f"text_keys_{i}", (t5.n_heads, t5.head_size, "s")))
        specs.append(TensorSpec(f"text_values_{i}", (t5.n_heads, "s", t5.head_size)))
    return tuple(specs)


def _codec(checkpoint: Checkpoint) -> Part:
    decoder: StreamingDecoder = checkpoint.codec.decoder
    hop = checkpoint.codec.config.samples_per_frame
    state = tuple(TensorSpec(name, shape) for name, shape in decoder.state_shapes().items())
    inputs = (
        TensorSpec("x", (1, checkpoint.codec.config.latent, "t")),
        TensorSpec("is_first", (1,)),
        *state,
    )
    new = (TensorSpec(f"new_{spec.name}", spec.shape) for spec in state)
    outputs = (TensorSpec("audio", (1, 1, "l")), *new)
    return Part("codec", decoder, inputs, outputs, {"t": 9, "l": 9 * hop})
