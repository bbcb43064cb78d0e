"""Let the default voice speak the corpus.

    python -m edge_tts.build.lite_voice.teacher DATA [--texts N] [--threads N]

DATA gets one `.npz` per sentence: `audio` float16 [n] at 24 kHz without the silence around the
speech, and `text` as a lite voice will be given it. Files that are there already are kept, so the
command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

import numpy as np

from edge_tts.build.lite_voice import corpus
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.segment import SegmentSizes
from edge_tts.voices import catalog
from edge_tts.voices.cosyvoice.text import segment_text
from edge_tts.voices.voice import Preset, Voice

log = logging.getLogger(__name__)

SPEAKER = "zf_xiaobei"
SAMPLE_RATE_HZ = 24_000
DEFAULT_TEXTS = 1000

UNCUT = SegmentSizes(opening=SegmentSizes.comfortable)
"""The first segment is not kept short for the sake of an early first sound."""

_QUIET = 3e-3
_MARGIN = SAMPLE_RATE_HZ * 6 // 100
_REPORT_EVERY = 50


def speak(teacher: Voice, n_texts: int, folder: Path) -> None:
    """Write those of the first `n_texts` sentences that `folder` lacks."""
    front_end = FrontEnd(Pronouncer(), teacher.measure, teacher.segment_limit, sizes=UNCUT)
    spoken_s = 0.0
    for n, text in enumerate(corpus.sentences()[:n_texts], 1):
        path = folder / f"{n:05d}.npz"
        if not path.exists():
            (segment,) = front_end.segments(text)
            audio = trimmed(np.concatenate(list(teacher.synthesize(segment, SPEAKER, 1.0))))
            spoken_s += len(audio) / SAMPLE_RATE_HZ
            scratch = path.with_name(f".{path.name}")
            np.savez(scratch, audio=audio.astype(np.float16), text=segment_text(segment))
            scratch.replace(path)
        if n % _REPORT_EVERY == 0:
            log.info("%d sentences, %.0f s of sound in this run", n, spoken_s)


def trimmed(audio: "np.ndarray") -> "np.ndarray":
    """Speech with 60 ms of what lies around it. Raises ValueError when there is none."""
    loud = np.flatnonzero(np.abs(audio) > _QUIET)
    if not len(loud):
        raise ValueError("the teacher was silent; check the voice with edge-tts doctor")
    return audio[max(0, loud[0] - _MARGIN) : loud[-1] + _MARGIN]


def main() -> int:
    parser = argparse.ArgumentParser(description="Let the default voice speak the corpus.")
    parser.add_argument("data", type=Path, help="folder to write the sentences to")
    parser.add_argument("--texts", type=int, default=DEFAULT_TEXTS, help="number of sentences")
    parser.add_argument("--threads", type=int, help="inference threads")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    arguments.data.mkdir(parents=True, exist_ok=True)
    teacher = catalog.load("kokoro", arguments.threads, Preset.EXACT)
    speak(teacher, arguments.texts, arguments.data)
    teacher.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
