#!/usr/bin/env python3
"""Full-size CosyVoice with random weights: our voice beside the official modules.

    bench/cosyvoice_full.py {v1,v2} [--work DIR] [--precisions small,fast] [--threads 2] [--quick]

Makes a checkpoint of the published sizes (3 GB, once), builds it with `edge-tts build` at each
precision (once), and speaks one sentence of 15 characters and a fixed number of tokens in fresh
processes pinned to `--threads` CPUs: ours at each precision, with fewer flow steps and without
guidance, and the modules of the PyPI package cosyvoice2-eu. Everything slow is kept in `--work` and
taken up again after an interruption. Needs torch; ends with one line of figures and exits 1 when a
limit is missed. `--quick` measures `small` and the peer only, on a sentence of five characters.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

from cosyvoice_full_checkpoint import write_checkpoint

ROOT = Path(__file__).resolve().parents[1]
TEXT, SHORT_TEXT = "请系好安全带，前方路口向右转。", "向右转。"
RUN_TIMEOUT_S = 1800
MAX_PEAK_MIB = {"v1": 900.0, "v2": 1000.0}
MAX_LOAD_S = 5.0
MIN_TOKEN_RATIO, MIN_TOTAL_RATIO = 3.0, 2.0
PRECISIONS = ("small", "fast")
COLUMNS = (
    ("load s", "load_s", ".1f"),
    ("token ms", "token_ms", ".1f"),
    ("token CPU ms", "token_cpu_ms", ".1f"),
    ("flow s/s", "flow_per_s", ".2f"),
    ("vocoder s/s", "vocoder_per_s", ".2f"),
    ("first audio s", "first_s", ".2f"),
    ("total s", "total_s", ".2f"),
    ("CPU s", "cpu_s", ".2f"),
    ("RTF", "rtf", ".2f"),
    ("peak MiB", "peak_mib", ".0f"),
    ("mel dB", "distance_db", ".2f"),
)


def main() -> int:
    args = _arguments()
    work = args.work.resolve()
    checkpoint = write_checkpoint(work / f"checkpoint-{args.version}", int(args.version[1]))
    precisions = ["small"] if args.quick else args.precisions.split(",")
    runs: Dict[str, Dict[str, Any]] = {}
    for precision in precisions:
        voice = built(work, checkpoint, args.version, precision)
        runs[precision] = ours(args, voice, work / f"{args.version}-{precision}.npy", [])
    if not args.no_peer:
        runs["official"] = official(args, checkpoint)
    if not args.quick:
        fastest = built(work, checkpoint, args.version, precisions[0])
        for name, options in CHEAPER.items():
            runs[f"{precisions[0]}, {name}"] = ours(
                args, fastest, work / f"{args.version}-cheaper.npy", options
            )
            add_distance(runs[f"{precisions[0]}, {name}"], work, args.version, precisions[0])
    show(runs)
    (work / f"{args.version}.json").write_text(json.dumps(runs, indent=1), encoding="utf-8")
    return verdict(args.version, runs, precisions[0])


CHEAPER = {
    "5 steps": ["--steps", "5"],
    "no guidance": ["--guidance", "0"],
    "5 steps, no guidance": ["--steps", "5", "--guidance", "0"],
}


def built(work: Path, checkpoint: Path, version: str, precision: str) -> Path:
    """The voice at `precision`, from the last start or by `edge-tts build`."""
    out = work / "voices" / f"{version}-{precision.replace('=', '-').replace(',', '_')}"
    if not (out / "voice.yaml").is_file():
        command = [sys.executable, "-m", "edge_tts", "build", str(checkpoint), "--out", str(out)]
        subprocess.run([*command, "--precision", precision], check=True, env=environment())
    return out


def ours(args: argparse.Namespace, voice: Path, sound: Path, options: List[str]) -> Dict[str, Any]:
    """Figures of one voice in a fresh process."""
    worker = Path(__file__).with_name("cosyvoice_full_worker.py")
    return measured(args, [str(worker), str(voice), "--sound", str(sound), *options])


def official(args: argparse.Namespace, checkpoint: Path) -> Dict[str, Any]:
    """Figures of the official modules in a fresh process."""
    worker = Path(__file__).with_name("cosyvoice_full_peer.py")
    packages = args.work.resolve() / "peer"
    return measured(args, [str(worker), str(checkpoint), "--packages", str(packages)])


def measured(args: argparse.Namespace, command: List[str]) -> Dict[str, Any]:
    """Run a worker on as many CPUs as it has threads."""
    cpus = sorted(os.sched_getaffinity(0))[: args.threads]
    text = SHORT_TEXT if args.quick else TEXT
    print(f"measuring {' '.join(command[:1])} {Path(command[1]).name}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, *command, "--text", text, "--threads", str(args.threads)],
        stdout=subprocess.PIPE,
        check=True,
        timeout=RUN_TIMEOUT_S,
        env=environment(),
        preexec_fn=lambda: os.sched_setaffinity(0, cpus),
    )
    # Libraries may print; the figures are the last line.
    figures: Dict[str, Any] = json.loads(done.stdout.decode("utf-8").splitlines()[-1])
    return figures


def add_distance(run: Dict[str, Any], work: Path, version: str, precision: str) -> None:
    """Distance of the cheaper sound from the same tokens' full sound."""
    import numpy as np

    from edge_tts.build.mel_distance import mel_distance_db

    full = np.load(work / f"{version}-{precision}.npy")
    cheap = np.load(work / f"{version}-cheaper.npy")
    n = min(len(full), len(cheap))
    run["distance_db"] = mel_distance_db(full[:n], cheap[:n])


