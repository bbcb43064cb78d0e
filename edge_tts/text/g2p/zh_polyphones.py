"""Readings of polyphonic characters from the characters around them.

The rules are data, `data/zh_polyphones.tsv`; its head explains the notation.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Pattern

from edge_tts.errors import ModelError
from edge_tts.text.g2p.pinyin import Syllable, parse_syllable

# No rule looks further than this many characters to the left.
_LEFT_WINDOW = 8

_RULE = re.compile(r"(?P<left>.*?)<(?P<char>.)>(?P<right>.*)")
_MACRO = re.compile(r"\{([A-Z]+)\}")


class Rule(NamedTuple):
    """A reading and the context, two regular expressions, that calls for it."""

    reading: Syllable
    left: str
    right: str
    overrules: bool

    def matches(self, text: str, position: int) -> bool:
        """Whether the context around the character at `position` is this rule's."""
        if not _compiled(self.right).match(text, position + 1):
            return False
        if not self.left:
            return True
        start = max(0, position - _LEFT_WINDOW)
        return _compiled(f"(?:{self.left})$").search(text, start, position) is not None


class PolyphoneRules:
    """Context rules, first match wins. Raises ModelError when the table is damaged."""

    def __init__(self, path: Optional[Path] = None) -> None:
        path = path or Path(__file__).resolve().parent.parent / "data" / "zh_polyphones.tsv"
        self.by_char: Dict[str, List[Rule]] = {}
        try:
            self._read(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError) as error:
            message = f"{path} is missing or damaged ({error}); reinstall edge_tts"
            raise ModelError(message) from error

    def reading(self, text: str, position: int, attested: bool) -> Optional[Syllable]:
        """The reading the context calls for, or None when no rule speaks.

        `attested` tells that the lexicon gives the word it stands in a reading; few rules dare to
        contradict that.
        """
        for rule in self.by_char.get(text[position], ()):
            if (rule.overrules or not attested) and rule.matches(text, position):
                return rule.reading
        return None

    def _read(self, table: str) -> None:
        macros: Dict[str, str] = {}
        for line in table.splitlines():
            head, _, body = line.partition("\t")
            if not line or line.startswith("#"):
                continue
            body = _MACRO.sub(lambda found: macros[found.group(1)], body)
            if head.startswith("{"):
                macros[head.strip("{}")] = body
            else:
                self._add(head, body)

    def _add(self, head: str, body: str) -> None:
        match = _RULE.fullmatch(body)
        if match is None:
            raise ValueError(f"not a rule: {head} {body}")
        reading = parse_syllable(head.rstrip("!"))
        rule = Rule(reading, match["left"], match["right"], head.endswith("!"))
        self.by_char.setdefault(match["char"], []).append(rule)


# Compiling the whole table costs more than loading the lexicon; a text needs a few of its rules.
@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Pattern[str]:
    return re.compile(pattern)
