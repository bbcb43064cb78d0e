"""Cut text of any length into paragraphs of bounded length, as it arrives.

A cut falls where a reader would pause anyway: at a blank line, at a line end, after a sentence that
has certainly ended. Only a stretch longer than the limit is cut elsewhere, and then at the gentlest
place there is. Joined, the paragraphs are the input: no character is lost or repeated.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import Iterable, Iterator, NamedTuple, Optional, Sequence, Union

_PIECE_CHARS = 4096
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_BLANK_LINES = re.compile(r"(?:[ \t\u3000]*(?:\r\n|[\n\r\v\f\x85\u2028\u2029]))+")
_HANZI = "\u3400-\u4dbf\u4e00-\u9fff"
# An ASCII stop ends a sentence for certain only after a plain lower-case word and before a capital:
# "Dr. Wu", "9 a.m. in" and "v1.0" must stay whole.
# Repeats are bounded so that a megabyte of full stops is scanned in linear time.
_SENTENCE_END = re.compile(
    r"[。！？]{1,8}[”’」』）】\"']{0,4}(?=[^。！？”’」』）】\"'])"
    r"|(?<=[a-z]{3})[!?]{1,8}[\"')\]”’]{0,4}\s{1,40}(?=\S)"
    rf"|(?<=[a-z]{{4}})\.[\"')\]”’]{{0,4}}[ \t]{{1,40}}(?=[\"'(\[“‘]?[A-Z{_HANZI}])"
)
_FORCED_CUTS = (
    _SENTENCE_END,
    re.compile(r"[，；：、](?=\D)|(?<=[^\W\d_])[,;:]\s+(?=[^\W\d_])"),
    re.compile(r"(?<=[^\W\d_])\s+(?=[^\W\d_])"),
    re.compile(r"\s+"),
    re.compile(rf"(?<=[{_HANZI}])(?=[{_HANZI}])"),
)
_LIST_MARKER = re.compile(r"\s*(?:[-*+•·#>|]|\(?\d{1,3}[.)、])")


class Break(enum.IntEnum):
    """What separates a paragraph from the text after it."""

    NONE = 0
    LINE = 1
    BLANK = 2


@dataclass(frozen=True)
class Paragraph:
    """A bounded stretch of the input; `base` is the offset of its first character (code points)."""

    text: str
    base: int
    end: Break


class _Cut(NamedTuple):
    chars: int
    end: Break


def paragraphs(
    source: Union[str, Iterable[str]],
    *,
    opening_chars: int = 40,
    usual_chars: int = 200,
    limit_chars: int = 2000,
) -> Iterator[Paragraph]:
    """Yield paragraphs of at most `limit_chars`, reading no more of `source` than they need.

    A sentence end is used as soon as a paragraph has `opening_chars` (the first one) or
    `usual_chars`. An iterator that is not a sequence may be a live stream, so a line is passed on
    without waiting to see what follows it.
    """
    is_live = not isinstance(source, (str, Sequence))
    pieces = _bounded_pieces(source)
    buffer, base, at_end = "", 0, False
    wanted = opening_chars
    while True:
        cut = None
        if at_end or is_live or len(buffer) > limit_chars:
            cut = _find_cut(buffer, wanted, limit_chars, at_end)
        if cut is not None:
            yield Paragraph(buffer[: cut.chars], base, cut.end)
            base += cut.chars
            buffer = buffer[cut.chars :]
            wanted = usual_chars
        elif at_end:
            return
        else:
            piece = next(pieces, None)
            at_end = piece is None
            buffer += piece or ""


def _bounded_pieces(source: Union[str, Iterable[str]]) -> Iterator[str]:
    for text in [source] if isinstance(source, str) else source:
        for start in range(0, len(text), _PIECE_CHARS):
            yield text[start : start + _PIECE_CHARS]


def _find_cut(buffer: str, wanted: int, limit: int, at_end: bool) -> Optional[_Cut]:
    """Where the first paragraph of `buffer` ends; None when more text is needed to tell."""
    if not buffer:
        return None
    line_end = _hard_line_end(buffer, at_end)
    stop = line_end.start() if line_end else len(buffer)
    sentence = _SENTENCE_END.search(buffer, min(wanted, stop), stop)
    if sentence and sentence.end() <= limit:
        return _Cut(sentence.end(), Break.NONE)
    if stop > limit:
        return _Cut(_forced_cut(buffer, limit), Break.NONE)
    if line_end:
        return _after_line(buffer, line_end, limit)
    return _Cut(len(buffer), Break.BLANK) if at_end else None


def _after_line(buffer: str, line_end: "re.Match[str]", limit: int) -> _Cut:
    blank = _BLANK_LINES.match(buffer, line_end.end())
    if blank is None:
        return _Cut(line_end.end(), Break.LINE)
    # Blank lines beyond the limit are left for the next paragraph, which is then blank itself.
    return _Cut(max(line_end.end(), min(blank.end(), limit)), Break.BLANK)


def _hard_line_end(buffer: str, at_end: bool) -> Optional["re.Match[str]"]:
    """First line end that is not a mere wrap of running text."""
    start = 0
    for line_end in _LINE_END.finditer(buffer):
        line = buffer[start : line_end.start()].strip()
        following = buffer[line_end.end() : line_end.end() + 8]
        if not _is_wrapped(line, following, at_end):
            return line_end
        if not following:
            return None
        start = line_end.end()
    return None


def _is_wrapped(line: str, following: str, at_end: bool) -> bool:
    """Whether running text goes on over this line end (e-mail and source files wrap at 72)."""
    if not line or not (line[-1].isalpha() or line[-1] in ",，、"):
        return False
    columns = len(line) + sum(1 for character in line if character >= "\u1100")
    if columns < 30:
        return False
    if not following:
        return not at_end
    if _LIST_MARKER.match(following) or not following[0].isalnum():
        return False
    return columns >= 60 or following[0].islower() or line[-1] in ",，、"


def _forced_cut(buffer: str, limit: int) -> int:
    """Gentlest cut in the second half of an over-long stretch; `limit` when there is none."""
    for pattern in _FORCED_CUTS:
        ends = [found.end() for found in pattern.finditer(buffer, limit // 2, limit)]
        if ends and ends[-1] > 0:
            return ends[-1]
    return limit
