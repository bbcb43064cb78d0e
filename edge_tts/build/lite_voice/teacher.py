"""Let the default voice speak the corpus, its pitch locked to the frames of the codes.

    python -m edge_tts.build.lite_voice.teacher DATA [--texts N] [--threads N]

A code says what a frame sounds like, not where in a period of the voice it begins; a decoder that
is to guess this needs an adversary and days, or whispers. So the teacher's pitch is rounded to
multiples of the frame rate: each frame holds whole periods, and sound follows from codes.

DATA gets one `.npz` per sentence: `audio` float16 [n] at 24 kHz without the silence around the
speech, and `text` as a lite voice will be given it. Files that are there already are kept, so the
command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import sys
from pathlib import Path
from typing import Optional, Sequence

import numpy as np

from edge_tts.build.lite_voice import corpus
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.g2p.vocabulary import symbol_ids
from edge_tts.text.segment import SegmentSizes
from edge_tts.text.tokens import Token
from edge_tts.voices import catalog
from edge_tts.voices.cosyvoice.text import segment_text
from edge_tts.voices.kokoro.generator import Generator
from edge_tts.voices.kokoro.silence import select
from edge_tts.voices.kokoro.source import HarmonicSource
from edge_tts.voices.kokoro.speakers import StyleTables
from edge_tts.voices.kokoro.voice import GENERATOR, SEGMENT_LIMIT, open_acoustic_model
from edge_tts.voices.manifest import VoiceDirectory

log = logging.getLogger(__name__)

SPEAKER = "zf_xiaobei"
SAMPLE_RATE_HZ = 24_000
FRAME_RATE_HZ = 40
SAMPLES_PER_FRAME = SAMPLE_RATE_HZ // FRAME_RATE_HZ
DEFAULT_TEXTS = 1000

UNCUT = SegmentSizes(opening=SegmentSizes.comfortable)
"""The first segment is not kept short for the sake of an early first sound."""

_QUIET = 3e-3
_MARGIN_FRAMES = 2
_VOICED_HZ = 60.0
_REPORT_EVERY = 50


class Teacher:
    """The installed voice, whose pitch can be changed before it is heard."""

    def __init__(self, directory: VoiceDirectory, n_threads: Optional[int] = None) -> None:
        directory.check(hashes=True)
        self._acoustic_model = open_acoustic_model(directory, n_threads)
        self._generator = Generator(
            OnnxEngine(directory.file(GENERATOR), n_threads=n_threads),
            HarmonicSource(np.load(directory.file("source"), allow_pickle=False)),
        )
        self._styles = StyleTables()

    def say(self, phonemes: str) -> "np.ndarray":
        """Float32 [n] at 24 kHz that begins with a frame of the codes."""
        ids = [symbol_ids()[symbol] for symbol in phonemes]
        acoustics = self._acoustic_model.run(ids, self._styles.row(SPEAKER, len(ids)), 1.0)
        acoustics = dataclasses.replace(acoustics, f0_hz=locked(acoustics.f0_hz))
        audio = np.concatenate(list(self._generator.run(acoustics)))
        # The generator leaves out silence: its sound begins with this frame of 80 Hz.
        first = select(acoustics.energy).start
        return audio[(first % 2) * SAMPLES_PER_FRAME // 2 :]


def locked(f0_hz: "np.ndarray") -> "np.ndarray":
    """F0 [n] at 80 Hz, in every frame of 40 Hz the multiple of 40 Hz that is nearest, or 0."""
    highest = np.append(f0_hz, np.zeros(len(f0_hz) % 2, f0_hz.dtype)).reshape(-1, 2).max(axis=1)
    rounded = FRAME_RATE_HZ * np.round(highest / FRAME_RATE_HZ)
    voiced = np.where(highest < _VOICED_HZ, 0, rounded)
    result: np.ndarray = np.repeat(voiced, 2)[: len(f0_hz)].astype(f0_hz.dtype)
    return result


def trimmed(audio: "np.ndarray") -> "np.ndarray":
    """The frames with speech and two around it. Raises ValueError when there is none."""
    frames = audio[: len(audio) // SAMPLES_PER_FRAME * SAMPLES_PER_FRAME]
    loud = np.flatnonzero(np.abs(frames) > _QUIET) // SAMPLES_PER_FRAME
    if not len(loud):
        raise ValueError("the teacher was silent; check the voice with edge-tts doctor")
    first, last = max(0, loud[0] - _MARGIN_FRAMES), loud[-1] + 1 + _MARGIN_FRAMES
    return frames[first * SAMPLES_PER_FRAME : last * SAMPLES_PER_FRAME]


def speak(teacher: Teacher, n_texts: int, folder: Path) -> None:
    """Write those of the first `n_texts` sentences that `folder` lacks."""
    front_end = FrontEnd(
        Pronouncer(),
        lambda tokens: sum(len(t.phonemes) for t in tokens),
        SEGMENT_LIMIT,
        sizes=UNCUT,
    )
    spoken_s = 0.0
    for n, text in enumerate(corpus.sentences()[:n_texts], 1):
        path = folder / f"{n:05d}.npz"
        if not path.exists():
            (segment,) = front_end.segments(text)
            audio = trimmed(teacher.say(segment.phonemes))
            spoken_s += len(audio) / SAMPLE_RATE_HZ
            scratch = path.with_name(f".{path.name}")
            np.savez(scratch, audio=audio.astype(np.float16), text=segment_text(segment))
            scratch.replace(path)
        if n % _REPORT_EVERY == 0:
            log.info("%d sentences, %.0f s of sound in this run", n, spoken_s)


def _measure(tokens: Sequence[Token]) -> int:
    return sum(len(token.phonemes) for token in tokens)


def main() -> int:
    parser = argparse.ArgumentParser(description="Let the default voice speak the corpus.")
    parser.add_argument("data", type=Path, help="folder to write the sentences to")
    parser.add_argument("--texts", type=int, default=DEFAULT_TEXTS, help="number of sentences")
    parser.add_argument("--threads", type=int, help="inference threads")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    arguments.data.mkdir(parents=True, exist_ok=True)
    speak(Teacher(catalog.find("kokoro"), arguments.threads), arguments.texts, arguments.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
