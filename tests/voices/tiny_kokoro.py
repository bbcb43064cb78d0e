"""A Kokoro voice of a few kilobytes: real engines with the real names and shapes, no speech."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence, Tuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_tts.runtime.integrity import sha256_of
from edge_tts.text.tokens import Language
from edge_tts.voices import manifest as manifests
from edge_tts.voices.manifest import Gate, Manifest, Part, VoiceDirectory
from edge_tts.voices.voice import VoiceInfo

FRAMES_PER_TOKEN = 4.0
LEVEL = 0.25
PARTS = ("encoder", "prosody", "decoder", "generator", "stream_generator")

INFO = VoiceInfo(
    name="tiny",
    family="kokoro",
    version="1",
    languages=(Language.ZH, Language.EN),
    speakers=("af_heart", "zf_xiaobei"),
    default_speakers=("zf_xiaobei", "af_heart"),
    sample_rate_hz=24_000,
    licence="Apache-2.0",
    source="made by this test",
)


def write_voice(
    directory: Path,
    *,
    audio_bias: float = 0.0,
    frames: float = FRAMES_PER_TOKEN,
    parts: Sequence[str] = PARTS,
):
    """Write the voice into `directory` and return it; `audio_bias` is added to every sample."""
    directory.mkdir(parents=True)
    models = {
        "encoder": _encoder(frames),
        "prosody": _prosody(),
        "decoder": _decoder(),
        "generator": _generator(audio_bias, ("padding_shares", (2,))),
        "stream_generator": _generator(audio_bias, ("statistics", (2, "C", 1))),
    }
    for name in parts:
        onnx.save(models[name], str(directory / f"{name}.onnx"))
    np.save(directory / "source.npy", np.linspace(-0.5, 0.5, 10).astype(np.float32))
    files = [*(directory / f"{name}.onnx" for name in parts), directory / "source.npy"]
    manifest = Manifest(INFO, tuple(_part(path) for path in files), Gate(0.0, 1.0, "none", "none"))
    (directory / manifests.FILE_NAME).write_text(manifests.render(manifest), encoding="utf-8")
    return VoiceDirectory.read(directory)


def _part(path: Path) -> Part:
    size_bytes = path.stat().st_size
    form = path.suffix[1:]
    return Part(path.stem, path.name, sha256_of(path), size_bytes, form, "fp32", {}, {})


def _encoder(frames: float) -> onnx.ModelProto:
    nodes = [
        _node("Cast", ["tokens"], "float", to=TensorProto.FLOAT),
        _node("Mul", ["float", "zero"], "zeros"),
        _node("Add", ["zeros", "frames"], "durations"),
        _node("Unsqueeze", ["float", "last"], "column"),
        _node("Tile", ["column", "by_640"], "token_prosody"),
        _node("Unsqueeze", ["float", "middle"], "row"),
        _node("Tile", ["row", "by_512"], "token_text"),
    ]
    constants = {
        "zero": np.float32(0),
        "frames": np.float32(frames),
        "last": np.array([2]),
        "middle": np.array([1]),
        "by_640": np.array([1, 1, 640]),
        "by_512": np.array([1, 512, 1]),
    }
    inputs = [_value("tokens", (1, "N"), TensorProto.INT64), _value("style", (1, 256))]
    outputs = [
        _value("durations", (1, "N")),
        _value("token_prosody", (1, "N", 640)),
        _value("token_text", (1, 512, "N")),
    ]
    return _model(nodes, inputs, outputs, constants)


def _prosody() -> onnx.ModelProto:
    nodes = [
        _node("ReduceMean", ["frame_prosody"], "mean", axes=[1], keepdims=0),
        _node("Concat", ["mean", "mean"], "twice", axis=1),
        _node("Mul", ["twice", "zero"], "zeros"),
        _node("Add", ["zeros", "hz"], "f0"),
        # The padding tokens have id 0, every other one a positive id: silence and speech.
        _node("Clip", ["mean", "low", "high"], "clipped"),
        _node("Unsqueeze", ["clipped", "last"], "column"),
        _node("Tile", ["column", "pairs"], "doubled"),
        _node("Reshape", ["doubled", "flat"], "curve"),
        _node("Mul", ["curve", "range"], "scaled"),
        _node("Add", ["scaled", "floor"], "energy"),
    ]
    constants = {
        "zero": np.float32(0),
        "hz": np.float32(200),
        "low": np.float32(0),
        "high": np.float32(1),
        "last": np.array([2]),
        "pairs": np.array([1, 1, 2]),
        "flat": np.array([1, -1]),
        "range": np.float32(15),
        "floor": np.float32(-10),
    }
    inputs = [_value("frame_prosody", (1, 640, "T")), _value("style", (1, 256))]
    outputs = [_value("f0", (1, "F")), _value("energy", (1, "F"))]
    return _model(nodes, inputs, outputs, constants)


def _decoder() -> onnx.ModelProto:
    nodes = [
        _node("Unsqueeze", ["frame_text", "last"], "column"),
        _node("Tile", ["column", "pairs"], "doubled"),
        _node("Reshape", ["doubled", "flat"], "features"),
    ]
    constants = {
        "last": np.array([3]),
        "pairs": np.array([1, 1, 1, 2]),
        "flat": np.array([1, 512, -1]),
    }
    inputs = [
        _value("frame_text", (1, 512, "T")),
        _value("f0", (1, "F")),
        _value("energy", (1, "F")),
        _value("style", (1, 256)),
    ]
    return _model(nodes, inputs, [_value("features", (1, 512, "F"))], constants)


def _generator(audio_bias: float, further_input: Tuple[str, Sequence]) -> onnx.ModelProto:
    nodes = [
        _node("ReduceMean", ["features"], "mean", axes=[1], keepdims=0),
        _node("Clip", ["mean", "low", "level"], "clipped"),
        _node("Unsqueeze", ["clipped", "last"], "column"),
        _node("Tile", ["column", "samples"], "rows"),
        _node("Reshape", ["rows", "flat"], "speech"),
        _node("Add", ["speech", "bias"], "audio"),
    ]
    constants = {
        "low": np.float32(0),
        "level": np.float32(LEVEL),
        "last": np.array([2]),
        "samples": np.array([1, 1, 300]),
        "flat": np.array([-1]),
        "bias": np.float32(audio_bias),
    }
    inputs = [
        _value("features", (1, 512, "F")),
        _value("harmonics", (1, 22, "H")),
        _value("style", (1, 256)),
        _value(*further_input),
    ]
    return _model(nodes, inputs, [_value("audio", ("L",))], constants)


def _node(op_type: str, inputs: Sequence[str], output: str, **attributes) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, [output], **attributes)


def _value(name: str, shape: Sequence, element: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, list(shape))


def _model(nodes, inputs, outputs, constants) -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
