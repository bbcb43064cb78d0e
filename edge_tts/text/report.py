"""What the front end met and did not speak, counted so that nothing is lost in silence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Tuple

MAX_KINDS = 64
MAX_SAMPLE_CHARS = 24

OTHER = "other"
UNPRONOUNCED = "unpronounced"
"""Kind of the words that got no phonemes."""
NO_SYMBOL = "phoneme"
"""Kind of the phonemes that the voice has no symbol for."""
_SPEECH_KINDS = frozenset(("symbol", UNPRONOUNCED, NO_SYMBOL))


@dataclass(frozen=True)
class Loss:
    """Characters of one kind that no token stands for.

    `kind` is `markup`, `tag`, `emoji`, `control`, `symbol`, `UNPRONOUNCED`, `NO_SYMBOL`, or
    `script:NAME` for letters that no voice speaks (`script:Arabic`). `sample` holds the first few
    of them.
    """

    kind: str
    count: int
    sample: str

    def __str__(self) -> str:
        """For people: safe in a terminal, where control characters would act."""
        sample = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in self.sample)
        return f"{self.count} of {self.kind} ({sample})"

    @property
    def is_speech(self) -> bool:
        """Whether a reader would have heard these characters, unlike markup or emoji."""
        return self.kind.startswith("script:") or self.kind in _SPEECH_KINDS


@dataclass(frozen=True)
class Report:
    """All losses of a text, largest first."""

    losses: Tuple[Loss, ...] = ()

    @property
    def total(self) -> int:
        """Number of source characters that no token stands for."""
        return sum(loss.count for loss in self.losses)

    @property
    def unspeakable(self) -> Tuple[Loss, ...]:
        """The losses a caller should be told about."""
        return tuple(loss for loss in self.losses if loss.is_speech)

    def count(self, kind: str) -> int:
        """Number of characters lost under `kind`."""
        return sum(loss.count for loss in self.losses if loss.kind == kind)


@dataclass
class Tally:
    """Collects losses over any number of paragraphs in bounded memory. Not thread-safe."""

    _counts: Dict[str, int] = field(default_factory=dict)
    _samples: Dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, characters: str) -> None:
        """Count the non-space ones among `characters` under `kind`."""
        lost = "".join(characters.split())
        if not lost:
            return
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = OTHER
        self._counts[kind] = self._counts.get(kind, 0) + len(lost)
        room = MAX_SAMPLE_CHARS - len(self._samples.get(kind, ""))
        self._samples[kind] = self._samples.get(kind, "") + lost[: max(0, room)]

    def report(self) -> Report:
        """The losses so far."""
        ordered = sorted(self._counts.items(), key=lambda entry: (-entry[1], entry[0]))
        return Report(tuple(Loss(kind, count, self._samples[kind]) for kind, count in ordered))
