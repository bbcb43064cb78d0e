"""Pronunciation: from spoken-form tokens to the phonemes the voice reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edge_tts.text.g2p.pronouncer import Pronouncer

__all__ = ["Pronouncer"]


def __getattr__(name: str) -> object:
    # Loaded on demand: the lexicon's reader needs this package's tables but not the G2P engines.
    if name == "Pronouncer":
        from edge_tts.text.g2p.pronouncer import Pronouncer

        return Pronouncer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
