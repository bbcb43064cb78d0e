"""Speak one sentence with a built voice in this fresh process; prints figures as JSON.

See cosyvoice_full.py. The sentence has a fixed number of speech tokens: the stop id wins as soon as
the voice allows it, which is at twice as many tokens as the text has ids.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, Dict, List

STOP_SCORE = 1e4
WARM_UP = "右转。"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("voice", type=Path)
    parser.add_argument("--text", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--steps", type=int, help="of the flow, instead of the voice's own")
    parser.add_argument("--guidance", type=float, help="of the flow, instead of the voice's own")
    parser.add_argument("--whole-only", action="store_true", help="do not stream as well")
    parser.add_argument("--sound", type=Path, help="keep the samples in this .npy file")
    args = parser.parse_args()
    json.dump(measure(args), sys.stdout)
    return 0


def measure(args: argparse.Namespace) -> Dict[str, Any]:
    """Load, warm up, and report on the sentence in one piece and then streamed."""
    began_s = time.perf_counter()
    from edge_tts.voices.cosyvoice.voice import CosyVoice
    from edge_tts.voices.manifest import VoiceDirectory
    from edge_tts.voices.voice import Preset

    began_cpu_s = time.process_time()
    directory = VoiceDirectory.read(args.voice)
    voice = CosyVoice.load(directory, args.threads, Preset.EXACT)
    load_s, load_cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    runs = watch(voice, args)
    speak(voice, WARM_UP)
    runs.clear()
    whole = speak(voice, args.text)
    samples = whole.pop("samples")
    if args.sound:
        import numpy as np

        np.save(args.sound, samples)
    figures = {
        **whole,
        **by_part(runs, whole["sound_s"]),
        "load_s": load_s,
        "load_cpu_s": load_cpu_s,
        "whole_peak_mib": status_mib("VmHWM"),
    }
    if not args.whole_only:
        voice._is_whole = False
        streamed = speak(voice, args.text)
        figures.update(
            first_s=streamed["first_s"],
            first_cpu_s=streamed["first_cpu_s"],
            streamed_cpu_s=streamed["cpu_s"],
        )
    return {**figures, "peak_mib": status_mib("VmHWM")}


def by_part(runs: Dict[str, List[float]], sound_s: float) -> Dict[str, Any]:
    """Figures of the engines; times of the flow and the vocoder are CPU seconds."""
    flow_s = sum(runs["flow_encoder cpu"]) + sum(runs["estimator cpu"])
    return {
        "n_tokens": len(runs["lm"]),
        "token_ms": 1000 * median(runs["lm"]),
        "token_cpu_ms": 1000 * median(runs["lm cpu"]),
        "flow_per_s": flow_s / sound_s,
        "vocoder_per_s": (sum(runs["f0 cpu"]) + sum(runs["vocoder cpu"])) / sound_s,
    }


def watch(voice: Any, args: argparse.Namespace) -> Dict[str, List[float]]:
    """Seconds of every engine run by part, from now on; makes the stop id win."""
    from edge_tts.runtime.onnx import OnnxEngine

    run, seconds, settings = OnnxEngine.run, collections.defaultdict(list), voice._settings
    object.__setattr__(settings, "n_steps", args.steps or settings.n_steps)
    if args.guidance is not None:
        object.__setattr__(settings, "guidance", args.guidance)

    def timed(engine: OnnxEngine, inputs: Any) -> Any:
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        outputs = run(engine, inputs)
        part = engine._path.stem
        if part == "lm" and len(inputs["x"]) > 1:
            part = "lm prefix"
        seconds[part].append(time.perf_counter() - began_s)
        seconds[f"{part} cpu"].append(time.process_time() - began_cpu_s)
        if "logits" in outputs:
            outputs["logits"][settings.n_speech_tokens] += STOP_SCORE
            outputs["logits"][settings.n_speech_tokens + 1 :] -= STOP_SCORE
        return outputs

    OnnxEngine.run = timed
    return seconds


def speak(voice: Any, text: str) -> Dict[str, Any]:
    """Times of one utterance."""
    import numpy as np

    from edge_tts.text.frontend import FrontEnd

    speaker, pieces = voice.info.speakers[0], []
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    first_s = first_cpu_s = 0.0
    for segment in FrontEnd(None, voice.measure, voice.segment_limit).segments(text):
        for piece in voice.synthesize(segment, speaker, 1.0):
            if len(piece) and not first_s:
                first_s = time.perf_counter() - began_s
                first_cpu_s = time.process_time() - began_cpu_s
            pieces.append(piece)
    total_s = time.perf_counter() - began_s
    samples = np.concatenate(pieces)
    sound_s = len(samples) / voice.info.sample_rate_hz
    return {
        "samples": samples,
        "sound_s": sound_s,
        "first_s": first_s,
        "first_cpu_s": first_cpu_s,
        "total_s": total_s,
        "rtf": total_s / sound_s,
        "cpu_s": time.process_time() - began_cpu_s,
    }


def status_mib(key: str) -> float:
    """A size of this process by the kernel's own mark."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"/proc/self/status has no {key}; this bench runs on Linux")


if __name__ == "__main__":
    sys.exit(main())
