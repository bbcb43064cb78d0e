#!/usr/bin/env python3
"""Collect what a machine without a network needs: wheels, the default voice and an installer.

usage: scripts/make_offline_bundle.py --machine aarch64 --python 3.8 --out DIR [--jetson]

Runs on a machine with a network, of any processor. May be interrupted and run again: files that
are there and whole are kept. `SHA256SUMS` is written last, so a folder without it is unfinished.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional, Sequence

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from edge_tts.build.kokoro import fetch  # noqa: E402
from edge_tts.errors import EdgeTTSError  # noqa: E402
from edge_tts.voices import catalog  # noqa: E402
from edge_tts.voices.manifest import VoiceDirectory  # noqa: E402

VOICE = "kokoro"
SUMS = "SHA256SUMS"
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
MACHINES = ("aarch64", "x86_64")
INSTALLED_FROM_CHECKOUT = ("scripts", "systemd", "docs", "edge_tts", "setup.py")
BUILT_FROM = ("edge_tts", "engines", "setup.py", "pyproject.toml", "MANIFEST.in", "README.md",
              "LICENSE", "NOTICE")  # fmt: skip
_GLIBC_MINORS = (28, 27, 17)
PYCUDA_NEEDS = ("pytools", "platformdirs", "mako")
_BLOCK_BYTES = 1 << 20

INSTALLER = """#!/usr/bin/env bash
# Checks this folder, then installs from it without a network. Takes scripts/install.sh's options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
sha256sum --quiet --check SHA256SUMS
exec checkout/scripts/install.sh --wheels "$PWD/wheels" --voices "$PWD/voices" "$@"
"""

README = """edge_tts for {machine}, CPython {python}, without a network

    sudo EDGE_TTS_PYTHON=python{python} ./install.sh

checks every file against SHA256SUMS and installs the program, the default voice and the service.
The system library libportaudio2 and Python's venv module must be on the machine already.
voices/ was prepared elsewhere; to prepare it on this processor instead, leave --voices out:

    sudo checkout/scripts/install.sh --wheels "$PWD/wheels"
"""


@dataclass(frozen=True)
class Target:
    """The machine the bundle is for."""

    machine: str
    python: str
    is_jetson: bool = False

    def pip_options(self) -> List[str]:
        """What makes pip choose wheels for this machine instead of the one it runs on."""
        tag = "cp" + self.python.replace(".", "")
        options = ["--only-binary=:all:", "--python-version", self.python]
        options += ["--implementation", "cp", "--abi", tag, "--abi", "abi3", "--abi", "none"]
        platforms = [f"manylinux_2_{minor}_{self.machine}" for minor in _GLIBC_MINORS]
        for platform in [*platforms, f"manylinux2014_{self.machine}"]:
            options += ["--platform", platform]
        return options

    @property
    def _is_jetpack5(self) -> bool:
        return (self.machine, self.python) == ("aarch64", "3.8")

    def constraints(self) -> List[str]:
        """JetPack 5's TensorRT 8.5 uses `np.bool`, which numpy 1.24 took away."""
        return ["numpy<1.24"] if self._is_jetpack5 else []

    def pycuda(self) -> str:
        """The requirement scripts/provision_jetson.sh installs; known to work with JetPack 5."""
        return "pycuda<=2024.1.2" if self._is_jetpack5 else "pycuda"


def make(target: Target, out: Path, voice: Optional[Path]) -> None:
    """Write the bundle into `out`. Raises ModelError and subprocess.CalledProcessError."""
    wheels = out / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    if (out / SUMS).exists():
        (out / SUMS).unlink()
    drop_damaged(wheels)
    collect_wheels(target, wheels)
    if target.is_jetson:
        collect_pycuda(target, wheels)
    fetch.download(wheels, report)
    copy_voice(voice, out / "voices" / VOICE)
    copy_checkout(INSTALLED_FROM_CHECKOUT, out / "checkout")
    write_texts(target, out)
    sums = checksums(out)
    (out / SUMS).write_text("".join(sums), encoding="utf-8")
    report(f"{out}: {len(sums)} files for {target.machine}, Python {target.python}")


def drop_damaged(wheels: Path) -> None:
    """Delete wheels that an interruption cut off."""
    for path in wheels.glob("*.whl"):
        if not is_whole(path):
            report(f"{path.name} is damaged; fetching it again")
            path.unlink()


