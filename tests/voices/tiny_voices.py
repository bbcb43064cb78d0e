"""Tiny voices of a family, kept as archives in tests/voices/data, and what torch made of them."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Sequence, Tuple

import numpy as np

DATA = Path(__file__).parent / "data"


def unpack_archives(names: Sequence[str], root: Path) -> Path:
    """Put voices into the voice store `root`."""
    for name in names:
        with tarfile.open(DATA / f"{name}.tar.xz") as archive:
            for member in archive.getmembers():
                target = root / member.name
                if member.isdir():
                    target.mkdir(parents=True)
                else:
                    target.write_bytes(archive.extractfile(member).read())
    return root


def expected_arrays(family: str, name: str, kinds: Sequence[str]) -> Tuple[np.ndarray, ...]:
    """Arrays that torch computed for a voice, by kind."""
    with np.load(DATA / f"{family}_expected.npz") as arrays:
        return tuple(arrays[f"{name}.{kind}"] for kind in kinds)
