"""Subtitles from the times of segments: SubRip (SRT) and WebVTT (W3C)."""

from __future__ import annotations

import html
from pathlib import Path
from types import TracebackType
from typing import Optional, Type

from edge_tts.errors import AudioError

SUFFIXES = (".srt", ".vtt")


class SubtitleFile:
    """Writes cues in order as they are known. The suffix of `path` chooses the format.

    Used as a context manager; an exception removes the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_vtt = path.suffix.lower() == ".vtt"
        self._n_cues = 0
        try:
            self._file = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise AudioError(f"cannot write {path}: {error}", code="audio.unwritable") from error
        if self._is_vtt:
            self._file.write("WEBVTT\n\n")

    def add(self, start_s: float, end_s: float, text: str) -> None:
        """A cue; blank lines would end it and are folded."""
        said = " ".join(text.split())
        if not said or end_s <= start_s:
            return
        self._n_cues += 1
        if self._is_vtt:
            said = html.escape(said, quote=False)
        times = f"{self._time(start_s)} --> {self._time(end_s)}"
        self._file.write(f"{self._n_cues}\n{times}\n{said}\n\n")

    def _time(self, at_s: float) -> str:
        ms = round(at_s * 1000)
        point = "." if self._is_vtt else ","
        clock = f"{ms // 3600000:02d}:{ms // 60000 % 60:02d}:{ms // 1000 % 60:02d}"
        return f"{clock}{point}{ms % 1000:03d}"

    def __enter__(self) -> "SubtitleFile":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._file.close()
        if kind is not None:
            self._path.unlink()
