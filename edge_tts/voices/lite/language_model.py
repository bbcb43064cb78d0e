"""The encoder-decoder: text ids to frames of codes, one engine run per decoder position."""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Sequence

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.voices.lite.cache import SelfCache
from edge_tts.voices.lite.interleaving import Drawing, frames, n_positions
from edge_tts.voices.lite.pack import CrossCache, Pack, n_text_ids
from edge_tts.voices.lite.position_bias import DecoderBias, EncoderBias
from edge_tts.voices.lite.sampling import Sampler
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tables import Tables


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
        n = len(rows)
        biases = {
            "bias": self._decoder_bias.between(n, cache.used, cache.capacity),
            "text_bias": np.zeros((n, n_text_ids(cross)), np.float32),
        }
        last: np.ndarray = self._run(rows, biases, cache, cross)[-1]
        return last

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

    def generate_together(
        self, texts: "Sequence[np.ndarray]", drawings: Sequence[Drawing], max_positions: int
    ) -> "List[Optional[np.ndarray]]":
        """All frames int [n, codebooks] of each drawing over its text ids.

        None for those that are not over when all have taken `max_positions` together. In exact
        arithmetic the frames are those that `generate` yields; rounding differs with the number of
        utterances.
        """
        pack = Pack(drawings, [self.read(text_ids) for text_ids in texts], max_positions)
        cache = SelfCache(self._settings, max_positions)
        active = pack.active
        while active and cache.used + len(active) <= max_positions:
            biases = {
                "bias": pack.bias(active, self._decoder_bias, cache.capacity),
                "text_bias": pack.text_bias(active),
            }
            pack.take(active, self._run(pack.rows(active), biases, cache, pack.cross))
            active = pack.active
        shape = (-1, self._settings.codec.n_codebooks)
        return [
            np.array(codes, np.int32).reshape(shape) if drawing.is_over else None
            for drawing, codes in zip(drawings, pack.codes)
        ]

    def _run(
        self,
        rows: "np.ndarray",
        biases: "Dict[str, np.ndarray]",
        cache: SelfCache,
        cross: CrossCache,
    ) -> "np.ndarray":
        x: np.ndarray = np.asarray(self._codes[rows], np.float32).sum(axis=1)
        outputs = self._decoder.run({"x": x, **biases, **cache.inputs(), **cross})
        cache.append(outputs, len(rows))
        return outputs["scores"]
