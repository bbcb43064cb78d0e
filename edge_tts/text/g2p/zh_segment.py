"""Chinese word segmentation: the most probable path through the lexicon's words."""

from __future__ import annotations

import re
from typing import Collection, List, NamedTuple, Optional, Sequence, Tuple

from edge_tts.text.g2p.zh_lexicon import Entry, Hanzi

_TRAP = re.compile("[东西南北]方(?=向(?:[的行开驶直移延列]|$))")
# What a character no source knows costs as a word of its own: rarer than any listed one.
_UNKNOWN_COST = 20.0


class Word(NamedTuple):
    """Characters start..end of a text; `packed` is the lexicon reading, None for one character."""

    start: int
    end: int
    packed: Optional[int]


def without_traps(text: str, entries: Sequence[Entry], breaks: Collection[int] = ()) -> List[Entry]:
    """The entries less those that split 方向 or reach over one of `breaks`.

    徐泾东 方向的 is not 东方 向的, and 樊振东4:2 does not hold the place name 东四.
    """
    traps = {match.start() for match in _TRAP.finditer(text)}
    return [
        entry
        for entry in entries
        if not (entry.start in traps and entry.length == len("东方"))
        and not any(entry.start < place < entry.start + entry.length for place in breaks)
    ]


def segment(hanzi: Sequence[Optional[Hanzi]], entries: Sequence[Entry]) -> List[Word]:
    """Split a text into the words whose unigram costs sum to the least.

    Linear in the text: at most `MAX_WORD_LENGTH` words end at any character.
    """
    best: List[Tuple[float, Word]] = []
    ending: List[List[Entry]] = [[] for _ in hanzi]
    for entry in entries:
        ending[entry.start + entry.length - 1].append(entry)
    for last, character in enumerate(hanzi):
        before = best[last - 1][0] if last else 0.0
        cost = character.cost if character else _UNKNOWN_COST
        choice = (before + cost, Word(last, last + 1, None))
        for entry in ending[last]:
            before = best[entry.start - 1][0] if entry.start else 0.0
            if before + entry.cost < choice[0]:
                choice = (before + entry.cost, Word(entry.start, last + 1, entry.packed))
        best.append(choice)
    return _trace(best)


def _trace(best: Sequence[Tuple[float, Word]]) -> List[Word]:
    words: List[Word] = []
    end = len(best)
    while end:
        word = best[end - 1][1]
        words.append(word)
        end = word.start
    words.reverse()
    return words
