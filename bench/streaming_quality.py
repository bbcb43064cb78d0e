#!/usr/bin/env python3
"""How far speech made in windows is from the same speech made whole, and how its joins are.

    bench/streaming_quality.py [SENTENCES.tsv] [--model FILE] [--per-speaker N] [--speaker NAME ...]

Every speaker reads N sentences of its own language and mixed ones that the fit has not seen, some
at other speeds. Printed per speaker: the mean log-mel distance to whole-utterance decoding without
rounding, with predicted statistics, with the utterance's true ones (the floor: rounding to 8 bits)
and of the preset `exact`; the level difference; the worst join. A join's step is the
largest sample difference within 1 ms of it against the largest in the 20 ms around, its click the
same of the second difference.

Ends with one line of figures; exits 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import numpy as np

from edge_tts.build.fast_voice.teacher import Teacher
from edge_tts.build.kokoro.unrounded import published_model
from edge_tts.build.mel_distance import mel_distance_db
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.voices import catalog
from edge_tts.voices.kokoro.generator import Acoustics, Generator
from edge_tts.voices.kokoro.silence import select
from edge_tts.voices.kokoro.source import SAMPLE_RATE_HZ, SAMPLES_PER_FRAME, HarmonicSource
from edge_tts.voices.kokoro.speakers import SPEAKERS
from edge_tts.voices.kokoro.statistics import StatisticsModel
from edge_tts.voices.kokoro.voice import GENERATOR, SEGMENT_LIMIT, STREAM_GENERATOR
from edge_tts.voices.kokoro.windows import WindowedGenerator, plan

DEFAULT_SENTENCES = Path(__file__).parent / "sentences.tsv"
SPEEDS = (1.0, 1.0, 0.8, 1.25)
MAX_DISTANCE_DB = 1.3
MAX_JOIN = 1.5
_NEAR_S, _AROUND_S = 0.001, 0.02


class TrueStatistics:
    """Stands in for the fitted map: the statistics the whole utterance was measured to have."""

    def __init__(self) -> None:
        self.measured = np.zeros(0)

    def predict(self, acoustics: Acoustics) -> "np.ndarray":
        return self.measured[:, :, None]


@dataclass(frozen=True)
class Result:
    """One utterance. Distances in dB; joins as ratios, 0 when there was none."""

    speaker: str
    distance_db: float
    floor_db: float
    exact_db: float
    level_db: float
    step: float
    click: float


class Comparison:
    """The installed voice, rendering the same acoustics whole and in windows."""

    def __init__(self, published: Path) -> None:
        directory = catalog.find("kokoro")
        self.teacher = Teacher(directory, published)
        source = HarmonicSource(np.load(directory.file("source"), allow_pickle=False))
        engine = OnnxEngine(directory.file(STREAM_GENERATOR))
        self._exact = Generator(OnnxEngine(directory.file(GENERATOR)), source)
        self._truth = TrueStatistics()
        self._predicted = WindowedGenerator(engine, source, StatisticsModel.read())
        self._floor = WindowedGenerator(engine, source, self._truth)

    def run(self, speaker: str, phonemes: str, speed: float) -> Result:
        acoustics = self.teacher.acoustics(phonemes, speaker, speed)
        rendering = self.teacher.render(acoustics)
        self._truth.measured = rendering.statistics
        start, end = self._predicted.frames(acoustics)
        whole = rendering.audio[start * SAMPLES_PER_FRAME : end * SAMPLES_PER_FRAME]
        streamed, floor = (
            np.concatenate([*generator.run(acoustics)])
            for generator in (self._predicted, self._floor)
        )
        joins = [(stop - start) * SAMPLES_PER_FRAME for _, stop in plan(start, end)][:-1]
        return Result(
            speaker,
            mel_distance_db(whole, streamed),
            mel_distance_db(whole, floor),
            self._exact_distance_db(acoustics, rendering.audio),
            20 * float(np.log10(np.std(streamed) / np.std(whole))),
            worst_join(np.diff(streamed), joins),
            worst_join(np.diff(streamed, 2), joins),
        )

    def _exact_distance_db(self, acoustics: Acoustics, audio: "np.ndarray") -> float:
        selection = select(acoustics.energy)
        whole = audio[selection.start * SAMPLES_PER_FRAME : selection.end * SAMPLES_PER_FRAME]
        return mel_distance_db(whole, np.concatenate([*self._exact.run(acoustics)]))


def worst_join(differences: "np.ndarray", joins: List[int]) -> float:
    """The largest difference at a join over the largest near it but not at it; 0 without joins."""
    near, around = round(_NEAR_S * SAMPLE_RATE_HZ), round(_AROUND_S * SAMPLE_RATE_HZ)
    size = np.abs(differences)
    ratios = [0.0]
    for join in joins:
        before, after = size[join - around : join - near], size[join + near : join + around]
        at_join = size[join - near : join + near].max()
        ratios.append(float(at_join / max(before.max(), after.max(), 1e-4)))
    return max(ratios)


def read_phonemes(path: Path) -> Iterator[Tuple[str, str]]:
    """Language and phonemes of every segment of every sentence."""
    front_end = FrontEnd(
        Pronouncer(), lambda tokens: sum(len(t.phonemes) for t in tokens), SEGMENT_LIMIT
    )
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            for segment in front_end.segments(row["text"]):
                yield row["lang"], segment.phonemes


def material(path: Path, speaker: str, n: int) -> List[str]:
    """N segments for a speaker, other ones for every speaker as far as they reach."""
    own = "en" if speaker[0] == "a" else "zh"
    known = [phonemes for language, phonemes in read_phonemes(path) if language in (own, "mix")]
    first = SPEAKERS.index(speaker) % 4 * n
    return [known[(first + i) % len(known)] for i in range(n)]


def table(results: Dict[str, List[Result]]) -> str:
    lines = [
        "| speaker | n | distance dB | worst | floor dB | exact dB | level dB | step | click |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for speaker, rows in results.items():
        distances = [row.distance_db for row in rows]
        lines.append(
            f"| {speaker} | {len(rows)} | {np.mean(distances):.2f} | {max(distances):.2f} "
            f"| {np.mean([r.floor_db for r in rows]):.2f} "
            f"| {np.mean([r.exact_db for r in rows]):.2f} "
            f"| {np.mean([r.level_db for r in rows]):+.2f} "
            f"| {max(r.step for r in rows):.2f} | {max(r.click for r in rows):.2f} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sentences", type=Path, nargs="?", default=DEFAULT_SENTENCES)
    parser.add_argument(
        "--model", type=Path, help="the published graph or a folder of its wheels; else fetched"
    )
    parser.add_argument("--per-speaker", type=int, default=6)
    parser.add_argument("--speaker", action="append", choices=SPEAKERS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(published_model(arguments.model, Path(folder)))
    results: Dict[str, List[Result]] = {}
    for speaker in arguments.speaker or SPEAKERS:
        chosen = material(arguments.sentences, speaker, arguments.per_speaker)
        results[speaker] = [
            comparison.run(speaker, phonemes, SPEEDS[i % len(SPEEDS)])
            for i, phonemes in enumerate(chosen)
        ]
        print(f"{speaker} done", file=sys.stderr, flush=True)
    print(table(results))
    means = {s: float(np.mean([r.distance_db for r in rows])) for s, rows in results.items()}
    worst = max(max(r.step, r.click) for rows in results.values() for r in rows)
    is_held = max(means.values()) <= MAX_DISTANCE_DB and worst <= MAX_JOIN
    print(
        f"streaming quality: worst speaker {max(means.values()):.2f} dB of {MAX_DISTANCE_DB}, "
        f"worst join {worst:.2f} of {MAX_JOIN}, load {os.getloadavg()[0]:.1f} "
        f"{'ok' if is_held else 'SHORT'}"
    )
    return 0 if is_held else 1


if __name__ == "__main__":
    sys.exit(main())
