"""SSML to what is to be read: the subset of W3C's SSML 1.1 that docs/ssml.md lists.

Whoever wrote the document is not trusted: no document type, no entity but XML's own five, nothing
fetched, and depth, length and number of elements bounded. Every character remembers the range of
the source it was written in, so that spans refer to the text as the caller gave it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple, Union
from xml.parsers import expat

from edge_tts.errors import InputError
from edge_tts.text import ssml_values as values
from edge_tts.text.paragraphs import Break
from edge_tts.text.tags import stretches
from edge_tts.text.tokens import PLAIN, Language, Span, Voicing

MAX_CHARACTERS = 100_000
MAX_DEPTH = 32
MAX_ELEMENTS = 10_000

ELEMENTS = (
    "speak p s break say-as sub phoneme prosody lang voice mark emphasis".split()  # noqa: SIM905
)
_EMPTY = ("break", "mark")
_LEAVES = ("say-as", "sub", "phoneme")
_REQUIRED = {"say-as": "interpret-as", "sub": "alias", "phoneme": "ph", "voice": "name"}
_REQUIRED.update(mark="name", lang="xml:lang")
_WHITE_SPACE = re.compile(r"[\n\r\t]")


@dataclass(frozen=True)
class Reading:
    """How the words of a run are to be read instead of by the front end's own judgement.

    `kind` is `say-as`, `phoneme` or `sub`; `value` what to read it as, the phonemes or the alias;
    `detail` the format of a date or the alphabet.
    """

    kind: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Run:
    """Text of one language and voicing; character `i` was written at `starts[i]` to `ends[i]`."""

    text: str
    starts: Tuple[int, ...]
    ends: Tuple[int, ...]
    language: Optional[Language]
    voicing: Voicing
    reading: Optional[Reading] = None


@dataclass(frozen=True)
class Pause:
    """A `break` of `duration_s` at an offset of the source."""

    at: int
    duration_s: float


@dataclass(frozen=True)
class Mark:
    """A named place; what is spoken next begins there."""

    at: int
    name: str


@dataclass(frozen=True)
class Stop:
    """The end of a sentence or paragraph."""

    end: Break


Piece = Union[Run, Pause, Mark, Stop]


def parse(text: str, language: Optional[Language] = None) -> List[Piece]:
    """The pieces of an SSML document in order; `language` is that of what names none.

    Raises InputError `input.ssml_invalid`, or `input.unknown_language`, saying where.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"the SSML document has {len(text)} characters; the limit is {MAX_CHARACTERS}, "
            "send it as several documents",
            code="input.text_too_long",
        )
    return _Reader(text, language).pieces()


def check_speakers(pieces: Sequence[Piece], speakers: Optional[Sequence[str]]) -> None:
    """Raise InputError `input.unknown_speaker` for a voice that is none of `speakers`."""
    for piece in pieces:
        if isinstance(piece, Run) and any(part.speaker for part in stretches(piece.text, speakers)):
            raise InputError(
                "in SSML a speaker is named by <voice name=…>, not by [SPK…]",
                code="input.ssml_invalid",
            )
        name = piece.voicing.speaker if isinstance(piece, Run) else None
        if name is not None and speakers is not None and name not in speakers:
            raise InputError(
                f"<voice name={name[:40]!r}> is not a speaker of this voice; known: "
                f"{', '.join(speakers)}",
                code="input.unknown_speaker",
            )


