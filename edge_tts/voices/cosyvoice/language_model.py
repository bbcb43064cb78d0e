"""The loop that turns a prefix of embeddings into speech tokens, one engine run per token."""

from __future__ import annotations

from typing import Iterator, List, NamedTuple, Optional

import numpy as np

from edge_tts.errors import InputError
from edge_tts.runtime.engine import Engine
from edge_tts.voices.cosyvoice.sampling import Sampler, log_softmax
from edge_tts.voices.cosyvoice.settings import Settings


class Step(NamedTuple):
    """One run of the model: `hidden` float32 [n, width], `logits` float32 [ids] of the last row."""

    hidden: "np.ndarray"
    logits: "np.ndarray"


class Memory:
    """Keys and values of the positions so far, in one block that never moves.

    Positions come first, so that the used part is contiguous and is given to the engine without a
    copy. Pages are taken from the system as they are filled.
    """

    def __init__(self, settings: Settings, n_positions: int) -> None:
        shape = (n_positions, settings.n_layers, 2, settings.n_heads, settings.head_size)
        self._block: np.ndarray = np.empty(shape, np.float32)
        self._used = 0

    @property
    def used(self) -> "np.ndarray":
        """The filled positions, float32 [m, layers, 2, heads, size]."""
        filled: np.ndarray = self._block[: self._used]
        return filled

    def append(self, new: "np.ndarray") -> None:
        """Add positions; the caller has made sure that they fit."""
        end = self._used + len(new)
        self._block[self._used : end] = new
        self._used = end


class LanguageModel:
    """Speech tokens from a prefix, with a cache that lives as long as one utterance."""

    def __init__(
        self,
        engine: Engine,
        speech_embeddings: "np.ndarray",
        positions: Optional["np.ndarray"],
        settings: Settings,
    ) -> None:
        """`positions`: float32 [max, layers, width], CosyVoice 1's distance codes; else None."""
        self._engine = engine
        self._embeddings = speech_embeddings
        self._positions = positions
        self._settings = settings

    def embed(self, tokens: "np.ndarray") -> "np.ndarray":
        """Rows of the speech embedding for int [n]."""
        rows: np.ndarray = np.asarray(self._embeddings[tokens])
        return rows

    def step(self, x: "np.ndarray", memory: Memory) -> Step:
        """Run positions float32 [n, width] after those in `memory` and remember them."""
        inputs = {"x": x, "cache": memory.used}
        if self._positions is not None:
            inputs["positions"] = self._positions[: len(memory.used) + len(x)]
        outputs = self._engine.run(inputs)
        memory.append(outputs["new_cache"])
        return Step(outputs["hidden"], outputs["logits"])

    def generate(
        self, prefix: "np.ndarray", sampler: Sampler, min_tokens: int, max_tokens: int
    ) -> Iterator[int]:
        """Yield tokens until a stop id or `max_tokens`; the stop id itself is not yielded.

        Raises InputError when prefix and tokens do not fit the model.
        """
        n_positions = len(prefix) + max_tokens
        if n_positions > self._settings.max_positions:
            raise InputError(
                f"a segment needs {n_positions} positions of the language model, which has "
                f"{self._settings.max_positions}; shorten the text or the speaker's prompt",
                code="input.segment_too_long",
            )
        memory = Memory(self._settings, n_positions)
        logits = self.step(prefix, memory).logits
        history: List[int] = []
        while len(history) < max_tokens:
            scores = log_softmax(logits)
            if len(history) < min_tokens:
                scores[self._settings.n_speech_tokens] = -np.inf
            token = sampler.draw(scores, history)
            if token in self._settings.stop_ids:
                return
            history.append(token)
            yield token
            logits = self.step(self.embed(np.array([token])), memory).logits

    def close(self) -> None:
        """Release the engine."""
        self._engine.close()
