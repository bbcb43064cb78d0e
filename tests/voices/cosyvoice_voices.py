"""The two tiny CosyVoice voices of tests/voices/data, made by tests/build/make_cosyvoice_assets."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
NAMES = ("cosyvoice1", "cosyvoice2")
TEXT_IDS = np.arange(40, 52)
SEED = 5
EVERY = 16


def unpack(root: Path) -> Path:
    """Put both voices into the voice store `root`."""
    for name in NAMES:
        with tarfile.open(DATA / f"{name}.tar.xz") as archive:
            for member in archive.getmembers():
                target = root / member.name
                if member.isdir():
                    target.mkdir(parents=True)
                else:
                    target.write_bytes(archive.extractfile(member).read())
    return root


def expected(name: str) -> tuple:
    """Speech tokens, and every sixteenth sample of the sound, as torch computed them."""
    with np.load(DATA / "cosyvoice_expected.npz") as arrays:
        return arrays[f"{name}.tokens"], arrays[f"{name}.sound"]
