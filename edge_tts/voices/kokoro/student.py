"""The fast generator: a distilled streaming network in place of Kokoro's own.

Trained by `edge_tts.build.fast_voice`, whose `export` describes the two graphs. Nothing in it
normalises over time and every convolution carries its state, so windows join exactly.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, Mapping, Sequence, Tuple

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.voices.kokoro.generator import Acoustics, check_samples
from edge_tts.voices.kokoro.pulse_train import FRAME_SAMPLES, PulseTrain
from edge_tts.voices.kokoro.silence import LEAD_FRAMES, TAIL_FRAMES, speech

LOOK_AHEAD_FRAMES = 4
"""The network speaks of the frame it was given so many frames ago; StudentConfig.look_ahead."""

WARM_UP_FRAMES = 16
"""Frames before the speech that settle the states; training discounts the first eight."""

WINDOW_FRAMES = (20, 24, 32, 48, 80)
HOP_SAMPLES, FFT_SIZE = 150, 600
_OVERLAP = FFT_SIZE - HOP_SAMPLES
_NOISE_SEED = 1


class StudentGenerator:
    """Renders an utterance window by window at a fraction of the teacher's cost."""

    def __init__(
        self, engine: Engine, conditioning: Engine, state_shapes: Mapping[str, Sequence[int]]
    ) -> None:
        """`state_shapes`: the graph's inputs `state_…`, zero before an utterance."""
        self._engine = engine
        self._conditioning = conditioning
        self._state_shapes = state_shapes

    def run(self, acoustics: Acoustics) -> Iterator["np.ndarray"]:
        """Yield the speech as float32 pieces at 24 kHz. Raises EngineError."""
        begin, end = speech(acoustics.energy, LEAD_FRAMES, TAIL_FRAMES)
        first = max(0, begin - WARM_UP_FRAMES)
        unwanted = (begin - first + LOOK_AHEAD_FRAMES) * FRAME_SAMPLES + _OVERLAP // 2
        wanted = (end - begin) * FRAME_SAMPLES
        for samples in self._samples(acoustics, first, end + LOOK_AHEAD_FRAMES + 1):
            piece = samples[unwanted : unwanted + wanted]
            unwanted = max(0, unwanted - len(samples))
            wanted -= len(piece)
            if len(piece):
                yield piece

    def close(self) -> None:
        """Release the engines."""
        self._engine.close()
        self._conditioning.close()

    def _samples(self, acoustics: Acoustics, first: int, last: int) -> Iterator["np.ndarray"]:
        """All samples of frames `first` to `last`, from `_OVERLAP` / 2 + look-ahead before them."""
        pulses = PulseTrain(acoustics.f0_hz)
        noise = np.random.default_rng(_NOISE_SEED)
        condition = self._condition(acoustics)
        states = {name: np.zeros(shape, np.float32) for name, shape in self._state_shapes.items()}
        tail = np.zeros(_OVERLAP, np.float32)
        for start, stop in _windows(first, last):
            n_sub_frames = (stop - start) * FRAME_SAMPLES // HOP_SAMPLES
            noise_shape = (1, 2 * (FFT_SIZE // 2 + 1), n_sub_frames)
            inputs = {
                **_frames(acoustics, start, stop),
                "condition": condition,
                "source": _source(pulses, start - LOOK_AHEAD_FRAMES, stop - LOOK_AHEAD_FRAMES),
                "noise": noise.standard_normal(noise_shape, dtype=np.float32),
                **states,
            }
            outputs = self._engine.run(inputs)
            states = {name: outputs[f"next_{name}"] for name in states}
            audio = outputs["audio"].ravel()
            check_samples(audio)
            audio[:_OVERLAP] += tail
            yield audio[:-_OVERLAP]
            tail = audio[-_OVERLAP:]

    def _condition(self, acoustics: Acoustics) -> "np.ndarray":
        """What colours the whole utterance: its style, and its features pooled over time."""
        features = acoustics.features[0]
        pool = np.concatenate([features.mean(axis=1), features.std(axis=1)])[None]
        outputs = self._conditioning.run({"style": acoustics.style, "pool": pool})
        return outputs["condition"]


def _windows(first: int, last: int) -> Iterator[Tuple[int, int]]:
    n_windows = 0
    while first < last:
        stop = min(last, first + WINDOW_FRAMES[min(n_windows, len(WINDOW_FRAMES) - 1)])
        yield first, stop
        first, n_windows = stop, n_windows + 1


def _frames(acoustics: Acoustics, start: int, stop: int) -> Dict[str, "np.ndarray"]:
    """Inputs of frames `start` to `stop`; beyond the end of the utterance they are zero."""
    arrays = {
        "x": acoustics.features,
        "f0": acoustics.f0_hz[None],
        "energy": acoustics.energy[None],
    }
    missing = max(0, stop - len(acoustics.energy))
    frames: Dict[str, "np.ndarray"] = {}
    for name, array in arrays.items():
        margin: List[Tuple[int, int]] = [(0, 0)] * (array.ndim - 1) + [(0, missing)]
        frames[name] = np.pad(array[..., start:stop], margin)
    return frames


def _source(pulses: PulseTrain, start: int, stop: int) -> "np.ndarray":
    """Excitation of the frames produced and half an overlap around; silent outside the speech."""
    margin = _OVERLAP // 2
    begin, end = max(0, start - 1), min(pulses.n_frames, stop + 1)
    samples = pulses.window(begin, end) if begin < end else np.zeros(0, np.float32)
    wanted = np.arange(start * FRAME_SAMPLES - margin, stop * FRAME_SAMPLES + margin)
    at = wanted - begin * FRAME_SAMPLES
    inside = (at >= 0) & (at < len(samples))
    result = np.zeros((1, len(wanted)), np.float32)
    result[0, inside] = samples[at[inside]]
    return result
