"""A text as the worker sees it: divided by the voice, rendered a segment at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Optional, Protocol

from edge_tts.service.replies import VoiceFacts
from edge_tts.text.report import Tally

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.service.messages import Manner
    from edge_tts.text.tokens import Segment


class Source(Protocol):
    """Where the worker's sound comes from."""

    @property
    def facts(self) -> VoiceFacts:
        """What it is now; engines may change while it speaks."""

    def segments(self, text: str, manner: "Manner", tally: Tally) -> Iterator["Segment"]:
        """Divide a text; lazily, deterministically. `tally` counts what is not spoken."""

    def render(self, segment: "Segment", text: str, manner: "Manner") -> Iterator["AudioChunk"]:
        """Yield the sound of one segment of `text`; the same samples every time."""

    def trim(self) -> None:
        """Drop what can be computed again."""


class Script:
    """The segments of one text, as far as they have been asked for."""

    def __init__(self, source: Source, text: str, manner: "Manner") -> None:
        self._text, self._manner = text, manner
        self._tally = Tally()
        self._segments = source.segments(text, manner, self._tally)
        self._known: List["Segment"] = []

    def is_of(self, text: str, manner: "Manner") -> bool:
        """True when this is the script of that text, spoken in that manner."""
        return (self._text, self._manner) == (text, manner)

    def segment(self, index: int) -> Optional["Segment"]:
        """Segment `index`, or None when the text has no such segment."""
        while len(self._known) <= index:
            segment = next(self._segments, None)
            if segment is None:
                return None
            self._known.append(segment)
        return self._known[index]

    def __iter__(self) -> Iterator["Segment"]:
        index = 0
        while True:
            segment = self.segment(index)
            if segment is None:
                return
            yield segment
            index += 1

    def unspoken(self) -> List[str]:
        """What has been read and is not spoken; of a text without a word, everything."""
        report = self._tally.report()
        return [str(loss) for loss in (report.unspeakable if self._known else report.losses)]
