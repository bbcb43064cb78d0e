"""Language and speaker tags: how they are written, and which of them a voice knows."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Mapping, Tuple

from edge_tts.errors import InputError

LANGUAGE = re.compile(r"\[LNG([A-Za-z-]+)\]")
SPEAKER = re.compile(r"\[SPK([^\[\]\s]+)\]")


def known_tags(pieces: Iterable[Tuple[str, int]]) -> Tuple[Dict[str, int], Dict[str, int]]:
    """Ids by language and by speaker, of all (piece, id) pairs of a vocabulary."""
    languages: Dict[str, int] = {}
    speakers: Dict[str, int] = {}
    for piece, number in pieces:
        for pattern, found in ((LANGUAGE, languages), (SPEAKER, speakers)):
            match = pattern.fullmatch(piece)
            if match:
                found[match.group(1)] = number
    return languages, speakers


def language_id(name: str, known: Mapping[str, int]) -> int:
    """Text id of a language's tag. Raises InputError that lists the known ones."""
    return _id("language", "LNG", name, known)


def speaker_id(name: str, known: Mapping[str, int]) -> int:
    """Text id of a speaker's tag. Raises InputError that lists the known ones."""
    return _id("speaker", "SPK", name, known)


def _id(kind: str, mark: str, name: str, known: Mapping[str, int]) -> int:
    if name not in known:
        tags = ", ".join(f"[{mark}{each}]" for each in known)
        raise InputError(
            f"no {kind} {name!r}: the voice has no tag [{mark}{name}]; known: {tags}",
            code=f"input.unknown_{kind}",
        )
    return known[name]
