"""CosyVoice with its language model on a plan of the form that the builder exports.

Needs torch, which exports that form from the checkpoint the tiny voices were made of.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

pytest.importorskip("torch")

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "build"), str(TESTS / "voices")]

from cosyvoice_voices import NAMES, unpack  # noqa: E402
from tiny_cosyvoice import write_checkpoint  # noqa: E402

from edge_tts.build.cosyvoice.checkpoint import read_checkpoint  # noqa: E402
from edge_tts.build.tensorrt.cosyvoice import write_graphs  # noqa: E402
from edge_tts.text.tokens import Language, Segment, Span, Token, TokenKind  # noqa: E402
from edge_tts.voices.cosyvoice.voice import CosyVoice  # noqa: E402
from edge_tts.voices.manifest import VoiceDirectory  # noqa: E402

SIZES = (64, 256)
PREFIX = (2, 32, 128)


@pytest.fixture(params=[1, 2])
def voice_path(gpu, request, tmp_path):
    """A tiny voice with an engine for its language model."""
    from simulated_plan import write_engine

    path = unpack(tmp_path) / NAMES[request.param - 1]
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    checkpoint = write_checkpoint(tmp_path / "checkpoint", request.param)
    write_graphs(read_checkpoint(checkpoint), graphs)
    write_engine(path, "lm", profiles(graphs / "lm.onnx"), graph=graphs / "lm.onnx")
    return path


def profiles(graph):
    """Single steps at each size of cache, and prefixes at each, as in `engines/*.yaml`."""
    inputs = onnx.load(str(graph)).graph.input
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in inputs}
    found = []
    for size in SIZES:
        for rows in ((1, 1, 1), PREFIX):
            first = {
                "x": rows,
                "cache": (size,) * 3,
                "length": (1,) * 3,
                "positions": tuple(size + n for n in rows),
            }
            found.append({k: [(n, *v[1:]) for n in first[k]] for k, v in shapes.items()})
    return found


def spoken(path):
    span = Span(0, 12)
    token = Token("hello there.", TokenKind.WORD, Language.EN, span, "")
    voice = CosyVoice.load(VoiceDirectory.read(path), 1)
    try:
        speaker = voice.info.speakers[0]
        pieces = list(voice.synthesize(Segment(0, (token,), span, 0.0), speaker, 1.0))
        return np.concatenate(pieces), {c.part: str(c) for c in voice.engines.choices}
    finally:
        voice.close()


def test_the_language_model_draws_the_same_tokens_on_tensorrt(gpu, voice_path):
    samples, choices = spoken(voice_path)
    assert choices["lm"] == "tensorrt"
    assert gpu.n_graph_launches > 10
    (voice_path / "engines" / "lm.json").unlink()
    expected, choices = spoken(voice_path)
    assert choices["lm"] == "onnx"
    assert len(samples) == len(expected)
    assert np.allclose(samples, expected, atol=1e-3)


def test_losing_the_gpu_in_the_middle_of_the_tokens_changes_none(gpu, voice_path):
    expected, _ = spoken(voice_path)
    n_launches = gpu.n_launches
    for number in (1, 2, n_launches // 2, n_launches):
        gpu.__init__()
        gpu.failing_launch = number
        samples, choices = spoken(voice_path)
        assert choices["lm"] == "onnx (engine.device_lost)"
        assert len(samples) == len(expected)
        assert np.allclose(samples, expected, atol=1e-3)
