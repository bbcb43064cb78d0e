"""Measure how large every convolution of the generator gets, for `static_convolutions`.

    python -m edge_tts.build.kokoro.calibrate MODEL [--lines N] [--out FILE]

MODEL is the published graph. The installed voice turns the texts of `fast_voice.corpus`, N a
speaker, into acoustics, and a generator that rounds nothing renders them. Deterministic: the same
model and texts give the same file.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, Mapping

import numpy as np
import onnx

from edge_tts.build.fast_voice.teacher import utterances
from edge_tts.build.kokoro.clean import clean
from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.padding import weigh_padding
from edge_tts.build.kokoro.parts import GENERATOR, extract
from edge_tts.build.kokoro.static_convolutions import (
    CHANNELS,
    PEAKS,
    PEAKS_FILE,
    ConvolutionPeaks,
    report_peaks,
)
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.g2p.vocabulary import symbol_ids
from edge_tts.voices import catalog
from edge_tts.voices.kokoro.generator import Acoustics, Generator
from edge_tts.voices.kokoro.source import HarmonicSource
from edge_tts.voices.kokoro.speakers import StyleTables
from edge_tts.voices.kokoro.voice import open_acoustic_model

log = logging.getLogger(__name__)

DEFAULT_LINES = 6
QUANTILE = 1.0
MARGIN = 1.0
"""A channel's peak is this quantile of its peaks in all utterances, times the margin. Chosen by
the log-mel distance of other utterances to those of the graph that rounds nothing."""

_REPORT_EVERY = 8


class _RecordingEngine(OnnxEngine):
    """A generator that keeps the peaks of every run."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.peaks: List["np.ndarray"] = []
        self.channels: "np.ndarray" = np.zeros(0, np.int64)

    def run(self, inputs: "Mapping[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        outputs = super().run(inputs)
        self.peaks.append(outputs[PEAKS])
        self.channels = outputs[CHANNELS]
        return outputs


def measure(model: Path, lines_per_speaker: int) -> ConvolutionPeaks:
    """Peaks over the corpus. Raises ModelError when the voice is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generator.onnx"
        _write_reporting_generator(model, path)
        engine = _RecordingEngine(path)
    source = HarmonicSource(np.load(catalog.find("kokoro").file("source"), allow_pickle=False))
    generator = Generator(engine, source)
    for n, acoustics in enumerate(_acoustics(lines_per_speaker), 1):
        for _ in generator.run(acoustics):
            pass
        if n % _REPORT_EVERY == 0:
            log.info("%d utterances", n)
    return ConvolutionPeaks(choose(np.stack(engine.peaks)), engine.channels)


def choose(peaks: "np.ndarray") -> "np.ndarray":
    """From peaks [utterances, C] those to allow for [C]."""
    chosen: np.ndarray = np.quantile(peaks, QUANTILE, axis=0) * MARGIN
    return chosen.astype(np.float32)


def save(peaks: ConvolutionPeaks, path: Path) -> None:
    """Write the file that `ConvolutionPeaks.read` reads."""
    np.savez_compressed(path, peaks=peaks.peaks, channels=peaks.channels)


def _write_reporting_generator(model: Path, path: Path) -> None:
    graph = Graph.of(onnx.load(str(model)))
    clean(graph)
    generator = extract(graph, GENERATOR)
    weigh_padding(generator)
    report_peaks(generator)
    onnx.save(generator.to_model(), str(path))


def _acoustics(lines_per_speaker: int) -> Iterator[Acoustics]:
    acoustic_model, styles = open_acoustic_model(catalog.find("kokoro")), StyleTables()
    for _, phonemes, line in utterances(lines_per_speaker):
        ids = [symbol_ids()[symbol] for symbol in phonemes]
        yield acoustic_model.run(ids, styles.row(line.speaker, len(ids)), line.speed)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the generator's convolutions.")
    parser.add_argument("model", type=Path, help="the published graph")
    parser.add_argument("--lines", type=int, default=DEFAULT_LINES, help="lines per speaker")
    parser.add_argument("--out", type=Path, default=PEAKS_FILE)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    save(measure(arguments.model, arguments.lines), arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
