#!/usr/bin/env python3
"""Full-size CosyVoice with random weights: our voice beside the official modules.

    bench/cosyvoice_full.py {v1,v2} [--work DIR] [--precisions small,fast] [--threads 2]
                            [--rounds 1] [--quick]

Makes a checkpoint of the published sizes (3 GB, once), builds it with `edge-tts build` at each
precision (once), and speaks one sentence of 15 characters and a fixed number of tokens in fresh
processes pinned to `--threads` CPUs: ours at each precision, with fewer flow steps and without
guidance, and the modules of the PyPI package cosyvoice2-eu. Both compute the sentence in one piece,
at the same number of flow steps; the time to the first sound is measured on a streamed one. Times
are compared as CPU time. Everything slow is kept in `--work` and taken up again after an
interruption. Needs torch; ends with one line of figures and exits 1 when a limit is missed.
`--quick` measures the first precision and the peer only, on a sentence of four characters.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from cosyvoice_full_checkpoint import write_checkpoint

ROOT = Path(__file__).resolve().parents[1]
TEXT, SHORT = "请系好安全带，前方路口向右转。", "向右转。"
RUN_TIMEOUT_S = 1800
MAX_PEAK_MIB = {"v1": 900.0, "v2": 1000.0}
MAX_LOAD_S = 5.0
MAX_PLAN_ERROR = 0.1
MIN_TOKEN_RATIO, MIN_TOTAL_RATIO = 3.0, 2.0
PRECISIONS = ("small", "fast")
COLUMNS = (
    ("load s", "load_s", ".1f"),
    ("token CPU ms", "token_cpu_ms", ".1f"),
    ("flow CPU s/s", "flow_per_s", ".2f"),
    ("vocoder CPU s/s", "vocoder_per_s", ".2f"),
    ("whole CPU s", "cpu_s", ".2f"),
    ("whole s", "total_s", ".2f"),
    ("RTF", "rtf", ".2f"),
    ("first audio s", "first_s", ".2f"),
    ("CPU s", "first_cpu_s", ".2f"),
    ("streamed CPU s", "streamed_cpu_s", ".2f"),
    ("peak MiB", "peak_mib", ".0f"),
    ("planned MiB", "planned_mib", ".0f"),
    ("mel dB", "distance_db", ".2f"),
)
CHEAPER = {
    "5 steps": ["--steps", "5"],
    "no guidance": ["--guidance", "0"],
    "5 steps, no guidance": ["--steps", "5", "--guidance", "0"],
}

Runs = Dict[str, Dict[str, Any]]


def main() -> int:
    args = _arguments()
    bench = Bench(args.version, args.work.resolve(), args.threads, SHORT if args.quick else TEXT)
    precisions = args.precisions.split(",")[: 1 if args.quick else None]
    runs: Runs = {}
    for _ in range(args.rounds):
        for precision in precisions:
            keep_faster(runs, precision, bench.ours(precision))
        if not args.no_peer:
            keep_faster(runs, "official", bench.official())
    for precision in precisions:
        runs[precision]["planned_mib"] = bench.planned_mib(precision, runs[precision]["sound_s"])
        bench.add_distance(runs[precision], precision, precisions[0])
    for name, options in {} if args.quick else CHEAPER.items():
        runs[name] = bench.ours(precisions[0], name, ["--whole-only", *options])
        bench.add_distance(runs[name], name, precisions[0])
    show(runs)
    (bench.work / f"{args.version}.json").write_text(json.dumps(runs, indent=1), encoding="utf-8")
    return verdict(args.version, runs, precisions)


def keep_faster(runs: Runs, name: str, run: Dict[str, Any]) -> None:
    """Of several rounds the one that took the least CPU time stands for all."""
    if name not in runs or run["cpu_s"] < runs[name]["cpu_s"]:
        runs[name] = run


class Bench:
    """One checkpoint, its voices and its peer, measured in fresh processes."""

    def __init__(self, version: str, work: Path, n_threads: int, text: str) -> None:
        self.work = work
        self._version = version
        self._n_threads = n_threads
        self._text = text
        self._checkpoint = write_checkpoint(work / f"checkpoint-{version}", int(version[1]))

    def ours(self, precision: str, name: str = "", options: Sequence[str] = ()) -> Dict[str, Any]:
        """Figures of one voice; its sound is kept under `name`."""
        sound = self._sound(name or precision)
        worker = [_beside("cosyvoice_full_worker.py"), str(self._voice(precision))]
        return self._measured([*worker, "--sound", str(sound), *options])

    def official(self) -> Dict[str, Any]:
        """Figures of the official modules."""
        worker = [_beside("cosyvoice_full_peer.py"), str(self._checkpoint)]
        return self._measured([*worker, "--packages", str(self.work / "peer")])

    def planned_mib(self, precision: str, seconds: float) -> float:
        """The peak that `edge-tts plan` predicts."""
        from edge_tts.build.cosyvoice.precision import Precision
        from edge_tts.build.plan.checkpoint import voice_size
        from edge_tts.build.plan.resident import predict

        by_part = Precision.parse(precision).by_part
        return predict(voice_size(self._checkpoint), by_part, seconds).total

    def add_distance(self, run: Dict[str, Any], name: str, reference: str) -> None:
        """Distance of a sound from that of another precision for the same tokens."""
        import numpy as np

        from edge_tts.build.mel_distance import mel_distance_db

        full, other = (np.load(self._sound(one)) for one in (reference, name))
        if name != reference and len(full) == len(other):
            run["distance_db"] = mel_distance_db(full, other)

    def _voice(self, precision: str) -> Path:
        """The voice at `precision`, from the last start or by `edge-tts build`."""
        out = self.work / "voices" / f"{self._version}-{_file_name(precision)}"
        if not (out / "voice.yaml").is_file():
            command = [sys.executable, "-m", "edge_tts", "build", str(self._checkpoint)]
            options = ["--out", str(out), "--precision", precision]
            subprocess.run([*command, *options], check=True, env=environment())
        return out

    def _sound(self, name: str) -> Path:
        return self.work / f"{self._version}-{_file_name(name)}.npy"

    def _measured(self, command: List[str]) -> Dict[str, Any]:
        """Run a worker on as many CPUs as it has threads."""
        cpus = sorted(os.sched_getaffinity(0))[: self._n_threads]
        print(f"measuring {' '.join(command[1:])}", file=sys.stderr)
        done = subprocess.run(
            [sys.executable, *command, "--text", self._text, "--threads", str(self._n_threads)],
            stdout=subprocess.PIPE,
            check=True,
            timeout=RUN_TIMEOUT_S,
            env=environment(),
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )
        # Libraries may print; the figures are the last line.
        figures: Dict[str, Any] = json.loads(done.stdout.decode("utf-8").splitlines()[-1])
        return figures


def show(runs: Runs) -> None:
    """The table."""
    print("| | " + " | ".join(title for title, _, _ in COLUMNS) + " |")
    print("| --- |" + " ---: |" * len(COLUMNS))
    for name, run in runs.items():
        cells = [format(run[key], form) if key in run else "–" for _, key, form in COLUMNS]
        print(f"| {name} | " + " | ".join(cells) + " |")


def verdict(version: str, runs: Runs, precisions: Sequence[str]) -> int:
    """Print the closing line; 0 when every limit is kept."""
    mine, peer = runs[precisions[0]], runs.get("official")
    kept = [mine["peak_mib"] <= MAX_PEAK_MIB[version], mine["load_s"] <= MAX_LOAD_S]
    kept += [
        abs(runs[one]["planned_mib"] / runs[one]["peak_mib"] - 1) <= MAX_PLAN_ERROR
        for one in precisions
    ]
    line = (
        f"{version} {precisions[0]}: peak {mine['peak_mib']:.0f} MiB "
        f"(≤ {MAX_PEAK_MIB[version]:.0f}), load {mine['load_s']:.1f} s (≤ {MAX_LOAD_S:.0f}), "
        f"{mine['n_tokens']} tokens, first audio {mine['first_s']:.2f} s, RTF {mine['rtf']:.2f}"
    )
    if peer is not None:
        token = peer["token_cpu_ms"] / mine["token_cpu_ms"]
        total, wall = (
            peer[key] / mine[key] * mine["sound_s"] / peer["sound_s"]
            for key in ("cpu_s", "total_s")
        )
        kept += [token >= MIN_TOKEN_RATIO, total >= MIN_TOTAL_RATIO]
        line += (
            f"; CPU time against the official modules, both in one piece: token {token:.1f} × "
            f"(≥ {MIN_TOKEN_RATIO:g}), sentence {total:.1f} × (≥ {MIN_TOTAL_RATIO:g}; wall time "
            f"{wall:.1f} ×), their peak {peer['peak_mib']:.0f} MiB, load {peer['load_s']:.1f} s"
        )
    print(line)
    return 0 if all(kept) else 1


def environment() -> Dict[str, str]:
    """This process's, with the package; torch's threads sleep while they wait, as ours do.

    CPU time is what is compared: it leaves out other processes' turns on a shared machine, but
    would count a thread that waits in a loop.
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths), "OMP_WAIT_POLICY": "PASSIVE"}
    return {**os.environ, **own}


def _beside(name: str) -> str:
    return str(Path(__file__).with_name(name))


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name)


def _arguments(argv: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", choices=sorted(MAX_PEAK_MIB))
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "cosyvoice_full")
    parser.add_argument("--precisions", default=",".join(PRECISIONS), help="the first is judged")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1, help="ours and theirs in turns")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