def show(runs: Dict[str, Dict[str, Any]]) -> None:
    """The table."""
    print("| | " + " | ".join(title for title, _, _ in COLUMNS) + " |")
    print("| --- |" + " ---: |" * len(COLUMNS))
    for name, run in runs.items():
        cells = [format(run[key], form) if key in run else "–" for _, key, form in COLUMNS]
        print(f"| {name} | " + " | ".join(cells) + " |")


def verdict(version: str, runs: Dict[str, Dict[str, Any]], precision: str) -> int:
    """Print the closing line; 0 when every limit is kept."""
    mine, peer = runs[precision], runs.get("official")
    kept = [mine["peak_mib"] <= MAX_PEAK_MIB[version], mine["load_s"] <= MAX_LOAD_S]
    line = (
        f"{version} {precision}: peak {mine['peak_mib']:.0f} MiB (≤ {MAX_PEAK_MIB[version]:.0f}), "
        f"load {mine['load_s']:.1f} s (≤ {MAX_LOAD_S:.0f}), {mine['n_tokens']} tokens, "
        f"first audio {mine['first_s']:.2f} s, RTF {mine['rtf']:.2f}"
    )
    if peer is not None:
        # CPU time: other processes' turns on a shared machine are in the wall time of both.
        token = peer["token_cpu_ms"] / mine["token_cpu_ms"]
        total = peer["cpu_s"] / mine["cpu_s"] * mine["sound_s"] / peer["sound_s"]
        kept += [token >= MIN_TOKEN_RATIO, total >= MIN_TOTAL_RATIO]
        line += (
            f"; CPU time against the official modules: token {token:.1f} × "
            f"(≥ {MIN_TOKEN_RATIO:g}), sentence {total:.1f} × (≥ {MIN_TOTAL_RATIO:g}), "
            f"their peak {peer['peak_mib']:.0f} MiB, load {peer['load_s']:.1f} s"
        )
    print(line)
    return 0 if all(kept) else 1


def environment() -> Dict[str, str]:
    """This process's, with the package and one arithmetic library thread per `--threads` CPU."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _arguments(argv: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", choices=sorted(MAX_PEAK_MIB))
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "cosyvoice_full")
    parser.add_argument("--precisions", default=",".join(PRECISIONS), help="the first is judged")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
