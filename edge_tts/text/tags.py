"""Tags in a plain text: `[LNGzh]` and `[LNGen]` settle the language, `[SPKname]` the speaker."""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple, Optional, Sequence

from edge_tts.errors import InputError
from edge_tts.text.tokens import Language

# An empty name is no tag: LNG is also liquefied natural gas.
_TAG = re.compile(r"\[(LNG(?=[A-Za-z]{2})|SPK(?=\w))([\w.-]{1,64})\]")


class Stretch(NamedTuple):
    """A part of a text between speaker tags; `speaker` None is the one before it."""

    text: str
    start: int
    speaker: Optional[str]


def stretches(text: str, speakers: Optional[Sequence[str]]) -> Iterator[Stretch]:
    """Cut `text` at its speaker tags, leaving them out; language tags stay in.

    `speakers` are those of the voice; None leaves names unchecked. Raises InputError
    `input.unknown_tag` listing the known tags.
    """
    at, speaker = 0, None
    for match in _TAG.finditer(text):
        kind, name = match.groups()
        _check(match.group(), kind, name, speakers)
        if kind == "SPK":
            yield Stretch(text[at : match.start()], at, speaker)
            at, speaker = match.end(), name
    yield Stretch(text[at:], at, speaker)


def _check(tag: str, kind: str, name: str, speakers: Optional[Sequence[str]]) -> None:
    languages = [language.value for language in Language]
    known = languages if kind == "LNG" else speakers
    if known is not None and name not in known:
        listed = ", ".join(f"[{kind}{each}]" for each in known)
        raise InputError(f"the tag {tag} is not known; known: {listed}", code="input.unknown_tag")
