"""The Chinese lexicon: words with cost and reading, characters with their candidate readings.

Seven memory-mapped tables made by scripts/build_chinese_lexicon.py:

- `zh_word_keys` uint64, ascending: the key of each word of 2 to 8 characters (`window_keys`);
- `zh_word_readings` uint32: `READING_BITS` bits per character, the index among its candidates
  or `BY_CONTEXT`;
- `zh_word_costs` float16: -ln of the word's relative frequency;
- `zh_character_codes` uint32, ascending: the code points known;
- `zh_characters` rows of `CHARACTER`, one per code;
- `zh_character_readings` uint16: candidate syllables, most usual first, as rows of the next table;
- `zh_syllables` bytes: tone-number pinyin in UTF-8.
"""

from __future__ import annotations

from pathlib import Path
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from edge_tts.errors import ModelError
from edge_tts.text.g2p.pinyin import Syllable, parse_syllable

MAX_WORD_LENGTH = 8
READING_BITS = 4
BY_CONTEXT = (1 << READING_BITS) - 1
"""In place of a reading: no source gives it, so the context has to."""
CHARACTER = np.dtype([("simplified", "<u4"), ("start", "<u4"), ("count", "<u2"), ("cost", "<f2")])

# Odd 64-bit multipliers of a multilinear hash, one per position in the word (splitmix64 from 1).
_MULTIPLIERS = (
    0x910A2DEC89025CC1,
    0xBEEB8DA1658EEC67,
    0xF893A2EEFB32555F,
    0x71C18690EE42C90B,
    0x71BB54D8D101B5B9,
    0xC34D0BFF90150281,
    0xE099EC6CD7363CA5,
    0x85E7BB0F12278575,
)


class Entry(NamedTuple):
    """A lexicon word found in a text: where it starts, its length, its cost, its packed reading."""

    start: int
    length: int
    cost: float
    packed: int


class Hanzi(NamedTuple):
    """One character: cost as a word of its own, and candidate readings, most usual first."""

    cost: float
    readings: Tuple[Syllable, ...]


def window_keys(codes: "np.ndarray") -> List["np.ndarray"]:
    """Keys of every window of 1, 2 … `MAX_WORD_LENGTH` code points (uint64, wrapping)."""
    keys: List["np.ndarray"] = []
    n = len(codes)
    previous = np.zeros(n, dtype=np.uint64)
    for offset, multiplier in enumerate(_MULTIPLIERS[:n]):
        previous = previous[: n - offset] + codes[offset:] * np.uint64(multiplier)
        keys.append(previous)
    return keys


class ChineseLexicon:
    """Read-only view of the tables; safe to share between threads.

    Raises ModelError when a table is missing or damaged.
    """

    def __init__(self, directory: Optional[Path] = None) -> None:
        directory = directory or Path(__file__).resolve().parent.parent / "data"
        self._keys = _load(directory / "zh_word_keys.npy")
        self._readings = _load(directory / "zh_word_readings.npy")
        self._costs = _load(directory / "zh_word_costs.npy")
        self._codes = _load(directory / "zh_character_codes.npy")
        self._characters = _load(directory / "zh_characters.npy")
        self._flat = _load(directory / "zh_character_readings.npy")
        names = _load(directory / "zh_syllables.npy")
        self._syllables = [parse_syllable(name.decode("utf-8")) for name in names.tolist()]

    def hanzi(self, text: str) -> List[Optional[Hanzi]]:
        """What is known of each character; None for one that no source knows."""
        rows, found = self._rows(_codes(text))
        return [self._hanzi(row) if known else None for row, known in zip(rows, found)]

    def simplified(self, text: str) -> str:
        """The text with each traditional character replaced by its simplified form."""
        rows, found = self._rows(_codes(text))
        forms = self._characters["simplified"][rows]
        return "".join(
            chr(form) if known else char for char, form, known in zip(text, forms, found)
        )

    def entries(self, text: str) -> List[Entry]:
        """Every word of two characters and more in a text of simplified characters."""
        found: List[Entry] = []
        for length, keys in enumerate(window_keys(_codes(text).astype(np.uint64)), 1):
            if length == 1:
                continue
            rows = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            for start in np.flatnonzero(self._keys[rows] == keys).tolist():
                row = rows[start]
                cost, packed = float(self._costs[row]), int(self._readings[row])
                found.append(Entry(start, length, cost, packed))
        return found

    def _rows(self, codes: "np.ndarray") -> Tuple["np.ndarray", "np.ndarray"]:
        rows = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return rows, self._codes[rows] == codes

    def _hanzi(self, row: int) -> Hanzi:
        character = self._characters[row]
        start, count = int(character["start"]), int(character["count"])
        numbers = self._flat[start : start + count].tolist()
        return Hanzi(float(character["cost"]), tuple(self._syllables[n] for n in numbers))


def unpack(packed: int, candidates: Sequence[Tuple[Syllable, ...]]) -> List[Optional[Syllable]]:
    """The readings of a word, given those of its characters; None is left to the context."""
    indices = [
        (packed >> (READING_BITS * position)) & BY_CONTEXT for position in range(len(candidates))
    ]
    return [
        None if index == BY_CONTEXT else readings[index]
        for index, readings in zip(indices, candidates)
    ]


def _codes(text: str) -> "np.ndarray":
    codes: "np.ndarray" = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return codes


def _load(path: Path) -> "np.ndarray":
    try:
        table: "np.ndarray" = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} is missing or damaged ({error}); reinstall edge_tts") from error
    return table
