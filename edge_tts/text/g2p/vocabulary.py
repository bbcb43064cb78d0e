"""The phoneme symbols the Kokoro model reads, and how others are brought to them."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Dict, FrozenSet, Tuple

from edge_tts.errors import ModelError

SYMBOLS_PATH = Path(__file__).parent.parent / "data" / "kokoro_symbols.json"

# Longest first: an affricate in two letters is one symbol of the model only when tied.
_SEQUENCES: Tuple[Tuple[str, str], ...] = (
    ("t͡ʃ", "ʧ"),
    ("d͡ʒ", "ʤ"),
    ("t͡s", "ʦ"),
    ("d͡z", "ʣ"),
    ("t͡ɕ", "ʨ"),
    ("d͡ʑ", "ʥ"),
    ("ʈ͡ʂ", "ꭧ"),
)
_EQUIVALENTS: Dict[str, str] = {
    "g": "ɡ",
    "ɝ": "ɜɹ",
    "ɫ": "l",
    "ɭ": "l",
    "ɬ": "l",
    "ʍ": "w",
    "ɦ": "h",
    "ħ": "h",
    "ɱ": "m",
    "ʑ": "ʒ",
    "ʐ": "ɻ",
    "ɵ": "ə",
    "ɘ": "ə",
    "ɞ": "ɜ",
    "ʉ": "u",
    "ʏ": "y",
    "ɶ": "œ",
    "ʀ": "ʁ",
    "ʙ": "b",
    "ɓ": "b",
    "ɗ": "d",
    "ɠ": "ɡ",
    "ˑ": "ː",
    "'": "ˈ",
    "’": "ˈ",
    "͜": "",
    "͡": "",
    "̯": "",
    "̩": "",
    "̪": "",
    "‿": "",
}


@lru_cache(maxsize=1)
def symbol_ids() -> Dict[str, int]:
    """Model input id of each symbol; id 0 is the padding. Raises `ModelError` if unreadable."""
    try:
        return dict(json.loads(SYMBOLS_PATH.read_text(encoding="utf-8"))["symbols"])
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"cannot read {SYMBOLS_PATH}: {error}; reinstall edge_tts") from error


@lru_cache(maxsize=1)
def symbols() -> FrozenSet[str]:
    """Every symbol the model reads."""
    return frozenset(symbol_ids())


def fit(phonemes: str) -> Tuple[str, str]:
    """`phonemes` in the model's symbols, and the symbols that have no equivalent there."""
    known = symbols()
    if known.issuperset(phonemes):
        return phonemes, ""
    for sequence, symbol in _SEQUENCES:
        phonemes = phonemes.replace(sequence, symbol)
    mapped = "".join(s if s in known else _EQUIVALENTS.get(s, s) for s in phonemes)
    kept = "".join(s for s in mapped if s in known)
    return kept, "".join(s for s in mapped if s not in known)
