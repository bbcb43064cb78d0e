"""A lite voice's text encoder and EnCodec decoder become graphs every parser takes. Needs torch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")
pytest.importorskip("safetensors")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tiny_lite import write_checkpoint  # noqa: E402

from edge_tts.build.tensorrt.command import export_graphs  # noqa: E402
from edge_tts.build.tensorrt.gate import Trial, prove  # noqa: E402
from edge_tts.build.tensorrt.recipe import read_recipe, recipe_path  # noqa: E402
from edge_tts.build.tensorrt.recording import recording_path  # noqa: E402
from edge_tts.build.tensorrt.simulation import HalfPrecisionSimulation  # noqa: E402
from edge_tts.runtime.onnx import OnnxEngine  # noqa: E402


def test_its_parts_pass_the_gate_in_simulated_half_precision(tmp_path):
    lines = []
    export_graphs(write_checkpoint(tmp_path / "lite"), tmp_path / "graphs", lines.append)
    recipe = read_recipe(recipe_path("lite"))
    assert lines[-2:] == [f"wrote {tmp_path / 'graphs' / p.name}.onnx" for p in recipe.parts]
    for part in recipe.parts:
        graph = tmp_path / "graphs" / f"{part.name}.onnx"
        recorded = recording_path(graph.parent, part.name)
        trial = Trial(str(graph), "", str(recorded), part.precision, recipe.part(part.name))
        with OnnxEngine(graph) as reference:
            verdict = prove(trial, reference, HalfPrecisionSimulation)
        assert verdict.passed, (part.name, verdict.reason)
