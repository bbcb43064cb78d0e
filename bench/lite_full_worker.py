"""One job of bench/lite_full.py in a process of its own.

`make`, `ready`, `ours`, `theirs`, or `sentences` (codes only). `ours` and `theirs` draw as many
codes with the checkpoint's sampling and turn them into sound, in chunks of 0.8 s (ours) or whole
(theirs, which cannot do otherwise). Prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, List

import numpy as np

if TYPE_CHECKING:
    from edge_tts.voices.lite.settings import CodecLayout
    from edge_tts.voices.lite.voice import LiteVoice

N_TEXT_IDS = 53
CHUNK_FRAMES, FIRST_CHUNK_FRAMES = 60, 30


def ready(path: Path, started: float) -> Dict[str, float]:
    """Seconds from the start of the process until the voice could speak, and CPU time of it."""
    opened(path)
    return {"ready_s": time.time() - started, "cpu_s": time.process_time()}


def sentences(path: Path, n_threads: int, n_frames: int, n: int, size: int) -> Dict[str, float]:
    """Draw `n` sentences of `n_frames`, `size` at a time. Seconds leave out the voice's opening."""
    from edge_tts.voices.lite.interleaving import begin, n_positions
    from edge_tts.voices.lite.sampling import Sampler

    voice = opened(path, n_threads)
    model, settings = voice._stages.model, voice._settings
    text_ids = np.random.RandomState(1).randint(8, 40, N_TEXT_IDS // 2)
    began_s = time.perf_counter()
    for first in range(0, n, size):
        samplers = [
            Sampler(settings.sampling, settings.codec, np.random.RandomState(i).random_sample)
            for i in range(first, first + size)
        ]
        if size == 1:
            for _ in model.generate(text_ids, samplers[0], n_frames, n_frames):
                pass
            continue
        drawings = [begin(settings.codec, sampler, n_frames, n_frames) for sampler in samplers]
        room = size * n_positions(settings.codec, n_frames)
        model.generate_together([text_ids] * size, drawings, room)
    total_s = time.perf_counter() - began_s
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"n": n, "total_s": total_s, "peak_mib": peak_mib}


def opened(path: Path, n_threads: int = 2) -> "LiteVoice":
    """The voice, its files checked."""
    from edge_tts.voices.lite.voice import LiteVoice
    from edge_tts.voices.manifest import VoiceDirectory

    return LiteVoice.load(VoiceDirectory.read(path), n_threads)


def ours(path: Path, n_frames: int, n_segments: int, started: float) -> Dict[str, float]:
    """The voice as it speaks, but for its limits: as many frames as asked for."""
    from edge_tts.voices.lite.sampling import Sampler

    voice = opened(path)
    ready_s = time.time() - started
    stages, settings = voice._stages, voice._settings
    text_ids = np.random.RandomState(1).randint(8, 40, N_TEXT_IDS)
    times = Times()
    for segment in range(n_segments):
        random = np.random.RandomState(segment)
        sampler = Sampler(settings.sampling, settings.codec, random.random_sample)
        stream, codes, wanted = stages.codec.stream(), [], FIRST_CHUNK_FRAMES
        for frame in stages.model.generate(text_ids, sampler, n_frames, n_frames):
            codes.append(frame)
            if len(codes) == wanted:
                times.decode(stream.decode, np.array(codes))
                codes, wanted = [], CHUNK_FRAMES
        if codes:
            times.decode(stream.decode, np.array(codes))
    return times.figures(ready_s, settings.codec, n_frames, n_segments)


def theirs(path: Path, n_frames: int, n_segments: int, started: float) -> Dict[str, float]:
    """`transformers` and the `encodec` package at fp32."""
    import torch
    from lite_checkpoints import FULL, decode, read_codec, read_t5
    from lite_reference import Reference

    from edge_tts.build.lite.config import read_config
    from edge_tts.build.lite.json_file import JsonFile
    from edge_tts.voices.lite.interleaving import frames
    from edge_tts.voices.lite.sampling import Sampler
    from edge_tts.voices.lite.settings import Sampling

    torch.set_num_threads(2)
    layout = read_config(JsonFile.read(path / "config.json")).codec
    reference, codec = Reference(read_t5(path), FULL, layout), read_codec(path, FULL)
    ready_s = time.time() - started
    sampling = Sampling(False, 0.9, 50, 0.9, 1.1, 0, 1.0)
    text_ids = np.random.RandomState(1).randint(8, 40, N_TEXT_IDS)

    def whole(codes: np.ndarray) -> np.ndarray:
        return decode(codec, torch.from_numpy(codes)).numpy()

    times = Times()
    for segment in range(n_segments):
        random = np.random.RandomState(segment)
        if layout.interleaving == "flat":
            uniforms = random.random_sample(n_frames * layout.n_codebooks)
            codes = reference.generate(text_ids, sampling, uniforms, n_frames)
        else:
            sampler = Sampler(sampling, layout, random.random_sample)
            step = reference.stepper(text_ids)
            codes = np.array(list(frames(layout, step, sampler, n_frames, n_frames)))
        times.decode(whole, codes)
    return times.figures(ready_s, layout, n_frames, n_segments)


class Times:
    """Where the time goes, from its making on."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._cpu_start = time.process_time()
        self._codec_s = 0.0
        self._first_s = 0.0
        self._n_samples = 0

    def decode(self, render: Callable[[np.ndarray], np.ndarray], codes: np.ndarray) -> None:
        """Time one run of the codec."""
        before = time.perf_counter()
        self._n_samples += len(render(codes))
        now = time.perf_counter()
        self._codec_s += now - before
        self._first_s = self._first_s or now - self._start

    def figures(
        self, ready_s: float, layout: "CodecLayout", n_frames: int, n: int
    ) -> Dict[str, float]:
        """Everything measured; memory in MiB."""
        total_s = time.perf_counter() - self._start
        return {
            "ready_s": ready_s,
            "first_s": self._first_s,
            "total_s": total_s,
            "codec_s": self._codec_s,
            "model_s": total_s - self._codec_s,
            "n_positions": n * n_frames * layout.positions_per_frame,
            "cpu_s": time.process_time() - self._cpu_start,
            "sound_s": self._n_samples / layout.sample_rate_hz,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def make(path: Path, interleaving: str) -> None:
    """Write the checkpoint."""
    from lite_checkpoints import FULL, write

    write(path, FULL, interleaving, "official")


def main(arguments: List[str]) -> int:
    """Do one job."""
    who, path = arguments[0], Path(arguments[1])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    if who == "make":
        make(path, arguments[2])
        return 0
    if who == "ready":
        print(json.dumps(ready(path, float(arguments[2]))))
        return 0
    if who == "sentences":
        print(json.dumps(sentences(path, *map(int, arguments[2:]))))
        return 0
    speak = {"ours": ours, "theirs": theirs}[who]
    numbers = (int(arguments[2]), int(arguments[3]), float(arguments[4]))
    print(json.dumps(speak(path, *numbers)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
