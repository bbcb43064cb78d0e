"""An engine that differs, or yields what are not numbers, is told from one that does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trt_graphs import normed_convolution, recording

from edge_tts.build.tensorrt.gate import (
    Trial,
    compare,
    fit,
    graph_inputs,
    judge,
    prove,
    shortcoming,
)
from edge_tts.build.tensorrt.recipe import FP16, FP16_MATRICES, FP32, KeepFp32, Limits, PartRecipe
from edge_tts.build.tensorrt.simulation import HalfPrecisionSimulation
from edge_tts.errors import EngineError
from edge_tts.runtime.onnx import OnnxEngine

LIMITS = Limits(min_snr_db=40, max_mel_distance_db=1.0)
PART = PartRecipe(
    "part",
    FP16,
    ({"T": (4, 20, 50)}, {"T": (51, 60, 70)}),
    KeepFp32(("ReduceMean", "Sqrt")),
    LIMITS,
)


def trial(tmp_path, level=1.0, precision=FP16, part=PART):
    graph = normed_convolution(tmp_path / "part.onnx", level)
    return Trial(str(graph), "", str(recording(tmp_path / "part.npz")), precision, part)


def verdict(a_trial):
    with OnnxEngine(_path(a_trial)) as ref:
        return prove(a_trial, ref, HalfPrecisionSimulation)


def _path(a_trial):
    return Path(a_trial.graph)


def test_a_good_engine_passes_at_every_point_of_every_profile(tmp_path):
    found = verdict(trial(tmp_path))
    assert found.passed, found.reason
    points = [(item.profile, item.point) for item in found.comparisons]
    assert points == [(p, q) for p in (0, 1) for q in ("least", "typical", "greatest")]
    assert all(item.is_finite and item.snr_db > 40 for item in found.comparisons)


@pytest.mark.parametrize("precision", [FP16, FP16_MATRICES])
def test_an_engine_that_overflows_fails_at_once(tmp_path, precision):
    found = verdict(trial(tmp_path, 1e6, precision))
    assert not found.passed
    assert "not numbers at the least shape of profile 0" in found.reason
    assert len(found.comparisons) == 1
    assert verdict(trial(tmp_path, 1e6, FP32)).passed


def test_noise_above_the_limit_fails(tmp_path):
    strict = PartRecipe("part", FP16, PART.profiles, PART.keep_fp32, Limits(150, 1.0))
    found = verdict(trial(tmp_path, part=strict))
    assert not found.passed
    assert "dB below the signal" in found.reason


def test_an_engine_that_cannot_open_or_run_fails(tmp_path):
    a_trial = trial(tmp_path)

    def broken(_):
        raise EngineError("no memory")

    with OnnxEngine(_path(a_trial)) as reference:
        assert "cannot be opened: no memory" in prove(a_trial, reference, broken).reason
        closed = HalfPrecisionSimulation(a_trial)
        closed.close()
        assert "cannot run at the least" in judge(a_trial, reference, closed).reason


def test_a_lost_recording_is_an_error_of_its_own(tmp_path):
    a_trial = trial(tmp_path)
    (tmp_path / "part.npz").write_bytes(b"no archive")
    with OnnxEngine(_path(a_trial)) as reference, pytest.raises(EngineError, match="recorded"):
        judge(a_trial, reference, reference)


def test_inputs_are_repeated_or_cut_to_the_profile(tmp_path):
    part = PartRecipe("p", FP16, ({"n": (0, 2, 5), "t": (1, 1, 2)},), below={"index": "n"})
    recorded = {
        "x": np.arange(6.0, dtype=np.float32).reshape(3, 2),
        "index": np.array([0, 2], np.int32),
        "empty": np.zeros((0, 4), np.float32),
    }
    dimensions = {"x": ("n", 2), "index": ("t",), "empty": ("n", 4)}
    assert fit(recorded, dimensions, part, 0, 0)["x"].shape == (0, 2)
    greatest = fit(recorded, dimensions, part, 0, 2)
    assert greatest["x"][:, 0].tolist() == [0, 2, 4, 0, 2]
    assert greatest["empty"].tolist() == np.zeros((5, 4)).tolist()
    assert fit({**recorded, "index": np.array([9, 9], np.int32)}, dimensions, part, 0, 1)[
        "index"
    ].tolist() == [1]


def test_measures():
    wave = np.sin(np.arange(4800) / 7).astype(np.float32)
    same = compare({"audio": wave}, {"audio": wave}, 0, "least")
    assert (same.snr_db, same.mel_distance_db) == (200.0, 0.0)
    noisy = compare({"a": wave}, {"a": wave * 1.1}, 0, "least")
    assert noisy.snr_db == pytest.approx(20.0, abs=0.1)
    assert noisy.mel_distance_db is None
    broken = compare({"a": wave}, {"a": wave * np.float32("nan")}, 0, "least")
    assert not broken.is_finite
    short = compare({"a": wave}, {"a": wave[:-1]}, 0, "least")
    assert shortcoming(short, LIMITS)
    loud = compare({"audio": wave}, {"audio": wave * 2}, 0, "least")
    assert "of mel away" in shortcoming(loud, Limits(-10, 1.0))
    assert shortcoming(same, LIMITS) == ""


def test_inputs_of_a_graph_are_read_with_their_axes(tmp_path):
    assert graph_inputs(normed_convolution(tmp_path / "g.onnx")) == {"x": (1, 8, "T")}
