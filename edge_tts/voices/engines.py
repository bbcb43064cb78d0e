"""The engines of a voice's parts, whatever runs them on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Mapping, Optional

from edge_tts.runtime.decoding import Cache
from edge_tts.runtime.selection import Engines, Model

if TYPE_CHECKING:
    from edge_tts.voices.manifest import VoiceDirectory


def open_engines(
    directory: "VoiceDirectory",
    parts: Iterable[str],
    n_threads: Optional[int] = None,
    caches: Optional[Mapping[str, Cache]] = None,
) -> Engines:
    """Open parts of a voice whose files have been checked. `caches` are those of parts that decode.

    Raises ModelError for a part the voice has not, EngineError when one cannot be opened at all.
    """
    known = caches or {}
    models = {part: Model(directory.file(part), known.get(part)) for part in parts}
    return Engines(directory.path, models, n_threads)
