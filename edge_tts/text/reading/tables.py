"""Tab-separated tables of the reading rules, loaded when first asked for."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Dict, FrozenSet, List, Tuple

_FOLDER = Path(__file__).resolve().parent.parent / "data"


def rows(name: str) -> List[Tuple[str, ...]]:
    """Rows of `data/NAME.tsv` without comments and blank lines."""
    lines = (_FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("# ")]


@functools.lru_cache(maxsize=None)
def cues(name: str) -> FrozenSet[str]:
    """The words of one class of `cues.tsv`: what around a number tells its kind."""
    return _all_cues()[name]


@functools.lru_cache(maxsize=None)
def _all_cues() -> Dict[str, FrozenSet[str]]:
    return {row[0]: frozenset(" ".join(row[1:]).split()) for row in rows("cues")}


@functools.lru_cache(maxsize=None)
def mapping(name: str) -> Dict[str, Tuple[str, ...]]:
    """First column of `data/NAME.tsv` to the other columns."""
    return {row[0]: row[1:] for row in rows(name)}


@functools.lru_cache(maxsize=None)
def word_set(name: str) -> FrozenSet[str]:
    """All words of `data/NAME.tsv`."""
    return frozenset(word for row in rows(name) for column in row for word in column.split())
