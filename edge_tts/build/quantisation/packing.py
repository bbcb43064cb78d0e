"""Weights as whole numbers and scales."""

from __future__ import annotations

from typing import Tuple

import numpy as np

from edge_tts.build.quantisation.kinds import BLOCK

_SMALLEST = 1e-12


def per_column(weight: "np.ndarray") -> Tuple["np.ndarray", "np.ndarray"]:
    """[inputs, outputs] as int8 of that shape and scales float32 [outputs], symmetric."""
    scale = np.maximum(np.abs(weight).max(axis=0), _SMALLEST) / 127
    whole = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
    return whole, scale.astype(np.float32)


def in_blocks(weight: "np.ndarray", bits: int) -> Tuple["np.ndarray", "np.ndarray"]:
    """[inputs, outputs] as uint8 [outputs, blocks, 32 · bits / 8] and scales [outputs · blocks].

    A value is (level - middle) · scale with levels 0 to 2^bits - 1 and middle 2^(bits - 1); of two
    4-bit levels in a byte the earlier is in the low bits. The layout is that of ONNX Runtime's
    MatMulNBits without zero points.
    """
    blocks = _blocks(weight)
    middle = 1 << (bits - 1)
    # The value of largest magnitude becomes level 0, the only one `middle` steps from the middle.
    at = np.abs(blocks).argmax(axis=2)[:, :, None]
    scale = np.take_along_axis(blocks, at, axis=2) / -middle
    levels = np.rint(blocks / np.where(scale == 0, 1, scale)) + middle
    levels = np.clip(levels, 0, 2 * middle - 1).astype(np.uint8)
    if bits == 4:
        levels = levels[:, :, 0::2] | (levels[:, :, 1::2] << 4)
    return levels, scale.astype(np.float32).ravel()


def _blocks(weight: "np.ndarray") -> "np.ndarray":
    """[outputs, blocks, 32], the last block filled up with zeros."""
    n_inputs, n_outputs = weight.shape
    n_blocks = -(-n_inputs // BLOCK)
    padded: np.ndarray = np.zeros((n_outputs, n_blocks * BLOCK), np.float32)
    padded[:, :n_inputs] = weight.T
    return padded.reshape(n_outputs, n_blocks, BLOCK)
