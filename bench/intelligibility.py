#!/usr/bin/env python3
"""Speak a list of sentences and have a speech judge score them.

    bench/intelligibility.py DIR_OF_JUDGE [SENTENCES.tsv] [--out DIR] [--speaker NAME] [--preset P]

`DIR_OF_JUDGE/judge --sentences TSV --dir OUT --out FILE` must write a JSON object with `means` per
language (`er` error rate, `ovrl` DNSMOS overall) and `rows` with `clicks`, `nan`, `clip_pct`,
`lead_ms` and `trail_ms`. The sentence list has the columns id, lang (en, zh, mix), text, spoken.
Prints a table, ends with one line of figures and exits 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

from edge_tts import Speaker
from edge_tts.voices.voice import DEFAULT_PRESET

DEFAULT_SENTENCES = Path(__file__).parent / "sentences.tsv"


@dataclass(frozen=True)
class Limit:
    """What a language's mean must reach."""

    max_error: float
    min_ovrl: Optional[float]


LIMITS = {
    "en": Limit(max_error=0.045, min_ovrl=3.35),
    "zh": Limit(max_error=0.095, min_ovrl=3.25),
    "mix": Limit(max_error=0.20, min_ovrl=None),
}


def read_sentences(path: Path) -> List[Dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def speak_all(sentences: List[Dict[str, str]], speaker: Speaker, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for n, row in enumerate(sentences, 1):
        speaker.save(row["text"], out / f"{row['id']}.wav")
        print(f"\r[{n}/{len(sentences)}] spoken", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def run_judge(judge: Path, sentences: Path, out: Path) -> Dict[str, Any]:
    report = out / "judge.json"
    command = [str(judge / "judge"), "--sentences", str(sentences), "--dir", str(out)]
    subprocess.run([*command, "--out", str(report)], check=True)
    result: Dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return result


def shortfalls(report: Dict[str, Any]) -> List[str]:
    missed = []
    for language, mean in report["means"].items():
        limit = LIMITS[language]
        if mean["er"] > limit.max_error:
            missed.append(f"{language} error {mean['er']:.3f} > {limit.max_error}")
        if limit.min_ovrl is not None and mean["ovrl"] < limit.min_ovrl:
            missed.append(f"{language} OVRL {mean['ovrl']:.2f} < {limit.min_ovrl}")
    return missed + signal_faults(report["rows"])


def signal_faults(rows: List[Dict[str, Any]]) -> List[str]:
    """Clicks, clipping, NaN and over-long edges, by the judge's own thresholds."""
    faults = []
    for row in rows:
        found = {
            "click": row.get("clicks", 0) > 0,
            "clip": row.get("clip_pct", 0.0) > 0.01,
            "NaN": row.get("nan", 0) > 0,
            "edge silence": row.get("lead_ms", 0) > 500 or row.get("trail_ms", 0) > 1000,
            "unreadable": "error" in row,
        }
        faults += [f"{row['id']} {name}" for name, bad in found.items() if bad]
    return faults


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge", type=Path, help="directory holding the judge")
    parser.add_argument("sentences", type=Path, nargs="?", default=DEFAULT_SENTENCES)
    parser.add_argument("--out", type=Path, help="keep the WAV files and the report here")
    parser.add_argument("--speaker", help="one speaker for every sentence")
    parser.add_argument("--preset", default=DEFAULT_PRESET.value, help="how sound is made")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    sentences = read_sentences(arguments.sentences)
    speaking = Speaker(speaker=arguments.speaker, preset=arguments.preset)
    with tempfile.TemporaryDirectory() as scratch, speaking as speaker:
        out = arguments.out or Path(scratch)
        speak_all(sentences, speaker, out)
        report = run_judge(arguments.judge, arguments.sentences, out)
    missed = shortfalls(report)
    for line in missed:
        print(f"short: {line}")
    figures = " ".join(
        f"{language}: error {mean['er']:.3f} OVRL {mean['ovrl']:.2f} n={mean['files']}"
        for language, mean in report["means"].items()
    )
    print(f"intelligibility: {figures} {'SHORT' if missed else 'ok'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
