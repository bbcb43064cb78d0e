"""The whole service on TensorRT engines, and on engines and a GPU that fail while it speaks."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tiny_kokoro_engines import KOKORO_PROFILES

sys.path.append(str(Path(__file__).parents[1] / "service"))  # running

STAND_IN = Path(__file__).parent / "stand_in"
TEXT = "Turn left at the next corner. Then go straight on for two miles. You have arrived."


@pytest.fixture
def voice_path(tmp_path, monkeypatch):
    from tiny_kokoro import write_voice

    path = tmp_path / "voices" / "tiny"
    write_voice(path)
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(path.parent))
    monkeypatch.syspath_prepend(str(STAND_IN))
    inherited = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(STAND_IN), inherited]))
    return path


@pytest.fixture
def engines(voice_path):
    from simulated_plan import write_engine

    for part, profiles in KOKORO_PROFILES.items():
        write_engine(voice_path, part, profiles)
    return voice_path / "engines"


def announced(folder, settled=lambda status: True):
    """(samples, status) of a service that speaks the text twice, once the status is `settled`."""
    from running import pcm, running

    folder.mkdir()
    source = {"source": "edge_tts.service.voice_source:open_voice"}
    with running(folder, options=["--", "--voice", "tiny", "--threads", "1"], **source) as front:
        front.wait_ready()
        with front.client() as client:
            # A speed of its own each, so that the second is not played from the cache.
            for speed in (1.0, 1.1):
                assert client.announce(TEXT, speed=speed).reason == "done"
            status = client.status()
            # An idle service measures its memory every few seconds.
            for _ in range(200):
                if settled(status):
                    break
                time.sleep(0.1)
                status = client.status()
    return pcm(folder / "out.pcm"), status


@pytest.fixture
def reference(voice_path, tmp_path):
    samples, status = announced(tmp_path / "reference")
    assert set(status["voice"]["engines"].values()) == {"onnx"}
    assert status["budget"]["gpu_mib"] == 0
    return samples


def test_the_service_speaks_on_tensorrt_and_counts_its_memory(reference, engines, tmp_path):
    samples, status = announced(tmp_path / "service", lambda now: now["budget"]["gpu_mib"] > 0)
    assert np.array_equal(samples, reference)
    assert set(status["voice"]["engines"].values()) == {"tensorrt"}
    assert status["budget"]["gpu_mib"] > 0


@pytest.mark.parametrize(
    ("fault", "code"),
    [("launch:9", "engine.device_lost"), ("allocation:4", "engine.out_of_memory")],
)
def test_a_fault_while_it_speaks_is_not_heard(
    reference, engines, tmp_path, monkeypatch, fault, code
):
    monkeypatch.setenv("STAND_IN_FAULT", fault)
    samples, status = announced(tmp_path / "service")
    assert np.array_equal(samples, reference)
    assert f"onnx ({code})" in status["voice"]["engines"].values()
    assert status["worker"]["restarts"] == 0


def test_a_truncated_plan_is_not_heard(reference, engines, tmp_path):
    plan = engines / "stream_generator.plan"
    plan.write_bytes(plan.read_bytes()[:-1])
    samples, status = announced(tmp_path / "service")
    assert np.array_equal(samples, reference)
    assert status["voice"]["engines"]["stream_generator"] == "onnx (engine.plan_truncated)"
