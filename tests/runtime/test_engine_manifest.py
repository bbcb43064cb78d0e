"""A plan reaches the GPU only if it is whole, proven, and made for this machine and voice."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from hashlib import sha256

import pytest

from edge_tts.errors import EngineError
from edge_tts.runtime.engine_manifest import (
    Bounds,
    Comparison,
    EngineManifest,
    GateResult,
    Plan,
    Target,
    manifest_path,
)

PLAN = b"plan" * 1000
MACHINE = {"platform": "xavier-nx", "trt_version": "8.5.2.2", "sm": "7.2", "voice_sha256": "v"}


def example():
    return EngineManifest(
        voice="kokoro",
        part="decoder",
        voice_sha256="v",
        onnx_sha256="o",
        recipe_sha256="r",
        target=Target("xavier-nx", "7.2", "8.5.2.2", "Jetson Xavier NX", "MODE_20W_6CORE"),
        profiles=({"style": Bounds((1, 256), (1, 256), (1, 256))},),
        gate=GateResult(True, "within the limits", (Comparison(0, "least", True, 51.5, 0.25),)),
        plan=Plan("decoder.plan", len(PLAN), sha256(PLAN).hexdigest(), "fp16", ("FP16",), 1 << 20),
    )


@pytest.fixture
def manifest(tmp_path):
    (tmp_path / "decoder.plan").write_bytes(PLAN)
    example().write(tmp_path / "decoder.json")
    return EngineManifest.read(tmp_path / "decoder.json")


def refusal(manifest, folder, **changes):
    with pytest.raises(EngineError) as caught:
        manifest.verify(folder, **{**MACHINE, **changes})
    assert "run: edge-tts build kokoro --platform xavier-nx" in str(caught.value)
    return caught.value.code


def test_what_is_written_is_read(manifest, tmp_path):
    assert manifest == example()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["decoder.json", "decoder.plan"]


def test_the_right_plan_on_the_right_machine_is_found(manifest, tmp_path):
    assert manifest.verify(tmp_path, **MACHINE) == tmp_path / "decoder.plan"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"platform": "orin"}, "engine.plan_foreign"),
        ({"trt_version": "8.5.2.3"}, "engine.plan_foreign"),
        ({"sm": "8.7"}, "engine.plan_foreign"),
        ({"voice_sha256": "w"}, "engine.plan_stale"),
    ],
)
def test_another_machine_or_voice_is_refused(manifest, tmp_path, change, code):
    (tmp_path / "decoder.plan").unlink()  # refused without reading the plan
    assert refusal(manifest, tmp_path, **change) == code


def test_a_truncated_plan_is_refused(manifest, tmp_path):
    (tmp_path / "decoder.plan").write_bytes(PLAN[:-1])
    assert refusal(manifest, tmp_path) == "engine.plan_truncated"


def test_a_plan_with_one_other_bit_is_refused(manifest, tmp_path):
    (tmp_path / "decoder.plan").write_bytes(PLAN[:-1] + bytes([PLAN[-1] ^ 1]))
    assert refusal(manifest, tmp_path) == "engine.plan_damaged"


def test_a_missing_plan_and_a_link_are_refused(manifest, tmp_path):
    (tmp_path / "decoder.plan").rename(tmp_path / "other.plan")
    assert refusal(manifest, tmp_path) == "engine.plan_missing"
    (tmp_path / "decoder.plan").symlink_to(tmp_path / "other.plan")
    assert refusal(manifest, tmp_path) == "engine.plan_missing"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is protected from writable plans")
def test_root_loads_no_plan_that_others_can_write(manifest, tmp_path):
    (tmp_path / "decoder.plan").chmod(0o666)
    assert refusal(manifest, tmp_path) == "engine.plan_missing"


def test_a_plan_that_failed_its_gate_or_has_none_is_refused(manifest, tmp_path):
    failed = replace(manifest, gate=GateResult(False, "NaN at greatest", ()))
    assert refusal(failed, tmp_path) == "engine.plan_rejected"
    assert refusal(replace(manifest, plan=None), tmp_path) == "engine.plan_rejected"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 2}, "format 2"),
        ({"voice": 3}, "voice must be text"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"gate": None}, "gate must be a mapping"),
        ({"profiles": {}}, "profiles must be a list"),
        ({"plan": {"file": "a"}}, "lacks the key 'size_bytes'"),
    ],
)
def test_a_malformed_manifest_says_where(manifest, tmp_path, change, words):
    path = tmp_path / "decoder.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(EngineError, match=words) as caught:
        EngineManifest.read(path)
    assert caught.value.code == "engine.manifest_invalid"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"\ud800"', "x" * (1 << 21)])
def test_what_is_no_manifest_is_refused(tmp_path, text):
    path = tmp_path / "decoder.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(EngineError) as caught:
        EngineManifest.read(path)
    assert caught.value.code == "engine.manifest_invalid"


def test_a_manifest_cannot_reach_outside_its_directory(manifest, tmp_path):
    outside = replace(manifest, plan=replace(manifest.plan, file="../decoder.plan"))
    outside.write(tmp_path / "decoder.json")
    with pytest.raises(EngineError, match="outside"):
        EngineManifest.read(tmp_path / "decoder.json")


def test_where_the_manifest_of_a_part_lies(tmp_path):
    assert manifest_path(tmp_path, "decoder") == tmp_path / "engines" / "decoder.json"
