"""Byte-level byte-pair encoding (Sennrich et al. 2016; GPT-2's form), with no library behind it.

A text is cut into pieces by the classes of its characters; within a piece the two neighbours whose
joint token has the lowest id are joined until none are left.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from pathlib import Path
from typing import Dict, FrozenSet, Iterator, List, Mapping

import numpy as np

from edge_tts.errors import ModelError

_CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
_CACHED_PIECES = 4096
_SEPARATORS = "\x1c\x1d\x1e\x1f"  # white space to Python, but not to Unicode

# Pieces in terms of character classes: L letter, N number, R line end, W other white space, O the
# rest; the space stands for itself. `style` names the vocabulary a rule belongs to.
_PIECES = {
    "whisper": re.compile(r" ?L+| ?N+| ?O+|[ WR]+(?![^ WR])|[ WR]+"),
    "qwen": re.compile(r"[^RLN]?L+|N| ?O+R*|[ WR]*R+|[ WR]+(?![^ WR])|[ WR]+"),
}
_CONTRACTED = {
    "whisper": re.compile(_CONTRACTIONS),
    "qwen": re.compile(_CONTRACTIONS, re.IGNORECASE),
}
STYLES = tuple(_PIECES)


class TextTokenizer:
    """Text to ids. Control words such as `[laughter]` are one id each."""

    def __init__(self, style: str, tokens: Mapping[bytes, int], words: Mapping[str, int]) -> None:
        self._style = style
        self._tokens = tokens
        self._words = words
        names = sorted(map(re.escape, words), key=len, reverse=True)
        self._word = re.compile(f"({'|'.join(names)})") if names else None
        self._piece_ids = functools.lru_cache(maxsize=_CACHED_PIECES)(self._merged)

    @property
    def words(self) -> FrozenSet[str]:
        """The control words."""
        return frozenset(self._words)

    @classmethod
    def read(cls, path: Path) -> "TextTokenizer":
        """Raises ModelError for a file that is not what `write` writes."""
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            tokens = {text.encode("latin-1"): number for number, text in enumerate(known["tokens"])}
            if known["style"] not in STYLES:
                raise ValueError(f"unknown style {known['style']!r}")
            return cls(known["style"], tokens, known["words"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{path} is not a tokenizer ({error}); build the voice again",
                code="model.file_damaged",
            ) from error

    def write(self, path: Path) -> None:
        """Save as JSON: tokens in the order of their ids, each byte as one character."""
        by_id = {number: token for token, number in self._tokens.items()}
        tokens = [by_id.get(number, b"").decode("latin-1") for number in range(max(by_id) + 1)]
        known = {"style": self._style, "words": dict(self._words), "tokens": tokens}
        path.write_text(json.dumps(known), encoding="utf-8")

    def encode(self, text: str) -> "np.ndarray":
        """Ids int64 [n] of `text`."""
        ids: List[int] = []
        for part in self._word.split(text) if self._word else [text]:
            if part in self._words:
                ids.append(self._words[part])
            else:
                for piece in self._pieces(part):
                    ids += self._piece_ids(piece)
        return np.array(ids, np.int64)

    def _pieces(self, text: str) -> Iterator[str]:
        if self._style == "qwen":
            text = unicodedata.normalize("NFC", text)
        classes = "".join(map(_class_of, text))
        place = 0
        while place < len(text):
            match = _CONTRACTED[self._style].match(text, place)
            match = match or _PIECES[self._style].match(classes, place)
            # Every class is matched by one alternative or another.
            end = match.end() if match else place + 1
            yield text[place:end]
            place = end

    def _merged(self, piece: str) -> List[int]:
        encoded = piece.encode("utf-8", errors="replace")
        parts = [encoded[i : i + 1] for i in range(len(encoded))]
        never = len(self._tokens) + 1
        while len(parts) > 1:
            ranks = [self._tokens.get(a + b, never) for a, b in zip(parts, parts[1:])]
            best = min(ranks)
            if best == never:
                break
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self._tokens[part] for part in parts]


@functools.lru_cache(maxsize=_CACHED_PIECES)
def _class_of(character: str) -> str:
    if character == " ":
        return " "
    if character in "\r\n":
        return "R"
    if character.isspace() and character not in _SEPARATORS:
        return "W"
    category = unicodedata.category(character)[0]
    return category if category in "LN" else "O"


def byte_letters() -> Dict[str, int]:
    """The printable letters that stand for bytes in GPT-2's vocabulary files."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    letters = [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]
    return {letter: byte for byte, letter in enumerate(letters)}
