"""CosyVoice 1's way from token rate to mel rate: linear interpolation in up to four pieces."""

from __future__ import annotations

from typing import List, NamedTuple

import numpy as np

EDGE_TOKENS = 20
"""Tokens at either end that are stretched apart from the middle, so that streamed chunks join."""


class Map(NamedTuple):
    """Frame t is `x[left[t]] * (1 - share[t]) + x[right[t]] * share[t]`: int32, int32, float32."""

    left: "np.ndarray"
    right: "np.ndarray"
    share: "np.ndarray"


def stretch(
    n_prompt: int, n_tokens: int, prompt_frames: int, token_rate_hz: int, frame_rate_hz: float
) -> Map:
    """The map for `n_prompt` tokens of `prompt_frames`, then `n_tokens` of their natural length."""
    n_frames = int(n_tokens / token_rate_hz * frame_rate_hz)
    pieces: List[Map] = []
    if n_prompt:
        pieces.append(_piece(0, n_prompt, prompt_frames))
    if n_tokens > 2 * EDGE_TOKENS:
        edge = int(EDGE_TOKENS / token_rate_hz * frame_rate_hz)
        last = n_prompt + n_tokens - EDGE_TOKENS
        pieces += [
            _piece(n_prompt, EDGE_TOKENS, edge),
            _piece(n_prompt + EDGE_TOKENS, n_tokens - 2 * EDGE_TOKENS, n_frames - 2 * edge),
            _piece(last, EDGE_TOKENS, edge),
        ]
    else:
        pieces.append(_piece(n_prompt, n_tokens, n_frames))
    return Map(*(np.concatenate(parts) for parts in zip(*pieces)))


def resize(values: "np.ndarray", n_frames: int) -> "np.ndarray":
    """Interpolate the last axis of `values` to `n_frames`, float32."""
    map_ = _piece(0, values.shape[-1], n_frames)
    resized: np.ndarray = values[..., map_.left] * (1 - map_.share)
    resized += values[..., map_.right] * map_.share
    return resized


def _piece(start: int, n: int, n_frames: int) -> Map:
    """Half-pixel interpolation of tokens `start` … to `n_frames`, clamped at both ends."""
    scale = np.float32(n / n_frames) if n_frames else np.float32(0)
    wanted = scale * (np.arange(n_frames, dtype=np.float32) + np.float32(0.5)) - np.float32(0.5)
    wanted = np.maximum(wanted, np.float32(0))
    left = np.minimum(wanted.astype(np.int32), n - 1)
    right = np.minimum(left + 1, n - 1)
    return Map(start + left, start + right, (wanted - left).astype(np.float32))
