"""Quantised layers compute what they stand for, and builds that stray too far are refused."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from tiny_cosyvoice import write_checkpoint

from edge_tts.build.cosyvoice import gate
from edge_tts.build.cosyvoice.precision import PRESETS, Precision
from edge_tts.build.cosyvoice.prepare import build
from edge_tts.build.quantisation.kinds import FP16, FP32, INT4, INT8
from edge_tts.build.quantisation.layers import Exclusion
from edge_tts.build.torch_voice.gate import Distance
from edge_tts.errors import InputError, ModelError
from edge_tts.voices.manifest import VoiceDirectory


def test_presets_and_lists_are_understood():
    assert Precision.parse("small").of("lm") == INT4
    assert Precision.parse("small").of("f0") == FP32
    assert Precision.parse("flow=fp16").of("estimator") == FP16
    assert Precision.parse("flow=fp16").of("lm") == FP32
    assert Precision.parse("lm=int8, estimator=int4").of("estimator") == INT4
    assert [Precision.parse(name).name for name in PRESETS] == ["fp32", "balanced", "small", "fast"]


def test_the_estimators_convolutions_are_never_in_bits():
    convolution = "/mid_blocks.3.0/block1/block.0/MatMul"
    fast = Precision.parse("fast")
    assert fast.kept_of("estimator").covers(convolution, "MatMul")
    assert not fast.kept_of("estimator").covers("/mid_blocks.3.1.0/net.2/MatMul", "MatMul")
    assert not Precision.parse("small").kept_of("estimator").covers(convolution, "MatMul")


@pytest.mark.parametrize(
    "text", ["", "tiny", "lm", "lm=int2", "vocoder=int8", "lm=int8;f0=int8", "flow=int9"]
)
def test_other_precisions_are_refused(text):
    with pytest.raises(InputError, match="give a preset"):
        Precision.parse(text)


@pytest.mark.parametrize(
    "distance",
    [Distance(0.6, 0), Distance(0, 0.01), Distance(float("nan"), 0), Distance(0, float("nan"))],
)
def test_a_voice_that_strays_beyond_its_limit_is_refused(distance):
    with pytest.raises(ModelError) as caught:
        gate.accept(distance, Precision({}))
    assert caught.value.code == "model.gate_failed"


def test_what_is_too_far_for_fp32_is_near_enough_for_its_own_precision():
    assert gate.accept(Distance(0.6, 0.01), Precision.parse("small")).limit_db == 2.5


@pytest.mark.parametrize("generation", [1, 2])
def test_a_small_voice_is_built_and_its_parts_say_so(tmp_path, generation):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", generation)
    build(checkpoint, tmp_path / "mine", lambda line: None, precision=Precision.parse("lm=int8"))
    directory = VoiceDirectory.read(tmp_path / "mine")
    precisions = {part.name: part.precision for part in directory.manifest.parts}
    # Weights this small may stay in the graph, and then have no file of their own.
    assert precisions["lm"] == precisions.get("lm_weights", INT8) == INT8
    assert precisions["vocoder"] == FP32
    assert directory.faults() == []


@pytest.mark.parametrize("generation", [1, 2])
def test_the_report_tells_what_each_engine_lost(tmp_path, generation):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", generation)
    build(checkpoint, tmp_path / "mine", lambda line: None, precision=Precision.parse("small"))
    report = json.loads((tmp_path / "mine" / "build.json").read_text())
    parts = {part["name"]: part for part in report["parts"]}
    assert parts["lm"]["precision"] == INT4
    assert parts["lm"]["snr_db"] < 60 < parts["f0"]["snr_db"]
    assert all(part["run_ms"] > 0 and part["size_bytes"] > 0 for part in parts.values())
    assert report["distance"]["divergence"] > 0


def test_layers_that_are_kept_lose_nothing(tmp_path):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", 2)
    kept = Precision.parse("lm=int4", Exclusion(("*",)))
    build(checkpoint, tmp_path / "mine", lambda line: None, precision=kept)
    report = json.loads((tmp_path / "mine" / "build.json").read_text())
    assert report["distance"]["divergence"] < 1e-6
