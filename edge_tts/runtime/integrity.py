"""Is a file what its manifest says, and if not, what is it?"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Optional

from edge_tts.errors import ModelError

_BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 512
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def sha256_of(path: Path) -> str:
    """Hex digest of a file, read in blocks so that nothing stays in memory."""
    digest = hashlib.sha256()
    block = bytearray(_BLOCK_BYTES)
    view = memoryview(block)
    with path.open("rb", buffering=0) as file:
        while True:
            n_bytes = file.readinto(block)
            if not n_bytes:
                return digest.hexdigest()
            digest.update(view[:n_bytes])


def check_file(path: Path, size_bytes: int, sha256: str, *, remedy: str) -> None:
    """Raise a ModelError that names the file and the cause unless it has these contents."""
    check_size(path, size_bytes, remedy=remedy)
    if sha256_of(path) != sha256:
        raise ModelError(
            f"{path} is damaged or another file (its sha256 differs); {remedy}",
            code="model.file_damaged",
        )


def check_size(path: Path, size_bytes: int, *, remedy: str) -> None:
    """The part of `check_file` that does not read the whole file."""
    check_safe(path)
    impostor = what_instead_of_a_model(path)
    if impostor:
        raise ModelError(f"{path} is {impostor}; {remedy}", code="model.not_a_model")
    actual = path.stat().st_size
    if actual != size_bytes:
        raise ModelError(
            f"{path} has {actual} bytes instead of {size_bytes}; {remedy}",
            code="model.file_truncated",
        )


def check_safe(path: Path) -> None:
    """Raise ModelError for a missing file, a link, or one that others could swap under root."""
    try:
        status = path.lstat()
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror}; install the voice again",
            code="model.file_missing",
        ) from error
    if not stat.S_ISREG(status.st_mode):
        raise ModelError(
            f"{path} is not a plain file; install the voice again", code="model.unsafe_file"
        )
    if os.geteuid() == 0 and status.st_mode & stat.S_IWOTH:
        raise ModelError(
            f"{path} can be written by every user and is not loaded as root; run: chmod o-w {path}",
            code="model.unsafe_file",
        )


def what_instead_of_a_model(path: Path) -> Optional[str]:
    """Name the kinds of file that failed downloads leave behind; None for anything else."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(_LFS_POINTER):
        return "a Git LFS pointer, not the file it points to"
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html", b"<?xml")):
        return "a web page, not a model file"
    return None
