"""From speech tokens to mel: conditional flow matching (Lipman et al. 2023) with Euler steps."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Dict, Optional

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.voices.cosyvoice.progress import NOTHING, Progress, result_of
from edge_tts.voices.cosyvoice.settings import MEL_BANDS, Settings
from edge_tts.voices.cosyvoice.stretch import stretch

LOOKAHEAD_TOKENS = 3
CHUNK_TOKENS = 25
"""CosyVoice 2 was trained to see whole chunks of this many tokens when it streams."""


@dataclass(frozen=True)
class FlowPrompt:
    """Spoken example before the tokens: int [P] and float32 [frames, 80]."""

    tokens: "np.ndarray"
    mel: "np.ndarray"

    @classmethod
    def empty(cls) -> "FlowPrompt":
        """No example."""
        return cls(np.zeros(0, np.int32), np.zeros((0, MEL_BANDS), np.float32))


@dataclass(frozen=True)
class Start:
    """Where the flow starts: `mu` float32 [1, 80, T]; `visible` int32 [T] or None."""

    encoded: "np.ndarray"
    mu: "np.ndarray"
    visible: Optional["np.ndarray"]


class Flow(abc.ABC):
    """Encoder and estimator of one generation."""

    def __init__(self, encoder: Engine, estimator: Engine, settings: Settings) -> None:
        self._encoder = encoder
        self._estimator = estimator
        self._settings = settings

    @abc.abstractmethod
    def start(self, tokens: "np.ndarray", prompt: FlowPrompt) -> Start:
        """Encode prompt and tokens int [n]."""

    def mel(
        self, start: Start, prompt: FlowPrompt, speaker: "np.ndarray", noise: "np.ndarray"
    ) -> "np.ndarray":
        """Mel of prompt and tokens float32 [1, 80, T] from `noise` of that shape.

        `speaker` is float32 [1, 80].
        """
        return result_of(self.stepwise_mel(start, prompt, speaker, noise))

    def stepwise_mel(
        self, start: Start, prompt: FlowPrompt, speaker: "np.ndarray", noise: "np.ndarray"
    ) -> "Progress[np.ndarray]":
        """What `mel` returns, with a chance to stop after each Euler step."""
        cond: np.ndarray = np.zeros_like(start.mu)
        cond[0, :, : len(prompt.mel)] = prompt.mel.T
        guided = {"mu": start.mu, "speaker": speaker, "cond": cond}
        inputs = {key: self._batch(row, np.zeros_like(row)) for key, row in guided.items()}
        if start.visible is not None:
            inputs["visible"] = start.visible
        state: np.ndarray = noise
        times = time_steps(self._settings.n_steps)
        time = times[0]
        for following in times[1:]:
            step = following - time
            state = state + step * self._direction(state, time, inputs)
            time = time + step
            yield NOTHING
        return state

    def close(self) -> None:
        """Release both engines."""
        self._encoder.close()
        self._estimator.close()

    def _batch(self, guided: "np.ndarray", free: "np.ndarray") -> "np.ndarray":
        """Row 0 follows the condition, row 1 ignores it (classifier-free guidance, Ho 2022)."""
        return np.concatenate([guided, free]) if self._settings.guidance else guided

    def _direction(
        self, state: "np.ndarray", time: "np.float32", inputs: "Dict[str, np.ndarray]"
    ) -> "np.ndarray":
        states = self._batch(state, state)
        times: np.ndarray = np.full(len(states), time, np.float32)
        outputs = self._estimator.run({**inputs, "state": states, "time": times})
        directions = outputs["direction"]
        rate = np.float32(self._settings.guidance)
        if not rate:
            return directions
        guided: np.ndarray = (1 + rate) * directions[:1] - rate * directions[1:]
        return guided


class StretchingFlow(Flow):
    """CosyVoice 1: encode at the token rate, then stretch to mel frames."""

    def start(self, tokens: "np.ndarray", prompt: FlowPrompt) -> Start:
        """Encode everything with full attention; lengths follow from the token rate."""
        settings = self._settings
        frames_per_second = settings.sample_rate_hz / settings.samples_per_frame
        map_ = stretch(
            len(prompt.tokens),
            len(tokens),
            len(prompt.mel),
            settings.token_rate_hz,
            frames_per_second,
        )
        joined = np.concatenate([prompt.tokens, tokens]).astype(np.int32)
        outputs = self._encoder.run(
            {"tokens": joined, "left": map_.left, "right": map_.right, "share": map_.share}
        )
        return Start(outputs["encoded"], outputs["mu"], None)


class DoublingFlow(Flow):
    """CosyVoice 2: two mel frames per token, causal but for three tokens of lookahead."""

    def start(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        *,
        is_last: bool = True,
        in_chunks: bool = False,
    ) -> Start:
        """Encode everything; unless `is_last`, the last three tokens are only looked ahead at.

        `in_chunks` lets a position see no further than the end of its chunk, as streaming needs.
        """
        joined = np.concatenate([prompt.tokens, tokens]).astype(np.int32)
        if is_last:
            joined = np.concatenate([joined, np.zeros(LOOKAHEAD_TOKENS, np.int32)])
        n = len(joined) - LOOKAHEAD_TOKENS
        visible = visible_positions(n, CHUNK_TOKENS if in_chunks else n)
        outputs = self._encoder.run(
            {
                "tokens": joined,
                "has_context": np.array([0.0 if is_last else 1.0], np.float32),
                "visible": visible,
            }
        )
        return Start(outputs["encoded"], outputs["mu"], np.repeat(2 * visible, 2))


def visible_positions(n: int, chunk: int) -> "np.ndarray":
    """How many positions each of `n` may attend to when it sees up to the end of its chunk."""
    ends = (np.arange(n) // chunk + 1) * chunk
    limited: np.ndarray = np.minimum(ends, n).astype(np.int32)
    return limited


def time_steps(n_steps: int) -> "np.ndarray":
    """Times 0 … 1 of the Euler steps, denser at the beginning, float32 [n_steps + 1]."""
    even: np.ndarray = np.linspace(0, 1, n_steps + 1, dtype=np.float32)
    bent: np.ndarray = 1 - np.cos(even * np.float32(0.5 * np.pi))
    return bent.astype(np.float32)
