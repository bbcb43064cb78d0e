"""What the voice learns to say: prompts of a car, drawn from a small grammar.

A narrow domain on purpose: every syllable returns in hundreds of combinations, so that little
speech teaches much, and combinations that were never heard can tell whether it was learnt.
"""

from __future__ import annotations

import itertools
import random
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Sequence

GRAMMAR = Path(__file__).parent / "data" / "zh.txt"
SEED = 11
HELD_OUT_SHARE = 20

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Grammar:
    """Templates with `{slot}`s, and the words that fill each slot."""

    templates: Sequence[str]
    words: Dict[str, Sequence[str]]

    @classmethod
    def read(cls, path: Path = GRAMMAR) -> "Grammar":
        """Read sections of lines, each under its name in brackets."""
        sections: Dict[str, List[str]] = {}
        current: List[str] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                current = sections.setdefault(line.strip("[]"), [])
            elif line and not line.startswith("#"):
                current.append(line)
        return cls(sections.pop("templates"), sections)

    def sentences(self, template: str) -> List[str]:
        """Every way to fill the template."""
        slots = _SLOT.findall(template)
        fillings = itertools.product(*(self.words[slot] for slot in slots))
        return [_filled(template, words) for words in fillings]


def sentences() -> List[str]:
    """Every sentence of the grammar in a fixed random order, the templates by turns."""
    rng = random.Random(SEED)
    grammar = Grammar.read()
    by_template = [grammar.sentences(template) for template in grammar.templates]
    for filled in by_template:
        rng.shuffle(filled)
    turns = itertools.zip_longest(*by_template)
    return [text for turn in turns for text in turn if text is not None]


def _filled(template: str, words: Sequence[str]) -> str:
    remaining = iter(words)
    return _SLOT.sub(lambda _: next(remaining), template)


def is_held_out(text: str) -> bool:
    """Every twentieth text, by what it says, is never trained on."""
    return zlib.crc32(text.encode()) % HELD_OUT_SHARE == 0
