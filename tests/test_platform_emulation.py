"""The tests in emulated roots say why they are skipped; scripts/test.sh runs what they test."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
EMULATED = ("test_aarch64.sh", "test_dockerfile.sh")
NOBODY = 65534


@pytest.fixture
def anyones_folder():
    """pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield folder


@pytest.mark.parametrize("name", EMULATED)
@pytest.mark.parametrize(("option", "code"), [("--help", 0), ("--nonsense", 2)])
def test_how_to_use_it_is_printed(name, option, code):
    command = ["bash", str(SCRIPTS / name), option]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert f"usage: scripts/{name}" in done.stdout + done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("name", EMULATED)
@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)])
def test_without_root_it_is_skipped_unless_it_is_required(name, required, code, anyones_folder):
    become = ["setpriv", f"--reuid={NOBODY}", "--clear-groups"]
    done = subprocess.run(
        [*become, "bash", str(SCRIPTS / name), "--work", anyones_folder],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "EDGE_TTS_REQUIRE_AARCH64": required},
    )
    assert done.returncode == code, done.stderr
    assert "SKIPPED: not root" in done.stderr
