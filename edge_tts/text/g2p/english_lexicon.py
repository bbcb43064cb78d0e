"""The English pronouncing lexicon: one sorted file, mapped into memory and searched in place.

File layout, little-endian: `HEADER` (magic, number of entries and of blocks, bytes of symbol table
and of body), the symbol table (UTF-8), one u32 offset into the body for each block, the body. A
block holds `BLOCK_ENTRIES` front-coded entries in byte order: u8 length shared with the previous
key, u8 suffix length, suffix, u8 length of the pronunciation, and the pronunciation. That is symbol
indices for the default reading, then for each variant a byte `VARIANT_BASE + rank of its WordClass`
and its symbol indices.
"""

from __future__ import annotations

import enum
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Mapping, Optional, Tuple

from edge_tts.errors import ModelError

LEXICON_PATH = Path(__file__).parent.parent / "data" / "en_lexicon.bin"
MAGIC = b"ENLEX\x00\x00\x01"
HEADER = struct.Struct("<8sIIII")
OFFSET = struct.Struct("<I")
BLOCK_ENTRIES = 16
VARIANT_BASE = 0x80


class WordClass(str, enum.Enum):
    """What a word is doing in its sentence, as far as its pronunciation depends on it.

    The order is part of the lexicon's file format.
    """

    NOUN = "noun"
    VERB = "verb"
    ADJECTIVE = "adjective"
    ADVERB = "adverb"
    PAST = "past tense or participle"
    DETERMINER = "determiner"
    FINAL = "function word before a pause"
    SPELLED = "abbreviation read letter by letter"


WORD_CLASSES: Tuple[WordClass, ...] = tuple(WordClass)


@dataclass(frozen=True)
class Entry:
    """The readings of one spelling; a SPELLED variant is empty, it only marks the possibility."""

    default: str
    variants: Mapping[WordClass, str]

    def reading(self, word_class: Optional[WordClass]) -> str:
        """Phonemes for `word_class`, or the default reading."""
        if word_class is None:
            return self.default
        return self.variants.get(word_class) or self.default


class EnglishLexicon:
    """Read-only view of a lexicon file. Lookups touch a few pages; nothing is read ahead.

    Raises `ModelError` when the file is missing or is not a lexicon.
    """

    def __init__(self, path: Path = LEXICON_PATH) -> None:
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ModelError(f"cannot map {path}: {error}; reinstall edge_tts") from error
        if len(self._map) < HEADER.size or self._map[: len(MAGIC)] != MAGIC:
            raise ModelError(f"{path} is no English lexicon of this version; reinstall edge_tts")
        counts: Tuple[int, int, int, int] = HEADER.unpack_from(self._map)[1:]
        self._n_entries, self._n_blocks, n_symbol_bytes, n_body_bytes = counts
        self._index = HEADER.size + n_symbol_bytes
        self._body = self._index + OFFSET.size * self._n_blocks
        if len(self._map) != self._body + n_body_bytes:
            raise ModelError(f"{path} is truncated; reinstall edge_tts")
        self._symbols = self._map[HEADER.size : self._index].decode("utf-8")

    def __len__(self) -> int:
        return self._n_entries

    def find(self, word: str) -> Optional[Entry]:
        """The entry spelt exactly `word`, case included."""
        key = word.encode("utf-8", "surrogatepass")
        block = self._block_of(key)
        if block < 0:
            return None
        for entry_key, pronunciation in self._entries(block):
            if entry_key >= key:
                return self._decode(pronunciation) if entry_key == key else None
        return None

    def words(self) -> Iterator[str]:
        """Every spelling, in byte order."""
        for block in range(self._n_blocks):
            for key, _ in self._entries(block):
                yield key.decode("utf-8")

    def _start(self, block: int) -> int:
        (offset,) = OFFSET.unpack_from(self._map, self._index + OFFSET.size * block)
        return self._body + int(offset)

    def _block_of(self, key: bytes) -> int:
        """The last block whose first key is not after `key`; -1 when there is none."""
        low, high = 0, self._n_blocks
        while low < high:
            middle = (low + high) // 2
            start = self._start(middle)
            first = self._map[start + 2 : start + 2 + self._map[start + 1]]
            if first <= key:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def _entries(self, block: int) -> Iterator[Tuple[bytes, bytes]]:
        position = self._start(block)
        n_entries = min(BLOCK_ENTRIES, self._n_entries - block * BLOCK_ENTRIES)
        key = b""
        for _ in range(n_entries):
            shared, suffix_end = self._map[position], position + 2 + self._map[position + 1]
            key = key[:shared] + self._map[position + 2 : suffix_end]
            position = suffix_end + 1 + self._map[suffix_end]
            yield key, self._map[suffix_end + 1 : position]

    def _decode(self, pronunciation: bytes) -> Entry:
        readings = [""]
        classes = []
        for code in pronunciation:
            if code >= VARIANT_BASE:
                classes.append(WORD_CLASSES[code - VARIANT_BASE])
                readings.append("")
            else:
                readings[-1] += self._symbols[code]
        return Entry(readings[0], dict(zip(classes, readings[1:])))
