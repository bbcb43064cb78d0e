"""Renders the beginning of the next utterance while the one on air is heard.

Without it, a queue of announcements would have the voice's first-sound time as a gap after each.
At most one utterance is prepared, and no more of it than `speech.EARLY_S` and a segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from edge_tts.service.renderer import Renderer

if TYPE_CHECKING:
    from edge_tts.service.speech import Speech


class LookAhead:
    """The utterance being prepared, if any, and the segment it is prepared from."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._speech: Optional["Speech"] = None
        self._segment = 0

    def prepares(self, speech: "Speech", segment: int) -> bool:
        """True when this utterance is being prepared from this segment, or has been."""
        return speech is self._speech and segment == self._segment

    def prepare(self, speech: "Speech", segment: int) -> None:
        """Begin to render `speech` from `segment`; whatever else is prepared is given up."""
        self.drop()
        self._speech, self._segment = speech, segment
        self._renderer.add(speech.job(segment, is_urgent=False))

    def hand_over(self, speech: "Speech", segment: int) -> bool:
        """The utterance goes on air from `segment`: True when its sound is on the way already."""
        if not self.prepares(speech, segment):
            self.forget(speech)
            return False
        self._speech = None
        return speech.is_whole or self._renderer.promote(speech.job_uid)

    def forget(self, speech: "Speech") -> None:
        """Give up what is prepared of this utterance, if it is the one."""
        if speech is self._speech:
            self.drop()

    def drop(self) -> None:
        """Give up what is prepared."""
        speech, self._speech = self._speech, None
        if speech is not None:
            self._renderer.remove(speech.job_uid)
            speech.forget_early()
