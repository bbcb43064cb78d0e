"""What `edge-tts doctor` finds in this environment, and in ones that are broken on purpose."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from edge_tts import doctor
from edge_tts.doctor import Status


def run_doctor(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "edge_tts", "doctor", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


def by_subject(**environment: str) -> dict:
    report = json.loads(run_doctor("--json", **environment).stdout)
    return {finding["subject"]: finding for finding in report["findings"]}


def install_metadata(folder: Path, name: str, version: str) -> None:
    """What an installer leaves behind for a distribution, without its files."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )


def test_this_environment():
    found = by_subject()
    assert found["python"]["status"] == "ok"
    assert found["package"]["detail"].startswith(doctor.DISTRIBUTION)
    for name in ("numpy", "onnxruntime", "onnx", "sounddevice", "PyYAML", "psutil"):
        assert found[name]["status"] == "ok", found[name]
    assert "CPUs usable" in found["threads"]["detail"]


def test_the_online_program_beside_ours_is_a_failure_that_is_explained(tmp_path):
    install_metadata(tmp_path, "edge-tts", "7.2.8")
    done = run_doctor("--json", PYTHONPATH=str(tmp_path))
    report = json.loads(done.stdout)
    assert (done.returncode, report["healthy"]) == (1, False)
    (clash,) = [f for f in report["findings"] if f["subject"] == "name clash"]
    assert clash["status"] == "failure"
    assert "7.2.8" in clash["detail"]
    assert "pip uninstall -y edge-tts edge-tts-device" in clash["remedy"]


def test_another_package_of_our_name_on_the_path_is_a_warning(tmp_path, monkeypatch):
    other = tmp_path / "edge_tts"
    other.mkdir()
    (other / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    (finding,) = list(doctor._name_clash())
    assert finding.status is Status.WARNING
    assert str(other) in finding.detail


def test_another_command_of_our_name_first_in_path_is_a_warning(tmp_path):
    command = tmp_path / "edge-tts"
    command.write_text("#!/bin/sh\n", encoding="utf-8")
    command.chmod(0o755)
    found = by_subject(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert found["name clash"]["status"] == "warning"
    assert str(command) in found["name clash"]["detail"]


def test_a_broken_dependency_ends_the_examination_and_says_what_to_do(tmp_path):
    (tmp_path / "psutil.py").write_text("raise ImportError('wrong processor')\n", encoding="utf-8")
    done = run_doctor("--json", PYTHONPATH=str(tmp_path))
    found = {f["subject"]: f for f in json.loads(done.stdout)["findings"]}
    assert done.returncode == 1
    assert found["psutil"]["status"] == "failure"
    assert "wrong processor" in found["psutil"]["detail"]
    assert "quickstart.sh" in found["psutil"]["remedy"]
    assert "voices" not in found


def test_a_bad_configuration_is_a_failure_that_names_its_line(tmp_path):
    path = tmp_path / "edge-tts/config.yaml"
    path.parent.mkdir()
    path.write_text("sped: 1\n", encoding="utf-8")
    path.chmod(0o644)
    found = by_subject(XDG_CONFIG_HOME=str(tmp_path))
    assert found["configuration"]["status"] == "failure"
    assert f"{path}:1" in found["configuration"]["detail"]


def test_no_voice_is_a_failure_with_the_command_that_installs_one(tmp_path):
    done = run_doctor(EDGE_TTS_VOICES_DIR=str(tmp_path))
    assert done.returncode == 1
    assert "run: edge-tts voices install kokoro" in done.stdout


def test_no_sound_device_is_only_a_warning(tmp_path):
    absent = tmp_path / "alsa.conf"
    absent.write_text("pcm.absent { type hw card 99 }\n", encoding="utf-8")
    found = by_subject(ALSA_CONFIG_PATH=str(absent))
    assert found["audio"]["status"] == "warning"
    assert "-o FILE.wav" in found["audio"]["detail"]


@pytest.mark.voice
def test_an_installation_with_a_voice_is_healthy():
    done = run_doctor()
    assert done.returncode == 0, done.stdout
    assert all(line.startswith(("ok", "warning", " ")) for line in done.stdout.splitlines())
