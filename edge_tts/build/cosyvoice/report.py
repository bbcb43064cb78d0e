"""What a build came to, engine by engine: size, speed on this machine, distance from fp32."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import List, Tuple

from edge_tts.build.cosyvoice.gate import Comparison
from edge_tts.build.cosyvoice.precision import Precision
from edge_tts.build.torch_voice.gate import Distance
from edge_tts.runtime.onnx import runtime_version, weights_path

REPORT_FILE = "build.json"


@dataclass(frozen=True)
class PartReport:
    """One engine. `run_ms` is the median of the compared runs, `snr_db` that of its outputs."""

    name: str
    precision: str
    size_bytes: int
    run_ms: float
    snr_db: float


@dataclass(frozen=True)
class BuildReport:
    """All engines, and the whole voice's distance."""

    machine: str
    runtime: str
    distance: Distance
    parts: Tuple[PartReport, ...]

    @classmethod
    def of(cls, directory: Path, comparison: Comparison, precision: Precision) -> "BuildReport":
        """Gather the figures of the voice in `directory`."""
        parts = tuple(
            PartReport(
                name,
                precision.of(name),
                _size_bytes(directory / f"{name}.onnx"),
                round(1000 * closeness.run_s, 3),
                round(closeness.snr_db, 1),
            )
            for name, closeness in comparison.by_part.items()
        )
        runtime = f"onnxruntime {runtime_version()}"
        return cls(platform.machine() or "unknown", runtime, comparison.distance, parts)

    def lines(self) -> List[str]:
        """For people."""
        distance = self.distance
        found = [
            f"{part.name}: {part.precision}, {part.size_bytes / 2**20:.1f} MiB, "
            f"{part.run_ms:.1f} ms a run, {part.snr_db:.0f} dB above its error"
            for part in self.parts
        ]
        return [
            *found,
            f"distance {distance.sound_db:.3f} dB of mel, {distance.divergence:.5f} nats of "
            f"tokens, sound {distance.sound_snr_db:.0f} dB above its error",
        ]

    def write(self, path: Path) -> None:
        """Save as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def _size_bytes(graph: Path) -> int:
    return sum(file.stat().st_size for file in (graph, weights_path(graph)) if file.exists())
