"""The two tiny lite voices of tests/voices/data, made by tests/build/make_lite_assets.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tiny_voices import expected_arrays, unpack_archives

NAMES = ("lite_flat", "lite_delay")
TEXT_IDS = np.arange(3, 20)
SEED, N_FRAMES = 5, 30
EVERY = 16


def unpack(root: Path) -> Path:
    """Put both voices into the voice store `root`."""
    return unpack_archives(NAMES, root)


def expected(name: str) -> tuple:
    """Codes [frames, codebooks], and every sixteenth sample, as torch computed them."""
    return expected_arrays("lite", name, ("codes", "sound"))
