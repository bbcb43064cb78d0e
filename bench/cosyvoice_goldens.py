"""Outputs of the official CosyVoice modules, and the random numbers they were made with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List

import numpy as np

from edge_tts.voices.cosyvoice.randomness import Excitation, Randomness

# Arrays that describe the goldens themselves: inputs, sizes and the recorded random numbers.
NOT_OUTPUTS = (
    "in_",
    "est_stream_x",
    "est_stream_mu",
    "est_stream_cond",
    "est_stream_spks",
    "hift_rand_phase",
    "hift_noise",
    "hift_cache_source_in",
    "ras_unit_logp",
    "ras_unit_prev",
    "ras_unit_uniforms",
    "llm_greedy_margin",
)


@dataclass
class Goldens:
    """Recorded arrays, and which of them have been compared."""

    arrays: Dict[str, np.ndarray]
    seed: int
    seen: set = field(default_factory=set)
    failures: int = 0

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def check(self, backend: str, name: str, found: np.ndarray, tolerance: float) -> None:
        """Compare one array and print a line."""
        wanted = self.arrays.get(name)
        if wanted is None:
            return
        self.seen.add(name)
        found = np.asarray(found)
        same_shape = found.shape == wanted.shape
        worst = float("nan")
        if same_shape:
            worst = float(np.abs(found.astype(np.float64) - wanted).max()) if wanted.size else 0.0
        ok = same_shape and worst <= tolerance
        self.failures += not ok
        verdict = "ok" if ok else f"MISS shape {found.shape} for {wanted.shape}"
        print(f"  {backend:5} {name:42} {worst:9.2e}  <= {tolerance:7.1e}  {verdict}")

    def unseen(self) -> List[str]:
        """Outputs that nothing was compared with."""
        skipped = ("_uniforms", "_z", "_n_used", "_random_calls", "_call_sizes", "_is_normal")
        return [
            name
            for name in self.arrays
            if name not in self.seen
            and not name.startswith(NOT_OUTPUTS)
            and not name.endswith(skipped)
        ]


class Recorded(Randomness):
    """The random protocol of the end-to-end goldens: one generator per tensor asked for."""

    def __init__(self, seed: int, n_harmonics: int, *, is_second: bool) -> None:
        super().__init__(seed, n_harmonics)
        self._first, self._count, self._is_second = seed * 1000 + 1, 0, is_second

    def _next(self) -> np.random.RandomState:
        self._count += 1
        return np.random.RandomState(self._first + self._count - 1)

    def flow_noise(self, n_frames: int) -> np.ndarray:
        return self._next().standard_normal((1, 80, n_frames)).astype(np.float32)

    def excitation(self, n_samples: int) -> Excitation:
        turns = self._next().random_sample(self._n_harmonics).astype(np.float32)
        shape = (n_samples, self._n_harmonics)
        generator = self._next()
        if self._is_second:
            noise = generator.standard_normal(shape)
        else:
            noise = generator.standard_normal(shape[::-1]).T
        self._next()  # a second noise that the official source draws and drops
        return Excitation(turns, noise.astype(np.float32))
