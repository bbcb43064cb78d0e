"""Which voices are installed, and how one is loaded."""

from __future__ import annotations

import difflib
import logging
from pathlib import Path
from typing import Any, Iterator, List, Optional, Type

from edge_tts.errors import ModelError
from edge_tts.paths import voices_dirs
from edge_tts.voices.manifest import FILE_NAME, VoiceDirectory
from edge_tts.voices.voice import DEFAULT_PRESET, Preset, Voice, VoiceInfo

log = logging.getLogger(__name__)


def directories() -> Iterator[VoiceDirectory]:
    """Every readable voice, first match per name; a broken manifest is logged and left out."""
    seen = set()
    for path in _candidates():
        if path.name in seen:
            continue
        seen.add(path.name)
        try:
            yield VoiceDirectory.read(path)
        except ModelError as error:
            log.warning("%s", error)


def installed() -> List[VoiceInfo]:
    """Facts about every installed voice."""
    return [directory.manifest.info for directory in directories()]


def names() -> List[str]:
    """The name of every voice on this machine, those with a broken manifest included."""
    return list(dict.fromkeys(path.name for path in _candidates()))


def find(name: str) -> VoiceDirectory:
    """The voice called `name`. Raises ModelError when it is absent or its manifest is broken."""
    for path in _candidates():
        if path.name == name:
            return VoiceDirectory.read(path)
    raise ModelError(
        f"no voice {name!r} is installed; {_absence_hint(name)}", code="model.not_installed"
    )


def faults(name: str) -> List[ModelError]:
    """All that is wrong with the files of a voice. Raises ModelError when it is absent."""
    try:
        return find(name).faults()
    except ModelError as error:
        if error.code == "model.not_installed":
            raise
        return [error]


def load(name: str, n_threads: Optional[int] = None, preset: Preset = DEFAULT_PRESET) -> Voice:
    """Check every file of a voice and open it. Raises ModelError or EngineError.

    ModelError `model.preset_missing` when it was installed before `preset` existed.
    """
    directory = find(name)
    voice: Voice = _kind(directory).load(directory, n_threads, preset)
    return voice


def is_faster_together(name: str) -> bool:
    """Whether the voice gains from `Voice.foresee`; it is not opened. Raises ModelError."""
    kind: Type[Voice] = _kind(find(name))
    return kind.is_faster_together


def _kind(directory: VoiceDirectory) -> Any:
    """The class of a voice's family."""
    family = directory.manifest.info.family
    if family == "kokoro":
        from edge_tts.voices.kokoro.voice import KokoroVoice

        return KokoroVoice
    if family == "cosyvoice":
        from edge_tts.voices.cosyvoice.voice import CosyVoice

        return CosyVoice
    if family == "lite":
        from edge_tts.voices.lite.voice import LiteVoice

        return LiteVoice
    raise ModelError(
        f"voice {directory.manifest.info.name!r} is of the family {family!r}, which this version "
        "cannot speak with",
        code="model.manifest_invalid",
    )


def _absence_hint(name: str) -> str:
    from edge_tts.voices.installation import INSTALLABLE

    near = difflib.get_close_matches(name, names(), n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    if name in INSTALLABLE:
        return f"run: edge-tts voices install {name}"
    return f"known: {', '.join(dict.fromkeys((*names(), *INSTALLABLE)))}"


def _candidates() -> Iterator[Path]:
    for root in voices_dirs():
        if root.is_dir():
            for path in sorted(root.iterdir()):
                if not path.name.startswith(".") and (path / FILE_NAME).is_file():
                    yield path
