"""The loop that turns a prefix of embeddings into speech tokens, one engine run per token."""

from __future__ import annotations

import contextlib
from typing import Generator, List, NamedTuple, Optional, Sequence

import numpy as np

from edge_tts.errors import InputError
from edge_tts.runtime.decoding import Cache, Decoding
from edge_tts.runtime.engine import Engine
from edge_tts.voices.cosyvoice.sampling import Sampler, log_softmax
from edge_tts.voices.cosyvoice.settings import Settings

POSITIONS = "positions"


class Step(NamedTuple):
    """One run of the model: `hidden` float32 [n, width], `logits` float32 [ids] of the last row."""

    hidden: "np.ndarray"
    logits: "np.ndarray"


def cache(settings: Settings) -> Cache:
    """Keys and values, [positions, layers, 2, heads, size]; CosyVoice 1 has codes of distances."""
    row_shape = (settings.n_layers, 2, settings.n_heads, settings.head_size)
    tables = () if settings.is_second else (POSITIONS,)
    return Cache("cache", "new_cache", "length", row_shape, tables)


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

    def begin(self, n_positions: int) -> Decoding:
        """Begin a sequence of at most `n_positions`."""
        tables = {} if self._positions is None else {POSITIONS: self._positions}
        return self._engine.decode(cache(self._settings), n_positions, tables)

    def step(self, x: "np.ndarray", decoding: Decoding) -> Step:
        """Run positions float32 [n, width] after those decoded so far."""
        outputs = decoding.step({"x": x})
        return Step(outputs["hidden"], outputs["logits"])

    def generate(
        self,
        prefix: "np.ndarray",
        sampler: Sampler,
        min_tokens: int,
        max_tokens: int,
        spoken: Sequence[int] = (),
    ) -> Generator[int, None, None]:
        """Yield tokens until a stop id or `max_tokens`; the stop id itself is not yielded.

        `spoken` are tokens to go on from; they count, but are not yielded. The cache is given back
        when the generator ends or is closed. Raises InputError when prefix and tokens do not fit
        the model.
        """
        n_positions = len(prefix) + max_tokens
        if n_positions > self._settings.max_positions:
            raise InputError(
                f"a segment needs {n_positions} positions of the language model, which has "
                f"{self._settings.max_positions}; shorten the text or the speaker's prompt",
                code="input.segment_too_long",
            )
        history = list(spoken)
        if history:
            prefix = np.concatenate([prefix, self.embed(np.array(history))])
        with contextlib.closing(self.begin(n_positions)) as decoding:
            logits = self.step(prefix, decoding).logits
            while len(history) < max_tokens:
                token = self._next(logits, sampler, history, may_stop=len(history) >= min_tokens)
                if token in self._settings.stop_ids:
                    return
                history.append(token)
                yield token
                logits = self.step(self.embed(np.array([token])), decoding).logits

    def _next(
        self, logits: "np.ndarray", sampler: Sampler, history: List[int], *, may_stop: bool
    ) -> int:
        scores = log_softmax(logits)
        if not may_stop:
            scores[self._settings.n_speech_tokens] = -np.inf
        return sampler.draw(scores, history)

    def close(self) -> None:
        """Release the engine."""
        self._engine.close()
