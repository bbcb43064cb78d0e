"""From phoneme ids to acoustic features: Kokoro's encoder, prosody and decoder parts."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from edge_tts.errors import EngineError
from edge_tts.runtime.engine import Engine
from edge_tts.voices.kokoro.generator import Acoustics
from edge_tts.voices.kokoro.silence import MIN_FRAMES

PAD_ID = 0
FRAME_S = 0.025
_MAX_TOKEN_S = 0.5
_MAX_PADDING_S = 3.0


class AcousticModel:
    """Runs the parts of Kokoro that come before the generator, over whole utterances."""

    def __init__(self, encoder: Engine, prosody: Engine, decoder: Engine) -> None:
        self._encoder = encoder
        self._prosody = prosody
        self._decoder = decoder

    def run(self, ids: Sequence[int], style: "np.ndarray", speed: float) -> Acoustics:
        """Features of an utterance of `ids` (padding not included) at `speed`.

        Raises EngineError, also when the model wants an implausibly long utterance.
        """
        tokens = np.array([[PAD_ID, *ids, PAD_ID]], np.int64)
        encoded = self._encoder.run({"tokens": tokens, "style": style})
        frames = frames_per_token(encoded["durations"].ravel(), speed)
        _check_length(frames, speed)
        index: np.ndarray = np.repeat(np.arange(len(frames)), frames)
        frame_prosody = encoded["token_prosody"][:, index].transpose(0, 2, 1)
        curves = self._prosody.run(
            {"frame_prosody": np.ascontiguousarray(frame_prosody), "style": style}
        )
        decoded = self._decoder.run(
            {
                "frame_text": np.ascontiguousarray(encoded["token_text"][:, :, index]),
                "f0": curves["f0"],
                "energy": curves["energy"],
                "style": style,
            }
        )
        return Acoustics(
            features=decoded["features"],
            f0_hz=curves["f0"].ravel(),
            energy=curves["energy"].ravel(),
            style=style,
        )

    def close(self) -> None:
        """Release the engines."""
        for engine in (self._encoder, self._prosody, self._decoder):
            engine.close()


def frames_per_token(durations: "np.ndarray", speed: float) -> "np.ndarray":
    """Whole frames (40 Hz) of each token, at least one, from the model's durations at speed 1.

    The padding tokens at either end are not scaled: stretched, they turn into a phantom vowel.
    """
    scaled = durations / speed
    scaled[[0, -1]] = durations[[0, -1]]
    frames: np.ndarray = np.maximum(1, np.round(scaled)).astype(np.int64)
    frames[-1] += max(0, MIN_FRAMES // 2 - int(frames.sum()))
    return frames


def _check_length(frames: "np.ndarray", speed: float) -> None:
    length_s = float(frames.sum()) * FRAME_S
    limit_s = _MAX_PADDING_S + _MAX_TOKEN_S * len(frames) / speed
    if length_s > limit_s:
        raise EngineError(
            f"the voice wants {length_s:.1f} s for {len(frames)} phonemes; verify the voice",
            code="engine.output_invalid",
        )
