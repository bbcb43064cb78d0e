"""The two tiny lite voices of tests/voices/data, made by tests/build/make_lite_assets.py."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
NAMES = ("lite_flat", "lite_delay")
TEXT_IDS = np.arange(3, 20)
SEED, N_FRAMES = 5, 30
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
    """Codes [frames, codebooks], and every sixteenth sample, as torch computed them."""
    with np.load(DATA / "lite_expected.npz") as arrays:
        return arrays[f"{name}.codes"], arrays[f"{name}.sound"]
