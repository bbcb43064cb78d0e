"""Replacing one file of an installed voice, so that the voice is whole at every moment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Callable

from edge_tts.runtime.integrity import sha256_of
from edge_tts.voices.installation import sync, writing
from edge_tts.voices.manifest import FILE_NAME, Manifest, VoiceDirectory, render
from edge_tts.voices.voice import VoiceInfo

_DIGITS = 12


def rewrite(
    directory: VoiceDirectory, part_name: str, fill: Callable[[Path], None], info: VoiceInfo
) -> None:
    """Let `fill` write the part anew, and give the voice the facts `info`.

    The new file gets a name of its own; what counts is which name the manifest holds. Raises
    ModelError `model.unwritable` or `model.busy`; the voice then is as it was.
    """
    part = directory.manifest.part(part_name)
    old = directory.path / part.file
    with writing(directory.path.parent):
        new = directory.path / f".{part_name}.new{old.suffix}"
        fill(new)
        sha256 = sha256_of(new)
        named = directory.path / f"{part_name}-{sha256[:_DIGITS]}{old.suffix}"
        _settle(new, named)
        changed = replace(part, file=named.name, sha256=sha256, size_bytes=named.stat().st_size)
        parts = tuple(changed if known is part else known for known in directory.manifest.parts)
        draft = directory.path / f".{FILE_NAME}.new"
        draft.write_text(render(Manifest(info, parts, directory.manifest.gate)), encoding="utf-8")
        _settle(draft, directory.path / FILE_NAME)
        if old != named:
            old.unlink()


def _settle(draft: Path, path: Path) -> None:
    """Put a finished file in its place, on the disk."""
    draft.chmod(0o644)
    sync(draft)
    draft.replace(path)
    sync(path.parent)