class MarkTrack:
    """Which marks are reached as a document is spoken, segment by segment."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._open = [piece for piece in pieces if isinstance(piece, Mark)]

    def reached(self, start: int) -> Tuple[str, ...]:
        """Names of the marks reached with the segment whose span begins at `start`, once each."""
        names = tuple(mark.name for mark in self._open if mark.at <= start)
        self._open = self._open[len(names) :]
        return names


@dataclass(frozen=True)
class _Element:
    name: str
    language: Optional[Language]
    voicing: Voicing
    reading: Optional[Reading] = None


@dataclass
class _Gathering:
    """The run that is being read."""

    text: List[str] = field(default_factory=list)
    starts: List[int] = field(default_factory=list)
    ends: List[int] = field(default_factory=list)

    def add(self, data: str, start: int, end: int) -> None:
        """Characters in step with their source, or all standing for the same part of it."""
        in_step = end - start == len(data)
        for index, character in enumerate(data):
            self.text.append(character)
            self.starts.append(start + index if in_step else start)
            self.ends.append(start + index + 1 if in_step else end)


class _Reader:
    def __init__(self, text: str, language: Optional[Language]) -> None:
        self._source = text
        # A text that is not UTF-8 cannot come this far but as lone surrogates.
        self._data = text.encode("utf-8", "replace")
        self._stack: List[_Element] = [_Element("", language, PLAIN)]
        self._pieces: List[Piece] = []
        self._gathering = _Gathering()
        self._n_elements = 0
        self._known_byte = self._known_offset = 0

    def pieces(self) -> List[Piece]:
        self._parser = parser = expat.ParserCreate("UTF-8")
        parser.buffer_text = False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.EntityDeclHandler = self._refuse_doctype
        parser.ExternalEntityRefHandler = self._refuse_doctype
        try:
            parser.Parse(self._data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise self._error(f"{reason} (line {error.lineno}, column {error.offset})") from error
        return self._pieces

    # --- expat's handlers ----------------------------------------------------------------------

    def _start(self, name: str, attributes: Dict[str, str]) -> None:
        self._n_elements += 1
        if self._n_elements > MAX_ELEMENTS or len(self._stack) > MAX_DEPTH:
            self._fail(f"more than {MAX_ELEMENTS} elements, or more than {MAX_DEPTH} in each other")
        outer = self._stack[-1]
        self._check_place(name, outer, attributes)
        self._flush(outer)
        if name in ("p", "s"):
            self._stop(Break.LINE if name == "p" else Break.NONE)
        if name == "break":
            duration_s = values.break_s(attributes)
            if duration_s > 0:
                self._pieces.append(Pause(self._offset(), duration_s))
        elif name == "mark":
            self._pieces.append(Mark(self._offset(), attributes["name"]))
        self._stack.append(self._element(name, attributes, outer))

    def _end(self, name: str) -> None:
        self._flush(self._stack.pop())
        if name in ("p", "s"):
            self._stop(Break.BLANK if name == "p" else Break.NONE)

    def _characters(self, data: str) -> None:
        start = self._offset()
        if not data.strip() and self._stack[-1].name in _EMPTY:
            return
        if self._stack[-1].name in _EMPTY:
            self._fail(f"<{self._stack[-1].name}> holds no text")
        self._gathering.add(_WHITE_SPACE.sub(" ", data), start, self._written_end(start, data))

    def _refuse_doctype(self, *_: Any) -> int:
        self._fail("document types and entities are not taken; leave <!DOCTYPE …> out")

    # --- elements ------------------------------------------------------------------------------

    def _check_place(self, name: str, outer: _Element, attributes: Dict[str, str]) -> None:
        if not outer.name and name != "speak":
            self._fail(f"the document must begin with <speak>, not <{name}>")
        if name not in ELEMENTS:
            known = ", ".join(ELEMENTS)
            self._fail(f"<{name[:40]}> is not spoken; known: {known}")
        if outer.name and name == "speak":
            self._fail("<speak> stands once, around everything")
        if outer.name in (*_LEAVES, *_EMPTY):
            self._fail(f"<{outer.name}> holds no elements, but <{name}> stands in it")
        required = _REQUIRED.get(name)
        if required is not None and not attributes.get(required, "").strip():
            self._fail(f"<{name}> needs the attribute {required}")

    def _element(self, name: str, attributes: Dict[str, str], outer: _Element) -> _Element:
        language = values.language(attributes.get("xml:lang"), outer.language)
        voicing = outer.voicing
        if name == "prosody":
            voicing = replace(
                voicing,
                rate=values.rate(attributes.get("rate"), voicing.rate),
                volume=values.volume(attributes.get("volume"), voicing.volume),
            )
        elif name == "voice":
            voicing = replace(voicing, speaker=attributes["name"].strip())
        return _Element(name, language, voicing, _reading(name, attributes))

    def _flush(self, element: _Element) -> None:
        """The run that ends here, as `element` wants it read."""
        gathered, self._gathering = self._gathering, _Gathering()
        text = "".join(gathered.text)
        reading = element.reading
        if reading is not None and element.name in ("sub", "phoneme") and not text.strip():
            at = self._offset()
            gathered = _Gathering()
            gathered.add(reading.value, at, at)
            text = reading.value
        if text:
            run = Run(
                text,
                tuple(gathered.starts),
                tuple(gathered.ends),
                element.language,
                element.voicing,
                reading,
            )
            self._append(run)

    def _append(self, run: Run) -> None:
        """Join what an element that changes nothing, such as `emphasis`, has parted."""
        last = self._pieces[-1] if self._pieces else None
        joins = isinstance(last, Run) and last.reading is None and run.reading is None
        if joins and isinstance(last, Run):
            same = (last.language, last.voicing) == (run.language, run.voicing)
            if same:
                starts, ends = last.starts + run.starts, last.ends + run.ends
                self._pieces[-1] = replace(run, text=last.text + run.text, starts=starts, ends=ends)
                return
        self._pieces.append(run)

    def _stop(self, end: Break) -> None:
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, Stop):
            self._pieces[-1] = Stop(max(last.end, end))
        elif self._pieces:
            self._pieces.append(Stop(end))

    # --- places in the source ------------------------------------------------------------------

    def _offset(self) -> int:
        """Code points of the source before what the parser is at."""
        at = max(self._parser.CurrentByteIndex, self._known_byte)
        self._known_offset += len(self._data[self._known_byte : at].decode("utf-8", "replace"))
        self._known_byte = at
        return self._known_offset

    def _written_end(self, start: int, data: str) -> int:
        """Where `data` ends in the source: a reference or a line end is longer than it says."""
        source = self._source
        if source.startswith("&", start):
            return source.find(";", start) + 1
        if data == "\n" and source.startswith("\r\n", start):
            return start + 2
        return start + len(data)

    def _fail(self, problem: str) -> NoReturn:
        raise self._error(f"{problem} (line {self._parser.CurrentLineNumber})")

    @staticmethod
    def _error(problem: str) -> InputError:
        return InputError(f"not SSML that can be spoken: {problem}", code="input.ssml_invalid")


def _reading(name: str, attributes: Dict[str, str]) -> Optional[Reading]:
    if name == "sub":
        return Reading("sub", attributes["alias"])
    if name == "say-as":
        return Reading("say-as", attributes["interpret-as"].strip(), attributes.get("format", ""))
    if name == "phoneme":
        return Reading("phoneme", attributes["ph"].strip(), attributes.get("alphabet", "ipa"))
    return None


def span(run: Run, start: int, end: int) -> Span:
    """Source range of the characters `start` to `end` of a run."""
    return Span(run.starts[start], run.ends[max(start, end - 1)])
