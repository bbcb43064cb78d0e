"""Joining the sounds of consecutive stretches of mel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.vocoder import Vocoder


@dataclass(frozen=True)
class Tail:
    """What the vocoder keeps of a chunk: its last mel frames, and their source and sound."""

    mel: "np.ndarray"
    source: "np.ndarray"
    samples: "np.ndarray"


class ChunkVocoder:
    """Renders consecutive stretches of mel so that their sounds join."""

    def __init__(
        self, vocoder: Vocoder, randomness: Randomness, n_kept_frames: int, *, like_official: bool
    ) -> None:
        self._vocoder = vocoder
        self._randomness = randomness
        self._n_kept_frames = n_kept_frames
        self._like_official = like_official
        self._tail: Optional[Tail] = None

    def render(self, mel: "np.ndarray", *, is_last: bool) -> "np.ndarray":
        """Sound of the next `mel` [1, 80, T]; unless `is_last`, its end is held back."""
        tail = self._tail
        if tail is not None:
            mel = np.concatenate([tail.mel, mel], axis=2)
        excitation = self._randomness.excitation(self._vocoder.n_samples(mel))
        sound = self._vocoder.render(mel, excitation, tail.source if tail else None)
        samples = sound.samples
        if tail is not None:
            samples = fade(samples, tail.samples, like_official=self._like_official)
        if is_last:
            return samples
        n_held = self._n_kept_frames * self._vocoder.samples_per_frame
        self._tail = Tail(
            mel[:, :, -self._n_kept_frames :], sound.source[:, :, -n_held:], samples[-n_held:]
        )
        head: np.ndarray = samples[:-n_held]
        return head


def fade(new: "np.ndarray", old: "np.ndarray", *, like_official: bool) -> "np.ndarray":
    """`new` with its beginning faded in over `old`, along the last axis."""
    n = old.shape[-1]
    window = np.hamming(2 * n)
    rising, falling = window[:n], window[n:]
    if not like_official:
        total = rising + falling
        rising, falling = rising / total, falling / total
    faded: np.ndarray = new.copy()
    faded[..., :n] = new[..., :n] * rising + old * falling
    return faded
