"""Which engine speaks, and that a voice keeps speaking whatever happens to a plan or the GPU."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import tiny_decoder
from tiny_kokoro_engines import KOKORO_PROFILES, segment

from edge_tts.errors import EngineError
from edge_tts.runtime.engine_manifest import EngineManifest, GateResult
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.runtime.selection import ONNX, TENSORRT, Engines, Model
from edge_tts.voices.kokoro.voice import KokoroVoice
from edge_tts.voices.manifest import VoiceDirectory
from edge_tts.voices.voice import Preset


@pytest.fixture
def voice_path(gpu, tmp_path):
    """A tiny Kokoro with a plan for every part it speaks with."""
    from simulated_plan import write_engine
    from tiny_kokoro import write_voice

    path = tmp_path / "tiny"
    write_voice(path)
    for index, (part, profiles) in enumerate(KOKORO_PROFILES.items()):
        write_engine(path, part, profiles, facts={"ballast": 1000 * (index + 1)})
    return path


def spoken(path):
    voice = KokoroVoice.load(VoiceDirectory.read(path), 1, Preset.STREAM)
    try:
        pieces = list(voice.synthesize(segment(), "af_heart", 1.0))
        return np.concatenate(pieces), {choice.part: choice for choice in voice.engines.choices}
    finally:
        voice.close()


@pytest.fixture
def reference(voice_path):
    """What ONNX Runtime alone makes of the segment."""
    engines = voice_path / "engines"
    engines.rename(voice_path / "hidden")
    samples, choices = spoken(voice_path)
    (voice_path / "hidden").rename(engines)
    assert {choice.backend for choice in choices.values()} == {ONNX}
    assert {choice.code for choice in choices.values()} == {""}
    return samples


def test_a_verified_plan_speaks_like_onnx(gpu, voice_path, reference):
    samples, choices = spoken(voice_path)
    assert {choice.backend for choice in choices.values()} == {TENSORRT}
    assert gpu.n_launches >= len(KOKORO_PROFILES)
    assert np.array_equal(samples, reference)
    assert (gpu.memory, gpu.pinned) == ({}, {})


def truncate(path, part):
    plan = path / "engines" / f"{part}.plan"
    plan.write_bytes(plan.read_bytes()[:-1])


def tamper(path, part):
    plan = path / "engines" / f"{part}.plan"
    plan.write_bytes(plan.read_bytes()[:-1] + b"\1")


def rewrite(target=(), **changes):
    def change(path, part):
        file = path / "engines" / f"{part}.json"
        manifest = EngineManifest.read(file)
        built_for = replace(manifest.target, **dict(target))
        replace(manifest, target=built_for, **changes).write(file)

    return change


def reinstall_voice(path, part):
    file = path / "voice.yaml"
    file.write_text(file.read_text().replace("version: '1'", "version: '2'"))


@pytest.mark.parametrize(
    ("harm", "code"),
    [
        (truncate, "engine.plan_truncated"),
        (tamper, "engine.plan_damaged"),
        (lambda path, part: (path / "engines" / f"{part}.plan").unlink(), "engine.plan_missing"),
        (rewrite(target={"sm": "8.7", "platform": "orin"}), "engine.plan_foreign"),
        (rewrite(target={"tensorrt": "8.5.3.1"}), "engine.plan_foreign"),
        (rewrite(gate=GateResult(False, "NaN at greatest", ())), "engine.plan_rejected"),
        (rewrite(plan=None), "engine.plan_rejected"),
        (
            lambda path, part: (path / "engines" / f"{part}.json").write_text("{"),
            "engine.manifest_invalid",
        ),
    ],
    ids=["short", "other", "missing", "sm", "tensorrt", "gate", "no plan", "manifest"],
)
def test_one_bad_plan_leaves_its_part_to_onnx(gpu, voice_path, reference, harm, code):
    harm(voice_path, "decoder")
    samples, choices = spoken(voice_path)
    assert (choices["decoder"].backend, choices["decoder"].code) == (ONNX, code)
    assert "edge-tts build" in choices["decoder"].reason
    assert {c.backend for part, c in choices.items() if part != "decoder"} == {TENSORRT}
    assert np.array_equal(samples, reference)


def test_engines_of_another_version_of_the_voice_are_refused(gpu, voice_path):
    reinstall_voice(voice_path, "")
    samples, choices = spoken(voice_path)
    assert {choice.code for choice in choices.values()} == {"engine.plan_stale"}
    assert len(samples)
    assert gpu.n_allocations == 0  # nothing was deserialised


@pytest.mark.parametrize("missing", ["tensorrt", "device"])
def test_without_tensorrt_or_gpu_the_voice_speaks(gpu, voice_path, reference, monkeypatch, missing):
    if missing == "tensorrt":
        monkeypatch.setitem(sys.modules, "tensorrt", None)
    else:
        from edge_tts.runtime import cuda_library

        monkeypatch.setitem(sys.modules, "pycuda", None)
        monkeypatch.setattr(cuda_library, "LIBRARY", "libcuda-that-is-not-there.so")
        monkeypatch.setattr(cuda_library, "load_library", _real_load_library)
    samples, choices = spoken(voice_path)
    assert {choice.code for choice in choices.values()} == {f"engine.{missing}_missing"}
    assert np.array_equal(samples, reference)


def _real_load_library():
    import ctypes

    from edge_tts.runtime import cuda_library

    return ctypes.CDLL(cuda_library.LIBRARY)


def test_an_allocation_failing_at_any_step_costs_speed_but_no_speech(gpu, voice_path, reference):
    spoken(voice_path)
    n_allocations, n_graphs = gpu.n_allocations, gpu.n_captures
    # A plan and a context for each part, then scratch, arena and its pinned side.
    assert n_allocations - n_graphs >= 2 * len(KOKORO_PROFILES) + 3
    for number in range(1, n_allocations + 1):
        gpu.__init__()
        gpu.failing_allocation = number
        samples, choices = spoken(voice_path)
        assert np.array_equal(samples, reference), number
        codes = {choice.code for choice in choices.values()}
        # A graph that cannot be recorded leaves its plan in use.
        is_graph = number > n_allocations - n_graphs
        assert codes == {""} if is_graph else "engine.out_of_memory" in codes, number
        assert (gpu.memory, gpu.pinned) == ({}, {}), number


def test_a_context_lost_at_any_run_loses_and_repeats_no_sample(gpu, voice_path, reference):
    spoken(voice_path)
    n_launches = gpu.n_launches
    assert n_launches > len(KOKORO_PROFILES)  # several windows
    for number in range(1, n_launches + 1):
        gpu.__init__()
        gpu.failing_launch = number
        samples, choices = spoken(voice_path)
        assert np.array_equal(samples, reference), number
        assert {choice.code for choice in choices.values()} == {"engine.device_lost"}


def test_the_voice_speaks_on_after_the_loss(gpu, voice_path, reference):
    voice = KokoroVoice.load(VoiceDirectory.read(voice_path), 1, Preset.STREAM)
    gpu.failing_launch = gpu.n_launches + 2
    for _ in range(3):
        assert np.array_equal(
            np.concatenate(list(voice.synthesize(segment(), "af_heart", 1.0))), reference
        )
    assert voice.engines.device_bytes == 0
    voice.close()


def test_a_closed_voice_does_not_open_onnx(gpu, voice_path):
    engines = Engines(voice_path, {"decoder": Model(voice_path / "decoder.onnx")})
    decoder = engines["decoder"]
    engines.close()
    with pytest.raises(EngineError) as caught:
        decoder.run({})
    assert caught.value.code == "engine.closed"


def test_device_memory_is_reported(gpu, voice_path):
    engines = Engines(voice_path, {"decoder": Model(voice_path / "decoder.onnx")})
    weights = (voice_path / "engines" / "decoder.plan").stat().st_size
    assert engines.device_bytes == gpu.held_bytes + weights
    engines.close()
    assert engines.device_bytes == 0


TABLE = {"positions": tiny_decoder.TABLE}
ROWS = np.random.default_rng(2).standard_normal((16, tiny_decoder.WIDTH)).astype(np.float32)
STEPS = [ROWS[:5], *(ROWS[i : i + 1] for i in range(5, 16))]


@pytest.fixture
def lm_path(gpu, tmp_path):
    from simulated_plan import write_engine

    path = tmp_path / "lm_voice"
    path.mkdir()
    (path / "voice.yaml").write_text("a voice\n")
    tiny_decoder.write(path / "lm.onnx", static=False)
    graph = tiny_decoder.write(tmp_path / "static.onnx", static=True)
    write_engine(path, "lm", tiny_decoder.profiles(), graph=graph)
    return path


def decode(engine):
    decoding = engine.decode(tiny_decoder.CACHE, 16, TABLE)
    outputs = np.concatenate([decoding.step({"x": x})["hidden"] for x in STEPS])
    assert decoding.n_positions == 16
    decoding.close()
    return outputs


def lm_engines(path):
    return Engines(path, {"lm": Model(path / "lm.onnx", tiny_decoder.CACHE)})


def test_a_decoding_goes_on_where_the_gpu_left_it(gpu, lm_path):
    with OnnxEngine(lm_path / "lm.onnx") as onnx:
        expected = decode(onnx)
    for number in range(1, len(STEPS) + 1):
        gpu.__init__()
        gpu.failing_launch = number
        engines = lm_engines(lm_path)
        assert engines.choices[0].backend == TENSORRT
        for _ in range(2):
            assert np.allclose(decode(engines["lm"]), expected, atol=1e-5), number
        assert engines.choices[0].code == "engine.device_lost"
        engines.close()


def test_a_decoding_survives_a_failing_allocation_at_any_step(gpu, lm_path):
    engines = lm_engines(lm_path)
    expected = decode(engines["lm"])
    engines.close()
    n_allocations, n_graphs = gpu.n_allocations, gpu.n_captures
    assert n_graphs
    for number in range(1, n_allocations + 1):
        # Graphs come last: without one the engine is slower, not useless.
        is_graph = number > n_allocations - n_graphs
        gpu.__init__()
        gpu.failing_allocation = number
        engines = lm_engines(lm_path)
        assert np.allclose(decode(engines["lm"]), expected, atol=1e-5), number
        assert engines.choices[0].code == ("" if is_graph else "engine.out_of_memory"), number
        engines.close()
        assert (gpu.memory, gpu.pinned) == ({}, {}), number


def test_a_sequence_too_long_for_the_plan_uses_onnx_once(gpu, lm_path):
    engines = lm_engines(lm_path)
    decoding = engines["lm"].decode(tiny_decoder.CACHE, 17, TABLE)
    with OnnxEngine(lm_path / "lm.onnx") as onnx:
        expected = onnx.decode(tiny_decoder.CACHE, 17, TABLE).step({"x": ROWS})
    assert np.array_equal(decoding.step({"x": ROWS})["hidden"], expected["hidden"])
    assert engines.choices[0].backend == TENSORRT
    assert np.allclose(decode(engines["lm"])[-1], expected["hidden"][-1], atol=1e-5)
    assert gpu.n_launches == len(STEPS)
    engines.close()


def test_a_plan_without_a_cache_of_fixed_size_leaves_its_part_to_onnx(gpu, lm_path):
    from simulated_plan import write_engine

    profile = dict(tiny_decoder.profiles()[0])
    del profile["length"]
    write_engine(lm_path, "lm", [profile])
    engines = lm_engines(lm_path)
    assert (engines.choices[0].backend, engines.choices[0].code) == (ONNX, "engine.plan_foreign")
    engines.close()
