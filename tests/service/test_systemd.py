"""The units and the installer: statically everywhere, and in a booted systemd where there is one.

The booted test needs root, systemd-nspawn, mmdebstrap and EDGE_TTS_TEST_WHEELS, a folder of wheels
for the container's Python that holds this package; see tests/service/systemd/boot.sh.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from edge_tts import paths

ROOT = Path(__file__).resolve().parents[2]
UNITS = ROOT / "systemd"
MAX_EXPOSURE = "15"  # in tenths

needs_analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="no systemd-analyze"
)


@needs_analyze
@pytest.mark.system
def test_the_exposure_stays_low() -> None:
    command = ["systemd-analyze", "security", "--offline=true", f"--threshold={MAX_EXPOSURE}"]
    done = subprocess.run(
        [*command, str(UNITS / "edge-tts.service")], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@needs_analyze
@pytest.mark.system
@pytest.mark.parametrize("name", ["edge-tts.service", "edge-tts.socket"])
def test_systemd_knows_every_key(name: str, tmp_path: Path) -> None:
    for unit in ("edge-tts.service", "edge-tts.socket"):
        text = (UNITS / unit).read_text().replace("/opt/edge-tts/venv/bin/edge-tts", "/bin/true")
        (tmp_path / unit).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / name)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert "Unknown" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


# CASES A10
def test_the_unit_waits_for_sound_and_may_use_it() -> None:
    unit = (UNITS / "edge-tts.service").read_text().splitlines()
    (after,) = [line for line in unit if line.startswith("After=")]
    assert "sound.target" in after
    for line in ("SupplementaryGroups=audio", "DeviceAllow=char-alsa rw", "User=edge-tts"):
        assert line in unit
    assert not any(line.startswith(("PrivateDevices=yes", "PAMName=")) for line in unit)


def test_the_installer_explains_itself_and_refuses_what_it_does_not_know() -> None:
    script = str(ROOT / "scripts/install.sh")
    explained = subprocess.run([script, "--help"], check=False, capture_output=True, text=True)
    assert explained.returncode == 0
    assert "--uninstall" in explained.stdout
    refused = subprocess.run([script, "--frobnicate"], check=False, capture_output=True, text=True)
    assert refused.returncode == 2


@pytest.mark.system
@pytest.mark.voice
@pytest.mark.timeout(1200)
def test_a_booted_systemd_installs_runs_and_recovers(tmp_path: Path) -> None:
    wheels = os.environ.get("EDGE_TTS_TEST_WHEELS")
    tools = ("systemd-nspawn", "mmdebstrap")
    if os.geteuid() != 0 or not wheels or not all(map(shutil.which, tools)):
        pytest.skip("needs root, systemd-nspawn, mmdebstrap and EDGE_TTS_TEST_WHEELS")
    voices = next(folder for folder in paths.voices_dirs() if folder.is_dir())
    script = Path(__file__).parent / "systemd" / "boot.sh"
    work = os.environ.get("EDGE_TTS_TEST_ROOT", str(tmp_path))
    done = subprocess.run(
        [str(script), work, wheels, str(voices)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
