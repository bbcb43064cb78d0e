"""The sentences a quantisation is measured with: plain lines, or a table for a speech judge."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List

from edge_tts.errors import InputError
from edge_tts.text.characters import HAN

MAX_SENTENCES = 50
LANGUAGES = ("en", "zh", "mix")
COLUMNS = ("id", "lang", "text", "spoken")
TABLE_SUFFIX = ".tsv"

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_HAN, _LATIN = re.compile(f"[{HAN}]"), re.compile("[A-Za-z]")


@dataclass(frozen=True)
class Sentence:
    """`lang` is one of `LANGUAGES`; `spoken` is what a listener should write down."""

    id: str
    lang: str
    text: str
    spoken: str


def read_sentences(path: Path) -> List[Sentence]:
    """One sentence a line, or with the suffix `.tsv` a table with at least `COLUMNS`.

    Raises InputError for a file that cannot be read, is empty or holds too many.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}); give a UTF-8 text file") from error
    is_table = path.suffix == TABLE_SUFFIX
    sentences = _rows(path, lines) if is_table else _plain(lines)
    if not 1 <= len(sentences) <= MAX_SENTENCES:
        raise InputError(f"{path} must hold 1 to {MAX_SENTENCES} texts, one on a line")
    return sentences


def _plain(lines: List[str]) -> List[Sentence]:
    texts = [line.strip() for line in lines if line.strip()]
    return [Sentence(f"s{n}", language_of(t), t, t) for n, t in enumerate(texts, 1)]


def _rows(path: Path, lines: List[str]) -> List[Sentence]:
    found: Dict[str, Sentence] = {}
    for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        values = {column: (row.get(column) or "").strip() for column in COLUMNS}
        sentence = Sentence(**values)
        if not _ID.fullmatch(sentence.id) or sentence.id in found:
            raise InputError(f"{path}: {sentence.id!r} is not an id of its own; number the rows")
        if sentence.lang not in LANGUAGES or not sentence.text or not sentence.spoken:
            raise InputError(
                f"{path}: row {sentence.id} needs text, spoken and a lang of {', '.join(LANGUAGES)}"
            )
        found[sentence.id] = sentence
    return list(found.values())


def language_of(text: str) -> str:
    """How a judge is to listen: Chinese, English, or both."""
    if not _HAN.search(text):
        return "en"
    return "mix" if _LATIN.search(text) else "zh"
