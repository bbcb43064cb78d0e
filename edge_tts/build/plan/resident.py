"""What a voice on ONNX Runtime will keep in memory, predicted from the sizes of its weights.

Weights are read from mapped files and packed once by ONNX Runtime, which gives the mapped pages
back: an engine's weights are in memory once. The other constants are fitted to a peak measured by
bench/cosyvoice_full.py; docs/plan.md says how far they have been checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Mapping, Tuple

from edge_tts.build.plan.sizes import VoiceSize
from edge_tts.build.quantisation.kinds import FP32

MIB = 1 << 20
BASE_MIB = 65.0
"""Python, numpy, ONNX Runtime and what is mapped of the tables."""
SCRATCH_MIB = 170.0
"""Working memory of the flow and the vocoder for a chunk of four seconds."""
SCRATCH_MIB_PER_S = 12.0
"""What each further second of one segment adds to the flow's."""
CHUNK_S = 4.0


@dataclass(frozen=True)
class Resident:
    """Predicted peak of the process in MiB, by what takes it."""

    weights: Mapping[str, float]
    cache: float
    scratch: float
    base: float

    @property
    def total(self) -> float:
        """The peak."""
        return sum(self.weights.values()) + self.cache + self.scratch + self.base


def predict(size: VoiceSize, by_part: Mapping[str, str], seconds: float) -> Resident:
    """Peak while speaking segments of up to `seconds` with the given precision by part."""
    weights: Dict[str, float] = {
        part.name: part.n_bytes(by_part.get(part.name, FP32)) / MIB for part in size.parts
    }
    cache = size.cache_bytes * size.token_rate_hz * seconds / MIB
    scratch = SCRATCH_MIB + SCRATCH_MIB_PER_S * max(0.0, seconds - CHUNK_S)
    return Resident(weights, cache, scratch, BASE_MIB)


def lines(
    size: VoiceSize,
    choices: Mapping[str, Mapping[str, str]],
    budget_mib: float,
    seconds: float,
) -> List[str]:
    """The plan for people: one line per choice, and which of them keep the budget."""
    found, fitting = [], []
    for name, by_part in choices.items():
        resident = predict(size, by_part, seconds)
        fits = resident.total <= budget_mib
        fitting += [name] if fits else []
        found.append(f"predicted: {name}: {_sum(resident)}, {'fits' if fits else 'does not fit'}")
    best = ", ".join(fitting) or "none of these"
    return [*found, f"within {budget_mib:.0f} MiB: {best}"]


def _sum(resident: Resident) -> str:
    terms: Tuple[Tuple[str, float], ...] = (
        *resident.weights.items(),
        ("cache", resident.cache),
        ("scratch", resident.scratch),
        ("base", resident.base),
    )
    listed = " + ".join(f"{name} {mib:.0f}" for name, mib in terms)
    return f"{listed} = {resident.total:.0f} MiB"
