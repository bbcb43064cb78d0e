"""A page of one training run: the curve, and samples of student and teacher side by side.

    python -m edge_tts.build.fast_voice.page DATA RUN

Writes RUN/page/index.html with its plots and WAV files; opens without a network.
"""

from __future__ import annotations

import argparse
import html
import json
import sys
from pathlib import Path
from typing import Dict, List, Sequence

import numpy as np

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.sink import WavSink
from edge_tts.build.fast_voice.dataset import Dataset, Utterance
from edge_tts.build.fast_voice.export import load_student
from edge_tts.build.fast_voice.losses import MEL_FFT, mel_filters
from edge_tts.build.fast_voice.model import SAMPLE_RATE_HZ
from edge_tts.build.fast_voice.train import render

SAMPLES_PER_SPEAKER = 2


def read_history(run: Path) -> List[Dict[str, float]]:
    """The run's curve, one entry per checkpoint."""
    lines = (run / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def plot_curve(history: Sequence[Dict[str, float]], path: Path) -> None:
    """Distance to the teacher over steps, on training windows and on held-out speech."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    axes = figure.subplots()
    steps = [entry["step"] for entry in history]
    axes.plot(steps, [entry["mel_db"] for entry in history], label="training windows")
    axes.plot(steps, [entry["validation_mel_db"] for entry in history], label="held-out, voiced")
    axes.set(xlabel="step", ylabel="log-mel distance (dB)")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def plot_mels(pair: Sequence[np.ndarray], path: Path) -> None:
    """Log-mel spectrograms of teacher and student, one above the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    for axes, samples, title in zip(figure.subplots(2, 1), pair, ("teacher", "student")):
        axes.imshow(log_mel(samples), origin="lower", aspect="auto", vmin=-3, vmax=1.5)
        axes.set(title=title, xticks=[], yticks=[])
    figure.savefig(path, dpi=80)


def log_mel(samples: np.ndarray) -> np.ndarray:
    """[samples] → log10 mel magnitudes [n_mels, frames]."""
    padded = np.pad(samples, MEL_FFT // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, MEL_FFT)[:: MEL_FFT // 4]
    magnitude = np.abs(np.fft.rfft(frames * np.hanning(MEL_FFT), axis=1))
    mel: np.ndarray = np.log10(np.maximum(magnitude @ mel_filters(), 1e-3)).T
    return mel


def choose(utterances: Sequence[Utterance]) -> List[Utterance]:
    """The first held-out utterances of every speaker."""
    chosen: Dict[str, List[Utterance]] = {}
    for utterance in utterances:
        of_speaker = chosen.setdefault(utterance.speaker, [])
        if len(of_speaker) < SAMPLES_PER_SPEAKER:
            of_speaker.append(utterance)
    return [utterance for speaker in sorted(chosen) for utterance in chosen[speaker]]


def write_wav(samples: np.ndarray, path: Path) -> None:
    """16 bit mono WAV."""
    with WavSink(path, SAMPLE_RATE_HZ) as sink:
        sink.write(AudioChunk(samples, SAMPLE_RATE_HZ, 0, 0, True))


def write_page(data: Path, run: Path) -> Path:
    """Render the samples and write everything; returns the page."""
    folder = run / "page"
    folder.mkdir(exist_ok=True)
    history = read_history(run)
    plot_curve(history, folder / "curve.png")
    student = load_student(run)
    rows = []
    for utterance in choose(Dataset(data).held_out):
        pair = [utterance.audio.numpy(), render(student, utterance).numpy()]
        plot_mels(pair, folder / f"{utterance.name}.png")
        for samples, who in zip(pair, ("teacher", "student")):
            write_wav(samples, folder / f"{utterance.name}-{who}.wav")
        rows.append(_row(utterance.name))
    page = folder / "index.html"
    page.write_text(_page(history[-1], rows), encoding="utf-8")
    return page


def _row(name: str) -> str:
    players = "".join(
        f"<p>{who}: <audio controls src='{html.escape(name)}-{who}.wav'></audio></p>"
        for who in ("teacher", "student")
    )
    return f"<h3>{html.escape(name)}</h3>{players}<img src='{html.escape(name)}.png' alt=''>"


def _page(last: Dict[str, float], rows: Sequence[str]) -> str:
    figures = ", ".join(f"{key} {value}" for key, value in last.items())
    return (
        "<!doctype html><meta charset='utf-8'><title>Fast voice: training run</title>"
        f"<h1>Fast voice: training run</h1><p>{html.escape(figures)}</p>"
        f"<img src='curve.png' alt='distance over steps'>{''.join(rows)}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the page of a training run.")
    parser.add_argument("data", type=Path, help="folder of teacher utterances")
    parser.add_argument("run", type=Path, help="folder of the run")
    arguments = parser.parse_args()
    sys.stdout.write(f"{write_page(arguments.data, arguments.run)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
