"""Putting voices on disk and taking them off, so that a voice is there whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Callable, Iterator, Optional

from edge_tts.errors import InputError, ModelError
from edge_tts.voices import manifest as manifests
from edge_tts.voices.manifest import Manifest, VoiceDirectory

Report = Callable[[str], None]

INSTALLABLE = ("kokoro",)


def install(name: str, root: Path, source: Optional[Path], report: Report) -> VoiceDirectory:
    """Fetch or read the voice `name`, prepare it and put it into `root`.

    `source` replaces the download: a model file, or a folder of its packages. `report` gets one
    line per step. Raises InputError for a voice that cannot be installed, and ModelError,
    EngineError otherwise; a voice already there stays until the new one is complete.
    """
    if name not in INSTALLABLE:
        raise InputError(
            f"there is no voice {name!r} to install; known: {', '.join(INSTALLABLE)}",
            code="input.unknown_voice",
        )
    with writing(root):
        downloads = root / f".{name}.packages"
        _sweep(root, name, keep=downloads)
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=str(root)) as temporary:
            work = Path(temporary)
            new = work / name
            new.mkdir(mode=0o755)
            manifest = _prepare(source, downloads, work / "model.onnx", new, report)
            seal(new, manifest)
            _swap(new, root / name, work / "previous")
        shutil.rmtree(downloads, ignore_errors=True)
    report(f"installed {name} in {root / name}")
    return VoiceDirectory.read(root / name)


def remove(directory: VoiceDirectory) -> None:
    """Delete a voice. It stops being found before its files go."""
    path = directory.path
    with writing(path.parent):
        grave = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=str(path.parent)))
        path.rename(grave / path.name)
        shutil.rmtree(grave)


def _sweep(root: Path, name: str, keep: Path) -> None:
    """Delete what an installation left that was cut off by a power failure."""
    for path in root.glob(f".{name}.*"):
        if path != keep:
            shutil.rmtree(path)


def _prepare(
    source: Optional[Path], downloads: Path, joined: Path, target: Path, report: Report
) -> Manifest:
    from edge_tts.build.kokoro import fetch, prepare

    if source is not None:
        model = fetch.from_path(source, joined, report)
    else:
        downloads.mkdir(exist_ok=True)
        try:
            model = fetch.join(fetch.download(downloads, report), joined, report)
        except ModelError as error:
            if error.code == "model.source_wrong":
                shutil.rmtree(downloads)  # do not offer the damaged packages again
            raise
    return prepare.prepare(model, target, report)


def seal(directory: Path, manifest: Manifest) -> None:
    """Write the manifest last and force everything to the disk."""
    text = manifests.render(manifest)
    (directory / manifests.FILE_NAME).write_text(text, encoding="utf-8")
    for path in directory.iterdir():
        path.chmod(0o644)
        sync(path)
    sync(directory)


def _swap(new: Path, target: Path, previous: Path) -> None:
    if target.exists():
        target.rename(previous)
    new.rename(target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Force a file or a folder's list of names to the disk."""
    descriptor = os.open(str(path), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def writing(root: Path) -> Iterator[None]:
    """Hold the lock of a voice store; disk errors become a ModelError that names it."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with (root / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ModelError(
                    f"another process is changing the voices in {root}; try again when it is done",
                    code="model.busy",
                ) from error
            yield
    except OSError as error:
        raise ModelError(
            f"cannot write voices to {error.filename or root}: {error.strerror}; "
            "free space, or choose another place with EDGE_TTS_VOICES_DIR",
            code="model.unwritable",
        ) from error
