"""How well a speech judge understands a voice before and after.

A judge is a folder with a program `judge`. `judge --sentences TSV --dir WAVS --out JSON` listens
to WAVS/<id>.wav for every row of the table and writes an object whose `means` hold, by language,
the error rate `er`: of words in English, of characters in Chinese, of both where they mix.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Sequence, Tuple

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.file_sink import WavSink
from edge_tts.build.quantisation.sentences import COLUMNS, LANGUAGES, Sentence
from edge_tts.build.quantisation.speaking import Speech
from edge_tts.errors import InputError

TIMEOUT_S = 3600.0


@dataclass(frozen=True)
class Understanding:
    """Mean error rate of a language's sentences, before and after."""

    lang: str
    n_sentences: int
    before: float
    after: float

    def line(self) -> str:
        """For people to read."""
        return (
            f"{self.lang}: error rate {self.before:.3f} → {self.after:.3f} "
            f"in {self.n_sentences} sentences"
        )


def compare(
    judge: Path, sentences: Sequence[Sentence], before: Speech, after: Speech
) -> Tuple[Understanding, ...]:
    """Have both judged; their sounds are those of `sentences`.

    Raises InputError when there is no judge or when it fails.
    """
    program = judge / "judge"
    if not program.is_file():
        raise InputError(f"{judge} holds no program 'judge'; give the folder of a speech judge")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        table = folder / "sentences.tsv"
        _write_table(table, sentences)
        rates = [
            _judged(program, table, sentences, speech, folder / name)
            for name, speech in (("before", before), ("after", after))
        ]
    n = {lang: sum(sentence.lang == lang for sentence in sentences) for lang in LANGUAGES}
    return tuple(
        Understanding(lang, n[lang], rates[0][lang], rates[1][lang])
        for lang in LANGUAGES
        if n[lang]
    )


def _write_table(path: Path, sentences: Sequence[Sentence]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(
            file, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n"
        )
        writer.writerow(COLUMNS)
        writer.writerows([getattr(sentence, each) for each in COLUMNS] for sentence in sentences)


def _judged(
    program: Path, table: Path, sentences: Sequence[Sentence], speech: Speech, folder: Path
) -> Dict[str, float]:
    """Error rate by language."""
    folder.mkdir()
    for sentence, samples in zip(sentences, speech.sounds):
        with WavSink(folder / f"{sentence.id}.wav", speech.sample_rate_hz) as sink:
            sink.write(AudioChunk(samples, speech.sample_rate_hz, 0, 0, True))
    report = folder / "judge.json"
    command = [program, "--sentences", table, "--dir", folder, "--out", report]
    _run([str(word) for word in command])
    try:
        means = json.loads(report.read_text(encoding="utf-8"))["means"]
        rates = {lang: float(means[lang]["er"]) for lang in {each.lang for each in sentences}}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{program} wrote no error rates that can be read ({error!r}); see docs/quantize.md"
        ) from error
    if not all(map(math.isfinite, rates.values())):
        raise InputError(f"{program} found error rates that are not numbers")
    return rates


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"the judge could not be run: {error}") from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise InputError(f"{command[0]} failed with {done.returncode}: {lines[-1]}")
