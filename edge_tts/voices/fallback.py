"""A voice with another one behind it, which speaks what the first cannot."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Callable, FrozenSet, Iterator, Optional, Sequence, Tuple

from edge_tts.errors import EngineError
from edge_tts.text.spoken import spoken_text
from edge_tts.voices.voice import DEFAULT_STYLE, PlannedSegment, Style, Voice

if TYPE_CHECKING:
    import numpy as np

    from edge_tts.speaker import Speaker
    from edge_tts.text.tokens import Segment, Token

ASTRAY = frozenset(("engine.implausible_speech", "engine.output_invalid"))
"""Errors that are the voice's own and not the machine's."""

log = logging.getLogger(__name__)


class VoiceWithFallback(Voice):
    """Another voice's equal, but for segments that it goes astray in.

    Those are spoken by the fallback from their beginning, also when part of one has been heard: a
    word said twice is better than one not said. The fallback is opened when it is first needed.
    """

    def __init__(self, voice: Voice, open_fallback: "Callable[[], Speaker]") -> None:
        self._voice = voice
        self._open_fallback = open_fallback
        self._fallback: "Optional[Speaker]" = None
        self.info = voice.info
        self.reads_phonemes = voice.reads_phonemes
        self.takes_instructions = voice.takes_instructions
        self.is_faster_together = voice.is_faster_together
        self.engines = voice.engines

    @property
    def control_words(self) -> FrozenSet[str]:
        """The first voice's."""
        return self._voice.control_words

    @property
    def speed_range(self) -> Tuple[float, float]:
        """The first voice's."""
        return self._voice.speed_range

    def gain(self, speaker: str) -> float:
        """The first voice's."""
        return self._voice.gain(speaker)

    @property
    def segment_limit(self) -> int:
        """The first voice's."""
        return self._voice.segment_limit

    def measure(self, tokens: "Sequence[Token]") -> int:
        """The first voice's."""
        return self._voice.measure(tokens)

    def synthesize(
        self, segment: "Segment", speaker: str, speed: float, style: Style = DEFAULT_STYLE
    ) -> "Iterator[np.ndarray]":
        """Yield what the first voice makes of a segment, or the fallback when it goes astray."""
        try:
            yield from self._voice.synthesize(segment, speaker, speed, style)
            return
        except EngineError as error:
            if error.code not in ASTRAY:
                raise
            log.warning("segment %d goes to the fallback voice: %s", segment.index, error)
        yield from self._said_by_fallback(segment, speed)

    def foresee(self, planned: Sequence[PlannedSegment]) -> None:
        """Let the first voice do so."""
        self._voice.foresee(planned)

    def close(self) -> None:
        """Close both. Idempotent."""
        self._voice.close()
        if self._fallback is not None:
            self._fallback.close()

    def _said_by_fallback(self, segment: "Segment", speed: float) -> "Iterator[np.ndarray]":
        from edge_tts.audio.resample import Resampler

        if self._fallback is None:
            self._fallback = self._open_fallback()
        resampler = Resampler(self._fallback.sample_rate_hz, self.info.sample_rate_hz)
        for chunk in self._fallback.stream(spoken_text(segment.tokens), speed=speed):
            yield resampler.push(chunk.samples)
        yield resampler.finish()
