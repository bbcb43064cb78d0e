"""Sound to codes without a network: residual vector quantisation of log-mel frames.

EnCodec learns its encoder, which takes more speech and time than there is here. A voice needs only
the other half, so the codes are made by k-means over log-mel spectra, and EnCodec's decoder is
trained to turn their vectors into sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import List

import numpy as np

from edge_tts.build.fast_voice.losses import mel_filters
from edge_tts.build.lite_voice.teacher import SAMPLES_PER_FRAME

N_CODEBOOKS = 4
CODEBOOK_SIZE = 256
LATENT = 64

N_FFT = 1024
_HOP = 300
_FLOOR = 1e-3
_ROUNDS = 15
_MAX_FIT_FRAMES = 60_000


def log_mel_frames(audio: "np.ndarray") -> "np.ndarray":
    """[samples] → float32 [frames, 160], two log-mel spectra of 80 Hz per frame of 40 Hz."""
    n_frames = len(audio) // SAMPLES_PER_FRAME
    n_hops = n_frames * SAMPLES_PER_FRAME // _HOP
    # Centred on the hop it describes.
    margin = (N_FFT - _HOP) // 2
    padded = np.pad(audio.astype(np.float32), (margin, N_FFT))
    windows = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::_HOP][:n_hops]
    magnitudes = np.abs(np.fft.rfft(windows * np.hanning(N_FFT), axis=1))
    mel = np.log(np.maximum(magnitudes @ mel_filters(N_FFT), _FLOOR))
    frames: np.ndarray = mel.reshape(n_frames, -1).astype(np.float32)
    return frames


@dataclass(frozen=True)
class Quantiser:
    """`mean` [160] and `basis` [160, latent] to latents, `codebooks` [codebooks, size, latent]."""

    mean: "np.ndarray"
    basis: "np.ndarray"
    codebooks: "np.ndarray"

    @classmethod
    def fit(cls, frames: "np.ndarray", seed: int = 0) -> "Quantiser":
        """Principal components of the frames, then one k-means per codebook on what is left."""
        rng = np.random.default_rng(seed)
        frames = frames[rng.permutation(len(frames))[:_MAX_FIT_FRAMES]]
        mean = frames.mean(axis=0)
        _, spreads, directions = np.linalg.svd(frames - mean, full_matrices=False)
        # One scale for all directions keeps distances those of the log-mel spectrum.
        basis = directions[:LATENT].T * np.sqrt(len(frames)) / spreads[0]
        left = (frames - mean) @ basis
        codebooks: List[np.ndarray] = []
        for _ in range(N_CODEBOOKS):
            codebook = _k_means(left, rng)
            codebooks.append(codebook)
            left = left - codebook[nearest(left, codebook)]
        return cls(mean, basis.astype(np.float32), np.stack(codebooks).astype(np.float32))

    @classmethod
    def read(cls, path: Path) -> "Quantiser":
        """What `write` has saved."""
        with np.load(path) as saved:
            return cls(saved["mean"], saved["basis"], saved["codebooks"])

    def write(self, path: Path) -> None:
        """Save as `.npz`."""
        np.savez(path, mean=self.mean, basis=self.basis, codebooks=self.codebooks)

    def encode(self, audio: "np.ndarray") -> "np.ndarray":
        """Codes int64 [frames, codebooks] of sound at 24 kHz."""
        left = (log_mel_frames(audio) - self.mean) @ self.basis
        codes = []
        for codebook in self.codebooks:
            codes.append(nearest(left, codebook))
            left = left - codebook[codes[-1]]
        return np.stack(codes, axis=1)

    def latents(self, codes: "np.ndarray") -> "np.ndarray":
        """What the decoder is given: codes [frames, codebooks] to float32 [frames, latent]."""
        vectors = [codebook[codes[:, k]] for k, codebook in enumerate(self.codebooks)]
        summed: np.ndarray = np.sum(vectors, axis=0)
        return summed


def nearest(points: "np.ndarray", codebook: "np.ndarray") -> "np.ndarray":
    """Index of the codebook's vector nearest to each point, int64 [points]."""
    found: np.ndarray = ((codebook**2).sum(axis=1) - 2 * points @ codebook.T).argmin(axis=1)
    return found


def _k_means(points: "np.ndarray", rng: "np.random.Generator") -> "np.ndarray":
    centres = points[rng.choice(len(points), CODEBOOK_SIZE, replace=False)]
    for _ in range(_ROUNDS):
        chosen = nearest(points, centres)
        sums = np.zeros_like(centres)
        np.add.at(sums, chosen, points)
        counts = np.bincount(chosen, minlength=CODEBOOK_SIZE)
        # A centre that nothing is near to begins again at a point of its own.
        strays = points[rng.choice(len(points), CODEBOOK_SIZE)]
        centres = np.where(counts[:, None], sums / np.maximum(counts, 1)[:, None], strays)
    return centres