def is_whole(wheel: Path) -> bool:
    """Whether every member of a wheel matches its checksum."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, OSError):
        return False


def collect_wheels(target: Target, wheels: Path) -> None:
    """Build the project's wheel, and fetch what it needs in the newest versions that fit."""
    for old in wheels.glob("edge_tts_device-*.whl"):
        old.unlink()
    report("building the project's wheel")
    # From a copy: a checkout's build/ may hold modules that are gone, and they would come along.
    with tempfile.TemporaryDirectory(prefix="wheel.") as copy:
        copy_checkout(BUILT_FROM, Path(copy))
        pip("wheel", "--no-deps", "--wheel-dir", str(wheels), copy)
    project = next(wheels.glob("edge_tts_device-*.whl"))
    report(f"fetching wheels for {target.machine}, Python {target.python}")
    needed = [str(project), "pip", "setuptools", "wheel", *target.constraints()]
    pip("download", "--dest", str(wheels), *target.pip_options(), *needed)


def collect_pycuda(target: Target, wheels: Path) -> None:
    """Fetch pycuda's source, as there are no wheels for Jetson boards, and what it imports."""
    for old in wheels.glob("pycuda-*.tar.gz"):
        old.unlink()
    report("fetching pycuda's source")
    options = ["--no-deps", "--no-binary=pycuda", "--no-build-isolation"]
    pip("download", "--dest", str(wheels), *options, target.pycuda())
    pip("download", "--dest", str(wheels), *target.pip_options(), *PYCUDA_NEEDS)


def pip(*arguments: str) -> None:
    """Run pip quietly; its errors reach stderr."""
    command = [sys.executable, "-m", "pip", arguments[0], "--quiet", *arguments[1:]]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def copy_voice(source: Optional[Path], target: Path) -> None:
    """Copy a prepared voice whose every file matches its manifest. Raises ModelError."""
    directory = catalog.find(VOICE) if source is None else VoiceDirectory.read(source)
    for fault in directory.faults():
        raise fault
    report(f"copying the voice in {directory.path}")
    replace_tree(directory.path, target)


def copy_checkout(names: Sequence[str], target: Path) -> None:
    """Copy files and folders of this checkout."""
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        source = ROOT / name
        if source.is_dir():
            replace_tree(source, target / name)
        else:
            shutil.copy(str(source), str(target / name))


def replace_tree(source: Path, target: Path) -> None:
    """Copy a folder over whatever lies in its place."""
    shutil.rmtree(str(target), ignore_errors=True)
    shutil.copytree(str(source), str(target), ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))


def write_texts(target: Target, out: Path) -> None:
    """Write the installer and the README."""
    (out / "install.sh").write_text(INSTALLER, encoding="utf-8")
    (out / "install.sh").chmod(0o755)
    text = README.format(machine=target.machine, python=target.python)
    (out / "README.txt").write_text(text, encoding="utf-8")


def checksums(out: Path) -> List[str]:
    """Lines for `sha256sum --check`, over every file of the bundle."""
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != SUMS)
    return [f"{sha256(path)}  {path.relative_to(out).as_posix()}\n" for path in files]


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for block in iter(lambda: stream.read(_BLOCK_BYTES), b""):
            digest.update(block)
    return digest.hexdigest()


def report(line: str) -> None:
    """Say what is being done, on stderr."""
    print(f"==> {line}", file=sys.stderr, flush=True)


def main(arguments: Optional[List[str]] = None) -> int:
    """Command line; 1 when something could not be fetched or is damaged."""
    parser = argparse.ArgumentParser(description="Make a bundle to install without a network.")
    parser.add_argument("--machine", choices=MACHINES, required=True)
    parser.add_argument("--python", choices=PYTHONS, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--jetson", action="store_true", help="add the source of pycuda")
    parser.add_argument("--voice", type=Path, metavar="DIR", help="instead of the installed voice")
    options = parser.parse_args(arguments)
    try:
        make(Target(options.machine, options.python, options.jetson), options.out, options.voice)
    except EdgeTTSError as error:
        print(f"make_offline_bundle: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"make_offline_bundle: pip failed ({error.returncode})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
