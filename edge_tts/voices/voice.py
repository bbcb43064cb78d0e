"""What every voice family offers to the rest of the house."""

from __future__ import annotations

import abc
import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, FrozenSet, Iterator, Optional, Sequence, Tuple

if TYPE_CHECKING:
    import numpy as np

    from edge_tts.runtime.selection import Engines
    from edge_tts.text.tokens import Language, Segment, Token


class Preset(enum.Enum):
    """How a voice makes sound, where it has a choice.

    `EXACT` computes a segment whole, `STREAM` in windows, early and in little memory; `FAST` uses a
    smaller network, where the voice has one.
    """

    EXACT = "exact"
    STREAM = "stream"
    FAST = "fast"


DEFAULT_PRESET = Preset.STREAM


@dataclass(frozen=True)
class Style:
    """How a voice performs a text, where it has a choice.

    `instruct` says in words how to speak ("Speak slowly."); only for voices with
    `takes_instructions`. Another `seed` gives another performance by voices that draw lots.
    """

    instruct: Optional[str] = None
    seed: int = 0


DEFAULT_STYLE = Style()


@dataclass(frozen=True)
class PlannedSegment:
    """A segment that is going to be spoken, and how."""

    segment: "Segment"
    speaker: str
    style: Style = DEFAULT_STYLE


@dataclass(frozen=True)
class VoiceInfo:
    """Facts about an installed voice, read from its `voice.yaml` without loading a model."""

    name: str
    family: str
    version: str
    languages: Tuple["Language", ...]
    speakers: Tuple[str, ...]
    default_speakers: Tuple[str, ...]
    """The speaker to use for each of `languages`, in the same order."""
    sample_rate_hz: int
    licence: str
    source: str

    def default_speaker(self, language: "Language") -> str:
        """Who speaks a text of `language` when nobody is named."""
        if language in self.languages:
            return self.default_speakers[self.languages.index(language)]
        return self.default_speakers[0]


class Voice(abc.ABC):
    """A loaded voice. Not thread-safe: one utterance at a time.

    The same segment, speaker and speed always give the same samples on one machine; the service
    relies on it to continue exactly where a lost worker stopped.
    """

    info: VoiceInfo

    reads_phonemes: bool
    """Whether segments must be pronounced before `measure` and `synthesize` see them."""

    takes_instructions = False
    """Whether `Style.instruct` is understood."""

    is_faster_together = False
    """Whether `foresee` makes many segments cheaper than one at a time."""

    engines: "Optional[Engines]" = None
    """What runs the parts, for status; None for a voice that says nothing of it."""

    @property
    def control_words(self) -> FrozenSet[str]:
        """The words of `text.control_words` that this voice obeys; it is never given others."""
        return frozenset()

    @property
    @abc.abstractmethod
    def speed_range(self) -> Tuple[float, float]:
        """Slowest and fastest speed the model itself speaks well; beyond, stretch the sound."""

    @abc.abstractmethod
    def gain(self, speaker: str) -> float:
        """Amplitude factor that makes this speaker as loud as the others."""

    @property
    @abc.abstractmethod
    def segment_limit(self) -> int:
        """Largest `measure` a segment may have."""

    @abc.abstractmethod
    def measure(self, tokens: "Sequence[Token]") -> int:
        """Size of a would-be segment in the model's own units (phonemes, text tokens)."""

    @abc.abstractmethod
    def synthesize(
        self, segment: "Segment", speaker: str, speed: float, style: Style = DEFAULT_STYLE
    ) -> Iterator["np.ndarray"]:
        """Yield mono float32 pieces in order, each as soon as it is known.

        The caller cancels by closing the iterator; a piece is at most one window of the model, and
        an empty one only offers the chance to cancel.
        """

    def foresee(self, planned: "Sequence[PlannedSegment]") -> None:  # noqa: B027 - most need not
        """Compute at once what several segments have in common to gain; `synthesize` uses it.

        What an earlier call left unused is forgotten. A segment that cannot be spoken is passed
        over: `synthesize` says why.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Release engines and memory maps. Idempotent."""
