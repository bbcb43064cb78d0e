"""Cuts a text that is still growing at places where no sentence can go on any more.

The cut decides only when speech may begin; within the parts the voice's own reader divides. A cut
that comes late costs a moment, a cut in the middle of a sentence or a number is heard, so every
doubt waits for more text: the character after the stop must be known, and a stop after an
abbreviation or an initial is no end.
"""

from __future__ import annotations

import re

_CLOSING = "”’」』）】》\"')]"
_SENTENCE_END = re.compile(
    rf"\n+"
    rf"|[。！？…]+[{re.escape(_CLOSING)}]*(?=[^。！？….!?{re.escape(_CLOSING)}])"
    rf"|[.!?…]+[{re.escape(_CLOSING)}]*\s+(?=[^\sa-z])"
)
_DOTTED = re.compile(r"(?:^|[\s(“\"'‘])((?:\w\.)*\w\.|\w+\.)\s*$")
# Read by what stands beside them (doctor or drive), and therefore in no table.
_AMBIGUOUS = ("Dr.", "St.")
_INITIALS = re.compile(r"(?:[A-Za-z]\.)+$")
# A sentence end and what must be known around it is never wider than this.
_LOOK_BACK = 64
# Below this a part would be spoken with a pause of its own: letters; a Chinese character is three.
_MIN_WEIGHT = 24


class SentenceBuffer:
    """Text so far; whole sentences are taken from its front. Bounded by whoever adds."""

    def __init__(self) -> None:
        self._text = ""
        self._cut = 0
        self._scanned = 0

    def __len__(self) -> int:
        return len(self._text)

    @property
    def text(self) -> str:
        """What has not been taken."""
        return self._text

    def add(self, text: str) -> None:
        """More text."""
        self._text += text
        for match in _SENTENCE_END.finditer(self._text, max(self._cut, self._scanned)):
            if _weight(self._text[: match.end()]) >= _MIN_WEIGHT and not _is_abbreviation(match):
                self._cut = match.end()
        self._scanned = max(0, len(self._text) - _LOOK_BACK)

    def take(self) -> str:
        """Remove and return the whole sentences, an empty text when there are none yet."""
        taken, self._text = self._text[: self._cut], self._text[self._cut :]
        self._scanned = max(0, self._scanned - self._cut)
        self._cut = 0
        return taken

    def take_all(self) -> str:
        """Remove and return everything."""
        taken, self._text = self._text, ""
        self._cut = self._scanned = 0
        return taken


def _weight(text: str) -> int:
    return sum(3 if ord(character) > 0x2E7F else 1 for character in text[:_MIN_WEIGHT])


def _is_abbreviation(stop: "re.Match[str]") -> bool:
    if not stop.group().startswith("."):
        return False
    from edge_tts.text.reading import tables

    found = _DOTTED.search(stop.string[max(0, stop.start() - _LOOK_BACK) : stop.start() + 1])
    if found is None:
        return False
    word = found.group(1)
    is_known = word in _AMBIGUOUS or word in tables.mapping("abbreviations")
    return is_known or _INITIALS.match(word) is not None
