"""A long text to one sound file with subtitles, in the memory of a paragraph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Iterator, Optional

from edge_tts.batch.files import open_sink
from edge_tts.batch.subtitles import SubtitleFile
from edge_tts.errors import InputError

if TYPE_CHECKING:
    from edge_tts.audio.sink import Sink
    from edge_tts.speaker import Speaker

_READ_CHARS = 16 * 1024


def speak_book(speaker: "Speaker", source: Path, target: Path, subtitles: Optional[Path]) -> float:
    """Speak the text file `source` into `target`; returns the seconds of sound.

    An error, Ctrl-C included, leaves neither file. Raises InputError `input.batch_invalid` for a
    text that cannot be read.
    """
    with open_sink(target, speaker.sample_rate_hz) as sink:
        if subtitles is None:
            return _speak(speaker, source, sink, None)
        with SubtitleFile(subtitles) as cues:
            return _speak(speaker, source, sink, cues)


def _speak(speaker: "Speaker", source: Path, sink: "Sink", cues: Optional[SubtitleFile]) -> float:
    from edge_tts.text.spoken import spoken_text

    delivery = speaker.delivery
    chosen = speaker.choose_speaker(next(_pieces(source), ""), delivery)
    n_samples = 0
    for segment in speaker.segments(_pieces(source), delivery.language):
        start = n_samples
        for chunk in speaker.render(segment, chosen, delivery):
            if len(chunk.samples):
                sink.write(chunk)
                n_samples += len(chunk.samples)
        if cues is not None:
            # The pause after the words is no part of the cue, unless there is nothing else.
            pause = round(segment.pause_s / delivery.speed * speaker.sample_rate_hz)
            end = n_samples - pause if n_samples - pause > start else n_samples
            rate_hz = speaker.sample_rate_hz
            cues.add(start / rate_hz, end / rate_hz, spoken_text(segment.tokens))
    sink.drain()
    return n_samples / speaker.sample_rate_hz


def _pieces(source: Path) -> Iterator[str]:
    try:
        with source.open(encoding="utf-8-sig") as file:
            while True:
                piece = file.read(_READ_CHARS)
                if not piece:
                    return
                yield piece
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {source}: {error}", code="input.batch_invalid") from error
