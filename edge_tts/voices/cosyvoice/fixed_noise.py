"""CosyVoice 2's starting noise: one buffer, the same for every utterance.

The official code draws it from torch's generator with seed 0 when a model is made; it is not in the
checkpoint. Torch fills large normal buffers sixteen values at a time from the Mersenne twister by
Box and Muller's method, which is repeated here, so that no torch is needed.
"""

from __future__ import annotations

import numpy as np

from edge_tts.voices.cosyvoice.settings import MEL_BANDS

MAX_FRAMES = 15_000
_GROUP = 8


def fixed_noise() -> "np.ndarray":
    """Standard normal float32 [1, 80, 15000]: 300 s at 50 frames per second."""
    n_values = MEL_BANDS * MAX_FRAMES
    words = np.random.RandomState(0).randint(0, 2**32, size=n_values, dtype=np.uint64)
    bits: np.ndarray = (words & 0xFFFFFF).astype(np.float32)
    uniform = (bits * np.float32(2.0**-24)).reshape(-1, 2, _GROUP)
    radius = np.sqrt(-2 * np.log(1 - uniform[:, 0]))
    angle = np.float32(2 * np.pi) * uniform[:, 1]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    noise: np.ndarray = pairs.astype(np.float32).reshape(1, MEL_BANDS, MAX_FRAMES)
    return noise
