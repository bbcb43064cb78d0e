"""Cut a stream of pieces into blocks of one fixed length.

Everything behind a `Blocks` sees the same blocks however the voice cut its pieces, so the samples
that come out cannot depend on where a piece happened to end.
"""

from __future__ import annotations

from typing import Iterator

import numpy as np

from edge_tts.errors import AudioError


class Blocks:
    """Collects mono float32 pieces and hands them on as blocks of `block_len` samples."""

    def __init__(self, block_len: int) -> None:
        self._block = np.zeros(block_len, dtype=np.float32)
        self._filled = 0

    def push(self, piece: np.ndarray) -> Iterator[np.ndarray]:
        """Yield every block that `piece` completes."""
        rest = checked_piece(piece)
        while len(rest):
            taken = min(len(rest), len(self._block) - self._filled)
            self._block[self._filled : self._filled + taken] = rest[:taken]
            self._filled += taken
            rest = rest[taken:]
            if self._filled == len(self._block):
                self._filled = 0
                yield self._block.copy()

    def rest(self) -> np.ndarray:
        """The samples that did not fill a block; empties the store."""
        rest = self._block[: self._filled].copy()
        self._filled = 0
        return rest


def checked_piece(piece: np.ndarray) -> np.ndarray:
    """`piece` as float32, or AudioError `audio.not_finite` where it is not mono finite sound."""
    samples = np.asarray(piece, dtype=np.float32)
    if samples.ndim != 1:
        raise AudioError(
            f"a voice yielded an array of shape {samples.shape}; pieces must be one-dimensional",
            code="audio.not_finite",
        )
    if not np.isfinite(samples).all():
        raise AudioError(
            "a voice yielded samples that are not numbers; verify the voice with "
            "'edge-tts voices verify'",
            code="audio.not_finite",
        )
    return samples
