"""Counters of the service, and how long listeners wait for the first sample."""

from __future__ import annotations

import bisect
from collections import Counter
from dataclasses import dataclass, field
from typing import Dict, List

LATENCY_BOUNDS_S = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)


@dataclass
class Histogram:
    """Counts per bucket; bucket i holds values up to `LATENCY_BOUNDS_S[i]`, the last the rest."""

    counts: List[int] = field(default_factory=lambda: [0] * (len(LATENCY_BOUNDS_S) + 1))
    total_s: float = 0.0

    def add(self, value_s: float) -> None:
        """Count one value."""
        self.counts[bisect.bisect_left(LATENCY_BOUNDS_S, value_s)] += 1
        self.total_s += value_s

    @property
    def n_values(self) -> int:
        """Number of values counted."""
        return sum(self.counts)


@dataclass
class Metrics:
    """What has happened since the service started."""

    accepted: int = 0
    refused: "Counter[str]" = field(default_factory=Counter)
    finished: "Counter[str]" = field(default_factory=Counter)
    spoken_s: float = 0.0
    starts: "Counter[str]" = field(default_factory=Counter)
    """Times an utterance went on air, by where its sound came from: cache, prompt or voice."""
    fallback_tones: int = 0
    device_losses: int = 0
    first_sound: Dict[str, Histogram] = field(default_factory=dict)
    """Time from request to first audible sample of utterances that waited for nobody, by source."""

    @property
    def cache_hit_rate(self) -> float:
        """Share of the starts whose sound was in the phrase cache, 0 before the first."""
        return self.starts["cache"] / max(1, sum(self.starts.values()))

    def heard(self, source: str, latency_s: float) -> None:
        """An utterance has become audible."""
        self.first_sound.setdefault(source, Histogram()).add(latency_s)
