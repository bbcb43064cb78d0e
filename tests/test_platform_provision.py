"""`scripts/provision_jetson.sh --dry-run` on files laid out as on a board; nothing is changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts/provision_jetson.sh"
MEMINFO = "MemAvailable: {kib} kB\nSwapFree: 0 kB\n"


@pytest.fixture
def board(tmp_path):
    """The files of a Xavier NX with JetPack 5 that the script reads."""
    files = {
        "etc/nv_tegra_release": b"# R35 (release), REVISION: 4.1, EABI: aarch64\n",
        "proc/device-tree/model": b"NVIDIA Jetson Xavier NX Developer Kit\0",
        "proc/meminfo": MEMINFO.format(kib=7_000_000).encode(),
        "usr/lib/python3.8/dist-packages/tensorrt/__init__.py": b"",
        "var/lib/nvpmodel/status": b"pmode:0008\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path


def provision(*arguments: str) -> subprocess.CompletedProcess:
    command = ["bash", str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_jetpack_5_gets_an_old_numpy_and_engines_for_its_board(board):
    done = provision("--dry-run", "--root", str(board), "--bundle", "/media/stick")
    assert done.returncode == 0, done.stderr
    assert "numpy>=1.22,<1.24" in done.stdout
    assert "--find-links /media/stick/wheels --no-build-isolation pycuda<=2024.1.2" in done.stdout
    assert "build kokoro --platform xavier-nx --source /media/stick/wheels" in done.stdout
    assert "--wheels /media/stick/wheels --voices /media/stick/voices" in done.stdout


def test_jetpack_6_keeps_its_numpy(board):
    (board / "etc/nv_tegra_release").write_text("# R36 (release), REVISION: 4.0\n")
    (board / "proc/device-tree/model").write_text("NVIDIA Jetson Orin Nano")
    done = provision("--dry-run", "--root", str(board))
    assert done.returncode == 0, done.stderr
    assert "numpy" not in done.stdout
    assert "--platform orin" in done.stdout


@pytest.mark.parametrize("release", ["# R32 (release), REVISION: 7.1\n", None])
def test_an_unfit_board_is_refused_before_anything_is_done(board, release):
    path = board / "etc/nv_tegra_release"
    path.unlink() if release is None else path.write_text(release)
    done = provision("--dry-run", "--root", str(board))
    assert done.returncode == 1
    assert "FAULT" in done.stdout
    assert "would run" not in done.stdout


def test_missing_tensorrt_is_named_with_its_package(board):
    (board / "usr/lib/python3.8/dist-packages/tensorrt/__init__.py").unlink()
    (board / "usr/lib/python3.8/dist-packages/tensorrt").rmdir()
    done = provision("--dry-run", "--root", str(board))
    assert done.returncode == 1
    assert "apt-get install -y python3-libnvinfer" in done.stdout


def test_little_memory_is_advice_and_no_fault(board):
    (board / "proc/meminfo").write_text(MEMINFO.format(kib=2_000_000))
    done = provision("--dry-run", "--root", str(board))
    assert done.returncode == 0, done.stderr
    assert "advice  1953 MiB" in done.stdout


def test_another_root_is_never_written_to(board):
    done = provision("--root", str(board))
    assert done.returncode == 1
    assert "--dry-run" in done.stderr
