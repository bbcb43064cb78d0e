"""The encoder-decoder: text ids to frames of codes, one engine run per decoder position."""

from __future__ import annotations

from typing import Dict, Iterator, List

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.voices.lite.cache import SelfCache
from edge_tts.voices.lite.interleaving import frames, n_positions
from edge_tts.voices.lite.position_bias import DecoderBias, EncoderBias
from edge_tts.voices.lite.sampling import Sampler
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tables import Tables

CrossCache = Dict[str, "np.ndarray"]
"""Keys and values of the text for every decoder layer, computed once per utterance."""


class LanguageModel:
    """Codes from text. Its caches live as long as one utterance."""

    def __init__(
        self, encoder: Engine, decoder: Engine, tables: Tables, settings: Settings
    ) -> None:
        self._encoder = encoder
        self._decoder = decoder
        self._text = tables.text
        self._codes = tables.codes
        self._encoder_bias = EncoderBias(tables.encoder_bias, settings.max_distance)
        self._decoder_bias = DecoderBias(tables.decoder_bias, settings.max_distance)
        self._settings = settings

    def read(self, text_ids: "np.ndarray") -> CrossCache:
        """Run the encoder over int [n]."""
        x: np.ndarray = np.asarray(self._text[text_ids], np.float32)
        return self._encoder.run({"x": x, "bias": self._encoder_bias.between(len(x))})

    def step(self, rows: "np.ndarray", cache: SelfCache, cross: CrossCache) -> "np.ndarray":
        """Run positions after those in `cache` and remember them.

        `rows` is int [n, m]: the m rows of the embedding table whose sum is a position's input.
        Returns the scores of all codes and of the end, float32 [ids], after the last position.
        """
        x: np.ndarray = np.asarray(self._codes[rows], np.float32).sum(axis=1)
        n = len(x)
        bias = self._decoder_bias.between(n, cache.used, cache.capacity)
        outputs = self._decoder.run({"x": x, "bias": bias, **cache.inputs(), **cross})
        cache.append(outputs, n)
        return outputs["scores"]

    def generate(
        self, text_ids: "np.ndarray", sampler: Sampler, min_frames: int, max_frames: int
    ) -> Iterator["np.ndarray"]:
        """Yield frames int [codebooks] lazily; nothing is kept when the iterator is closed."""
        layout = self._settings.codec
        cross = self.read(text_ids)
        cache = SelfCache(self._settings, n_positions(layout, max_frames))

        def step(rows: List[int]) -> "np.ndarray":
            return self.step(np.array([rows]), cache, cross)

        yield from frames(layout, step, sampler, min_frames, max_frames)
