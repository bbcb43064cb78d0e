"""The two tiny CosyVoice voices of tests/voices/data, made by tests/build/make_cosyvoice_assets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tiny_voices import expected_arrays, unpack_archives

NAMES = ("cosyvoice1", "cosyvoice2")
TEXT_IDS = np.arange(40, 52)
SEED = 5
EVERY = 16


def unpack(root: Path) -> Path:
    """Put both voices into the voice store `root`."""
    return unpack_archives(NAMES, root)


def expected(name: str) -> tuple:
    """Speech tokens, and every sixteenth sample of the sound, as torch computed them."""
    return expected_arrays("cosyvoice", name, ("tokens", "sound"))
