"""The lines of a batch file: plain text, CSV with a header, or JSON lines; read as they are needed.

A line that cannot be read is a line with a fault: it is reported like any other and stops nothing.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Optional, TextIO, Tuple

from edge_tts.errors import InputError

MAX_LINE_CHARS = 100_000
SUFFIXES = (".txt", ".csv", ".jsonl")

_NAME = re.compile(r"[\w][\w.-]{0,99}")
_FIELDS = ("id", "text", "speaker", "language", "speed", "volume", "ssml")


@dataclass(frozen=True)
class Line:
    """One text to be spoken and how; `fault` says why it cannot be. `name` names its file."""

    number: int
    name: str
    text: str = ""
    delivery: Tuple[Tuple[str, Any], ...] = ()
    fault: Optional[str] = None

    @property
    def digest(self) -> str:
        """SHA-256 of what decides the sound, in hexadecimal."""
        decisive = {**asdict(self), "number": 0}
        canonical = json.dumps(decisive, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines that are not blank. Raises InputError `input.batch_invalid` for a file that
    cannot be read or is of another kind."""
    readers = {".txt": _plain, ".csv": _csv, ".jsonl": _json_lines}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise _invalid(f"{path} is not one of {', '.join(SUFFIXES)}; rename or convert it")
    seen: Dict[str, int] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line in reader(file):
                yield _unique(line, seen)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _invalid(f"cannot read {path}: {error}") from error


def _plain(file: TextIO) -> Iterator[Line]:
    for number, text in enumerate(file, 1):
        if text.strip():
            yield _line(number, {"text": text.strip()})


def _csv(file: TextIO) -> Iterator[Line]:
    rows = csv.DictReader(file)
    if "text" not in (rows.fieldnames or ()):
        raise _invalid("the first line of a CSV file names its columns; one must be 'text'")
    for number, row in enumerate(rows, 2):
        yield _line(number, {name: value for name, value in row.items() if value})


def _json_lines(file: TextIO) -> Iterator[Line]:
    for number, text in enumerate(file, 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            yield Line(number, _numbered(number), fault=f"not JSON: {error}")
            continue
        if isinstance(record, dict):
            yield _line(number, record)
        else:
            yield Line(number, _numbered(number), fault="not a JSON object")


def _line(number: int, record: Mapping[Any, Any]) -> Line:
    name = str(record.get("id", _numbered(number)))
    if not _NAME.fullmatch(name):
        return Line(number, _numbered(number), fault=f"id {name[:40]!r} cannot name a file")
    unknown = [str(field) for field in record if field not in _FIELDS]
    if unknown:
        fault = f"unknown field {unknown[0][:40]!r}; known: {', '.join(_FIELDS)}"
        return Line(number, name, fault=fault)
    text = record.get("text")
    if not isinstance(text, str) or len(text) > MAX_LINE_CHARS:
        return Line(number, name, fault=f"'text' must be at most {MAX_LINE_CHARS} characters")
    try:
        return Line(number, name, text, tuple(sorted(_delivery(record).items())))
    except (TypeError, ValueError) as error:
        return Line(number, name, fault=str(error))


def _delivery(record: Mapping[Any, Any]) -> Dict[str, Any]:
    delivery = {k: str(record[k]) for k in ("speaker", "language") if record.get(k) is not None}
    numbers = {k: float(record[k]) for k in ("speed", "volume") if record.get(k) is not None}
    is_ssml = str(record.get("ssml", "")).lower() in ("true", "1", "yes")
    return {**delivery, **numbers, **({"ssml": True} if is_ssml else {})}


def _unique(line: Line, seen: Dict[str, int]) -> Line:
    """The line, or its fault if an earlier one has its name."""
    first = seen.setdefault(line.name, line.number)
    if first == line.number:
        return line
    name = f"{_numbered(line.number)}-{line.name}"[:100]
    return Line(line.number, name, fault=f"line {first} has the id {line.name!r} already")


def _numbered(number: int) -> str:
    return f"{number:06d}"


def _invalid(problem: str) -> InputError:
    return InputError(problem, code="input.batch_invalid")
