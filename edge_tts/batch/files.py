"""The sink for a sound file, by its suffix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edge_tts.errors import AudioError

if TYPE_CHECKING:
    from edge_tts.audio.sink import Sink

FORMATS = ("wav", "flac", "opus")


def open_sink(path: Path, sample_rate_hz: int) -> "Sink":
    """A WAV, FLAC or Opus file. Raises AudioError `audio.unwritable` for another suffix."""
    from edge_tts.audio.sink import WavSink

    suffix = path.suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise AudioError(
            f"{path} must end in {', '.join('.' + each for each in FORMATS)}",
            code="audio.unwritable",
        )
    if suffix == "wav":
        return WavSink(path, sample_rate_hz)
    from edge_tts.audio.encoded import EncodedSink, Encoding

    return EncodedSink(path, sample_rate_hz, Encoding(suffix))
