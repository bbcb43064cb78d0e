"""The offline bundle's parts that need no network: choosing wheels, damage, checksums, copies."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def bundle():
    spec = importlib.util.spec_from_file_location(
        "make_offline_bundle", ROOT / "scripts/make_offline_bundle.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_pip_is_asked_for_the_target_and_not_for_this_machine(bundle):
    options = bundle.Target("aarch64", "3.8").pip_options()
    values = list(zip(options, options[1:]))
    assert ("--python-version", "3.8") in values
    assert ("--abi", "cp38") in values
    platforms = [value for option, value in values if option == "--platform"]
    assert "manylinux2014_aarch64" in platforms
    assert all(platform.endswith("_aarch64") for platform in platforms)


def test_numpy_is_held_back_on_jetpack_5_only(bundle):
    assert bundle.Target("aarch64", "3.8").constraints() == ["numpy<1.24"]
    assert bundle.Target("aarch64", "3.11").constraints() == []
    assert bundle.Target("x86_64", "3.8").constraints() == []


@pytest.mark.parametrize("python", ["3.8", "3.10"])
def test_the_board_asks_for_the_pycuda_that_is_in_its_bundle(bundle, python):
    wanted = bundle.Target("aarch64", python, is_jetson=True).pycuda()
    script = (ROOT / "scripts/provision_jetson.sh").read_text(encoding="utf-8")
    assert f"pycuda='{wanted}'" in script or f"pycuda={wanted}\n" in script


def test_a_cut_off_wheel_is_dropped_and_a_whole_one_kept(bundle, tmp_path):
    whole, cut = tmp_path / "a.whl", tmp_path / "b.whl"
    for path in (whole, cut):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/part.bin", b"sound" * 1000)
    cut.write_bytes(cut.read_bytes()[:2000])
    bundle.drop_damaged(tmp_path)
    assert list(tmp_path.iterdir()) == [whole]


def test_sha256sum_accepts_the_list_and_finds_a_changed_file(bundle, tmp_path):
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels/a b.whl").write_bytes(b"one")
    (tmp_path / "README.txt").write_bytes(b"two")
    (tmp_path / "SHA256SUMS").write_text("".join(bundle.checksums(tmp_path)), encoding="utf-8")
    command = ["sha256sum", "--quiet", "--check", "SHA256SUMS"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "wheels/a b.whl").write_bytes(b"six")
    changed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert changed.returncode == 1
    assert "wheels/a b.whl: FAILED" in changed.stdout


def test_the_checkout_in_the_bundle_can_run_its_installer(bundle, tmp_path):
    for _ in range(2):  # a second run replaces the first
        bundle.copy_checkout(bundle.INSTALLED_FROM_CHECKOUT, tmp_path / "checkout")
    command = ["bash", str(tmp_path / "checkout/scripts/install.sh"), "--help"]
    helped = subprocess.run(command, capture_output=True, text=True, check=False)
    assert helped.returncode == 0
    assert "--wheels DIR" in helped.stdout
    assert (tmp_path / "checkout/systemd/edge-tts.service").is_file()
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_damaged_voice_is_not_bundled(bundle, tmp_path):
    from edge_tts.errors import ModelError

    (tmp_path / "voice").mkdir()
    with pytest.raises(ModelError):
        bundle.copy_voice(tmp_path / "voice", tmp_path / "out")
    assert not (tmp_path / "out").exists()
