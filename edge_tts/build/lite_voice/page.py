"""A page of one run: both curves, and the samples that `evaluate` has written.

    python -m edge_tts.build.lite_voice.page RUN

Writes RUN/index.html and RUN/curve.svg; opens without a network.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import sys
from pathlib import Path
from typing import Any, Dict, List

from edge_tts.build.lite_voice.evaluate import KINDS
from edge_tts.build.lite_voice.train import CODEC, LANGUAGE_MODEL

CURVES = {
    CODEC: ("held_out_mel_db", "log-mel distance (dB)"),
    LANGUAGE_MODEL: ("held_out_nats", "nats per code"),
}


def read_history(path: Path) -> List[Dict[str, float]]:
    """A network's curve, one entry per report; empty before the first."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def plot_curves(histories: Dict[str, List[Dict[str, float]]], path: Path) -> None:
    """Both networks on held-out sentences over their steps."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, (network, (figure_name, label)) in zip(figure.subplots(1, 2), CURVES.items()):
        history = histories[network]
        steps = [entry["step"] for entry in history]
        axes.plot(steps, [entry[figure_name] for entry in history], label="held-out sentences")
        axes.set(title=network.replace("_", " "), xlabel="step", ylabel=label)
        axes.grid(alpha=0.3)
        axes.legend()
    # No date and no random ids, so that the same curve is the same file.
    with rc_context({"svg.hashsalt": path.name}):
        figure.savefig(path, metadata={"Date": None})


def write_page(run: Path) -> Path:
    """Write everything; returns the page."""
    histories = {network: read_history(run / f"{network}.jsonl") for network in CURVES}
    plot_curves(histories, run / "curve.svg")
    listed = run / "samples" / "sentences.tsv"
    with listed.open(encoding="utf-8", newline="") as file:
        rows = [_row(row) for row in csv.DictReader(file, delimiter="\t")]
    page = run / "index.html"
    page.write_text(_page(histories, rows), encoding="utf-8")
    return page


def _row(sentence: Dict[str, str]) -> str:
    players = "".join(
        f"<td><audio controls src='samples/{kind}/{html.escape(sentence['id'])}.wav'></audio></td>"
        for kind in KINDS
    )
    return f"<tr><td>{html.escape(sentence['text'])}</td>{players}</tr>"


def _page(histories: Dict[str, List[Dict[str, Any]]], rows: List[str]) -> str:
    last = "".join(
        f"<p>{network}: {html.escape(json.dumps(history[-1]))}</p>"
        for network, history in histories.items()
        if history
    )
    heads = "".join(f"<th>{kind}</th>" for kind in KINDS)
    return (
        "<!doctype html><meta charset='utf-8'><title>Lite voice: training run</title>"
        f"<h1>Lite voice: training run</h1>{last}<img src='curve.svg' alt='curves over steps'>"
        f"<table><tr><th>held-out sentence</th>{heads}</tr>{''.join(rows)}</table>"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the page of a run.")
    parser.add_argument("run", type=Path, help="folder of the run")
    sys.stdout.write(f"{write_page(parser.parse_args().run)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
