#!/usr/bin/env python3
"""From request to first sample in the warm service, per preset, and where the time goes.

    bench/first_sound.py [--preset P ...] [--rounds N] [--plot FILE.svg]

Every text is new, so that no cache answers. The service writes its sound to a file; the time is
that of the first sample's being there (`rendered_s` of `edge-started`). The stages are measured in
this process on the same kind of text. For other engines run `bench/peers.py --preset P`. Prints a
table and one line of figures per preset; exits 1 when `stream` misses its limits.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Tuple

import numpy as np
from running_service import RunningService

from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.voices import catalog
from edge_tts.voices.kokoro.speakers import StyleTables
from edge_tts.voices.kokoro.voice import KokoroVoice
from edge_tts.voices.voice import Preset

PLACES = "东南西北中江湖山海河桥城湾岭塔关"
SENTENCE = "前方两百米请向右转进入{0}{1}大街"
PARAGRAPH = (
    "各位旅客请注意，开往{0}{1}方向的列车即将进站，请站在黄色安全线以内等候。"
    "列车到站后请先下后上，照顾好老人和小孩，注意列车与站台之间的空隙。"
    "列车运行期间请坐稳扶好，需要帮助请联系工作人员，祝您旅途愉快平安。"
)
KINDS = {"15-character sentence": SENTENCE, "100-character paragraph": PARAGRAPH}
LIMITS_S = {"15-character sentence": (0.4, 0.55), "100-character paragraph": (0.45, float("inf"))}
SPEAKER = "zf_xiaobei"


def texts(template: str, n: int) -> Iterator[str]:
    """N texts that differ in two characters."""
    for i in range(n):
        yield template.format(PLACES[i % len(PLACES)], PLACES[(i // len(PLACES) + 7) % len(PLACES)])


def measure_service(preset: str, n_rounds: int) -> Dict[str, List[float]]:
    """Times to the first sample in seconds, by kind of text."""
    times: Dict[str, List[float]] = {kind: [] for kind in KINDS}
    environment = {**os.environ, "EDGE_TTS_PRESET": preset}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound = folder / "sound.pcm"
        running = RunningService(folder, environment=environment, output_file=sound)
        with running as service, service.client() as client:
            for kind, template in KINDS.items():
                for text in texts(template, n_rounds):
                    events = {event.type: event.data for event in client.speak(text)}
                    times[kind].append(float(events["edge-started"]["rendered_s"]))
    return times


def measure_stages(preset: str, n_rounds: int) -> Dict[str, float]:
    """Median seconds of each stage before the first sample of the sentence."""
    voice = catalog.load("kokoro", preset=Preset(preset))
    assert isinstance(voice, KokoroVoice)  # noqa: S101 - the default voice
    front_end = FrontEnd(Pronouncer(), voice.measure, voice.segment_limit)
    stages: Dict[str, List[float]] = {"text": [], "features": [], "first window": []}
    for text in texts(SENTENCE, n_rounds + 1):
        text_s, segment = _timed(lambda text=text: next(front_end.segments(text)))
        ids = voice._encode(segment.phonemes)
        style = StyleTables().row(SPEAKER, len(ids))
        features_s, acoustics = _timed(
            lambda ids=ids, style=style: voice._acoustic_model.run(ids, style, 1.0)
        )
        window_s, _ = _timed(lambda acoustics=acoustics: next(voice._generator.run(acoustics)))
        for name, spent_s in zip(stages, (text_s, features_s, window_s)):
            stages[name].append(spent_s)
    voice.close()
    # The first round pays for what is set up lazily.
    return {name: statistics.median(spent[1:]) for name, spent in stages.items()}


def _timed(work: "Callable[[], object]") -> "Tuple[float, object]":
    began_s = time.perf_counter()
    result = work()
    return time.perf_counter() - began_s, result


def p95(times_s: List[float]) -> float:
    return float(np.percentile(times_s, 95))


def plot(measured: Dict[str, Dict[str, List[float]]], path: Path) -> None:
    """One curve per preset and kind: the share of requests answered within a time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    axes = figure.add_subplot()
    for preset, kinds in measured.items():
        for kind, times_s in kinds.items():
            shares = np.arange(1, len(times_s) + 1) / len(times_s)
            axes.step(sorted(1000 * t for t in times_s), shares, label=f"{preset}, {kind}")
    axes.set(xlabel="request to first sample, ms", ylabel="share of requests", ylim=(0, 1))
    axes.legend()
    figure.savefig(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", action="append", choices=[p.value for p in Preset])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    measured, is_held = {}, True
    for preset in arguments.preset or [p.value for p in Preset]:
        measured[preset] = measure_service(preset, arguments.rounds)
        stages = measure_stages(preset, min(arguments.rounds, 10))
        figures = []
        for kind, times_s in measured[preset].items():
            median_s, late_s = statistics.median(times_s), p95(times_s)
            figures.append(f"{kind} p50 {1000 * median_s:.0f} p95 {1000 * late_s:.0f} ms")
            if preset == Preset.STREAM.value:
                limit_s, late_limit_s = LIMITS_S[kind]
                is_held = is_held and median_s <= limit_s and late_s <= late_limit_s
        split = ", ".join(f"{name} {1000 * spent_s:.0f} ms" for name, spent_s in stages.items())
        load = os.getloadavg()[0]
        print(
            f"first sound, {preset}: {'; '.join(figures)}; "
            f"sentence by stage: {split}; load {load:.1f}"
        )
    if arguments.plot:
        plot(measured, arguments.plot)
    return 0 if is_held else 1


if __name__ == "__main__":
    sys.exit(main())
