"""The distribution: metadata, what is in it, and which Pythons and licences it allows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib import import_module, metadata
from pathlib import Path
from pkgutil import walk_packages

import pytest

import edge_tts

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTION = "edge-tts-device"

# Newest releases with wheels for CPython 3.8 on aarch64, found with:
#   pip download --only-binary=:all: --python-version 3.8 --platform manylinux_2_28_aarch64
#     --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 REQUIREMENT...
NEWEST_FOR_PYTHON38 = {
    "numpy": (1, 24, 4),
    "onnxruntime": (1, 19, 2),
    "onnx": (1, 17, 0),
    "sounddevice": (0, 5, 6),
    "PyYAML": (6, 0, 3),
    "psutil": (7, 2, 2),
}


def requirements(extra: str = "") -> dict:
    """Name → (version specifier, marker) of the run-time or one extra's requirements."""
    found = {}
    for line in metadata.requires(DISTRIBUTION) or []:
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        match = re.match(r"([\w.-]+)(?:\[[^]]*\])?\s*(.*)", requirement)
        of_extra = re.search(r'extra == ["\']([\w-]+)["\']', marker)
        if (of_extra.group(1) if of_extra else "") == extra:
            found[match.group(1)] = (match.group(2), marker)
    return found


def test_version_has_one_home():
    assert metadata.version(DISTRIBUTION) == edge_tts.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changelog


def test_metadata():
    about = metadata.metadata(DISTRIBUTION)
    assert about["Requires-Python"] == ">=3.8"
    assert "Apache-2.0" in (about.get("License") or about.get("License-Expression"))
    entry_points = metadata.distribution(DISTRIBUTION).entry_points
    scripts = {point.name: point.value for point in entry_points}
    assert scripts == {"edge-tts": "edge_tts.cli.entry:main"}


def test_run_time_requirements_have_wheels_for_python38_on_aarch64():
    found = requirements()
    assert found.keys() == NEWEST_FOR_PYTHON38.keys()
    for name, (specifier, marker) in found.items():
        assert marker == ""
        lower = re.fullmatch(r">=([\d.]+)", specifier)
        assert lower, f"{name} needs one lower bound and nothing else, not {specifier!r}"
        assert tuple(map(int, lower.group(1).split("."))) <= NEWEST_FOR_PYTHON38[name]


def test_torch_is_only_in_the_build_extra():
    extras = metadata.metadata(DISTRIBUTION).get_all("Provides-Extra")
    known = {"bench", "build", "dev", "encode", "http", "jetson", "lite", "test", "train"}
    assert set(extras) == known
    assert [extra for extra in ["", *extras] if "torch" in requirements(extra)] == ["build"]


@pytest.mark.parametrize("name", sorted(NEWEST_FOR_PYTHON38))
def test_run_time_licences_are_permissive(name):
    about = metadata.metadata(name)
    words = " ".join(
        [
            about.get("License-Expression") or "",
            about.get("License") or "",
            *(line for line in about.get_all("Classifier") or [] if line.startswith("License")),
        ]
    )
    assert re.search(r"MIT|BSD|Apache", words), words
    assert not re.search(r"\b[AL]?GPL\b", words.split("\n")[0]), words


def test_every_module_outside_the_build_room_imports():
    failed = []
    for module in walk_packages(edge_tts.__path__, "edge_tts."):
        if module.name.startswith("edge_tts.build.") or module.name == "edge_tts.__main__":
            continue
        try:
            import_module(module.name)
        except ImportError as error:
            if error.name == "pycuda":  # the extra `jetson`; the module is imported with it only
                continue
            failed.append(f"{module.name}: {error}")
    assert failed == []


def test_the_wheel_holds_every_module_and_data_file(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    # A copy: building in place leaves build/ and egg-info behind in the checkout.
    copy = tmp_path / "source"
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False
    ).stdout
    if not tracked:
        pytest.skip("not a git checkout")
    for name in filter(None, tracked.decode("utf-8").split("\0")):
        source, target = ROOT / name, copy / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    done = subprocess.run(
        [*build, "--wheel-dir", str(tmp_path), str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(copy).as_posix()
        for path in (copy / "edge_tts").rglob("*")
        if path.is_file()
    }
    assert wanted <= packed, sorted(wanted - packed)
    assert not [name for name in packed if name.startswith(("tests/", "bench/", "scripts/"))]
    assert any(name.endswith("NOTICE") for name in packed)


def test_onnx_runtime_keeps_no_record_of_its_use(tmp_path):
    """Since 1.29 it puts a device id and a queue of events to be sent into the home folder."""
    # Without what disables it for other reasons: CI, or a variable set by this process.
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment.update(HOME=str(tmp_path), TMPDIR=str(tmp_path), PYTHONPATH=str(ROOT))
    code = (
        "import edge_tts, onnxruntime; from onnxruntime.datasets import get_example; "
        "onnxruntime.InferenceSession(get_example('sigmoid.onnx'), "
        "providers=['CPUExecutionProvider'])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_licence_is_the_full_apache_text():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "9. Accepting Warranty or Additional Liability" in text
