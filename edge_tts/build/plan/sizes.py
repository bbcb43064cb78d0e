"""How many numbers the parts of a voice consist of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Mapping, Sequence, Tuple

from edge_tts.build.quantisation.kinds import BYTES_PER_WEIGHT, FP16, FP32

POSITION_BYTES = 4


@dataclass(frozen=True)
class PartSize:
    """One engine: weights of its linear layers, and all others."""

    name: str
    n_linear: int
    n_other: int = 0

    def n_bytes(self, kind: str) -> float:
        """Size of its weights; only linear layers are quantised, fp16 storage halves all."""
        other = BYTES_PER_WEIGHT[FP16 if kind == FP16 else FP32]
        return self.n_linear * BYTES_PER_WEIGHT[kind] + self.n_other * other


@dataclass(frozen=True)
class VoiceSize:
    """A voice by parts. `cache_bytes` is what the language model remembers of one position."""

    name: str
    parts: Tuple[PartSize, ...]
    n_table: int
    cache_bytes: int
    token_rate_hz: int
    frames_per_second: float

    def part(self, name: str) -> PartSize:
        """The part called `name`."""
        return next(part for part in self.parts if part.name == name)


def part_size(
    name: str, shapes: Mapping[str, Sequence[int]], prefixes: Iterable[str], without: str = ""
) -> PartSize:
    """Count the tensors whose names begin with one of `prefixes` and do not hold `without`."""
    n_linear = n_other = 0
    for key, shape in shapes.items():
        if not key.startswith(tuple(prefixes)) or (without and without in key):
            continue
        count = 1
        for length in shape:
            count *= length
        if len(shape) == 2 and key.endswith("weight") and "embedding" not in key:
            n_linear += count
        else:
            n_other += count
    return PartSize(name, n_linear, n_other)
