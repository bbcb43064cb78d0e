"""Function words whose vowel depends on the sound that follows or on a pause."""

from __future__ import annotations

from typing import Callable, Dict, Optional

from edge_tts.text.g2p.english_sounds import starts_with_vowel


def _the(following: str) -> str:
    return "ði" if starts_with_vowel(following) else "ðə"


def _to(following: str) -> str:
    if not following:
        return "tu"
    return "tʊ" if starts_with_vowel(following) else "tə"


def _in(following: str) -> str:
    return "ɪn" if following else "ˈɪn"


def _am(following: str) -> str:
    return "ɐm" if following else "æm"


_WEAK_FORMS: Dict[str, Callable[[str], str]] = {
    "the": _the,
    "to": _to,
    "in": _in,
    "am": _am,
    "a": lambda _: "ɐ",
    "an": lambda _: "ɐn",
    "i": lambda _: "ˌI",
}


def weak_form(word: str, following: str) -> Optional[str]:
    """Phonemes of a function word; None for other words.

    `following` is the sound of the next word in the same breath, "" before a pause.
    """
    form = _WEAK_FORMS.get(word)
    return form(following) if form is not None else None
