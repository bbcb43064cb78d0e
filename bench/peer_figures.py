"""What a peer run measures, and the arithmetic from measurements to verdicts."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Callable, Dict, List, Optional, Sequence, Tuple

TEXTS = Path(__file__).parent / "peer_texts.tsv"

OURS, PEER, SECOND_PEER = "edge-tts", "kokoro-onnx", "piper-tts"
ENGINES = (OURS, PEER, SECOND_PEER)

MAX_PEAK_MB = 350.0
MAX_LOAD_S = 1.0
MAX_COMPUTE_RATIO = 0.8
MAX_SENTENCE_RATIO = 0.75
MAX_PARAGRAPH_RATIO = 0.25
MAX_HELP_MS = 150.0
MAX_IDLE_PERCENT = 0.5  # of one CPU: what timers of an idle interpreter may take


@dataclass(frozen=True)
class BenchText:
    """A text to be spoken. `kind` is "sentence" or "paragraph"."""

    id: str
    language: str
    kind: str
    text: str


@dataclass(frozen=True)
class Spoken:
    """One text spoken by a warm engine. `cpu_s` sums over all threads of the process.

    First audio is the arrival of the first chunk that holds an audible sample.
    """

    text_id: str
    wall_s: float
    cpu_s: float
    first_audio_s: float
    first_audio_cpu_s: float
    sound_s: float


@dataclass(frozen=True)
class Run:
    """One fresh process of one engine: loaded, every text spoken, left idle."""

    engine: str
    load_s: float
    load_cpu_s: float
    peak_mb: float
    idle_percent: float
    spoken: Tuple[Spoken, ...]


@dataclass(frozen=True)
class Ratio:
    """Ours divided by the peer's: the median over rounds, each round's pair run side by side."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Verdict:
    """A figure of ours and the limit it must not exceed; `note` is shown beside it."""

    name: str
    value: float
    limit: float
    unit: str
    note: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its limit."""
        return self.value <= self.limit

    def __str__(self) -> str:
        return f"{self.name} {self.value:.3g}{self.unit}{self.note}"


def read_texts(path: Path = TEXTS) -> List[BenchText]:
    """The texts in `path`, a table with the columns id, language, kind, text."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [BenchText(**row) for row in rows]


def chosen(texts: Sequence[BenchText], language: str = "", kind: str = "") -> List[str]:
    """Ids of the texts of a language and a kind; the empty string stands for any."""
    return [t.id for t in texts if language in ("", t.language) and kind in ("", t.kind)]


def compute(ids: Sequence[str]) -> "Quantity":
    """Seconds it took to speak `ids`, wall and CPU."""
    return lambda run: (
        sum(s.wall_s for s in run.spoken if s.text_id in ids),
        sum(s.cpu_s for s in run.spoken if s.text_id in ids),
    )


def first_audio(ids: Sequence[str]) -> "Quantity":
    """Mean seconds to first audio over `ids`, wall and CPU."""

    def mean(run: Run) -> Tuple[float, float]:
        wanted = [s for s in run.spoken if s.text_id in ids]
        wall_s = sum(s.first_audio_s for s in wanted) / len(wanted)
        return wall_s, sum(s.first_audio_cpu_s for s in wanted) / len(wanted)

    return mean


def load(run: Run) -> Tuple[float, float]:
    """Seconds from before the import to ready, wall and CPU."""
    return run.load_s, run.load_cpu_s


def real_time_factor(ids: Sequence[str]) -> "Quantity":
    """Seconds of computing per second of sound, wall and CPU."""

    def factor(run: Run) -> Tuple[float, float]:
        wall_s, cpu_s = compute(ids)(run)
        sound_s = sum(s.sound_s for s in run.spoken if s.text_id in ids)
        return wall_s / sound_s, cpu_s / sound_s

    return factor


Quantity = Callable[[Run], Tuple[float, float]]


def typical(runs: Sequence[Run], quantity: Quantity) -> Tuple[float, float]:
    """Median of a quantity over an engine's runs, wall and CPU."""
    values = [quantity(run) for run in runs]
    return median(v[0] for v in values), median(v[1] for v in values)


def ratio(ours: Sequence[Run], peer: Sequence[Run], quantity: Quantity) -> Ratio:
    """Ours divided by the peer's, round by round. Both must have the same number of rounds."""
    if len(ours) != len(peer):
        raise ValueError(f"{len(ours)} rounds of ours against {len(peer)} of the peer's")
    pairs = [(quantity(a), quantity(b)) for a, b in zip(ours, peer)]
    return Ratio(
        wall=median(a[0] / b[0] for a, b in pairs), cpu=median(a[1] / b[1] for a, b in pairs)
    )


def verdicts(
    runs: Dict[str, List[Run]], texts: Sequence[BenchText], help_ms: Optional[float]
) -> List[Verdict]:
    """Every figure that has a limit. Peak memory and idle CPU count at their worst."""
    ours, peer = runs[OURS], runs[PEER]

    def against_peer(name: str, quantity: Quantity, limit: float) -> Verdict:
        found = ratio(ours, peer, quantity)
        return Verdict(name, found.wall, limit, "x", note=f" (CPU {found.cpu:.3g}x)")

    sentences, paragraphs = chosen(texts, "zh", "sentence"), chosen(texts, "zh", "paragraph")
    found = [
        Verdict("memory", max(run.peak_mb for run in ours), MAX_PEAK_MB, " MB"),
        Verdict("load", typical(ours, load)[0], MAX_LOAD_S, " s"),
        against_peer("compute", compute(chosen(texts)), MAX_COMPUTE_RATIO),
        against_peer("first audio sentence", first_audio(sentences), MAX_SENTENCE_RATIO),
        against_peer("paragraph", first_audio(paragraphs), MAX_PARAGRAPH_RATIO),
        Verdict("idle", max(run.idle_percent for run in ours), MAX_IDLE_PERCENT, " %"),
    ]
    if help_ms is not None:
        found.append(Verdict("help", help_ms, MAX_HELP_MS, " ms"))
    return found
