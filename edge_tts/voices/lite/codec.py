"""EnCodec's decoder (Défossez et al. 2022), in chunks that join exactly.

The 24 kHz model is causal: two LSTM layers and convolutions that see only the past. What they carry
from one chunk to the next is a handful of small arrays, so a stream of chunks has the samples of
one run over everything.
"""

from __future__ import annotations

from typing import Dict

import numpy as np

from edge_tts.runtime.engine import Engine

MIN_FIRST_FRAMES = 7
"""Frames that the first chunk needs, unless it is also the last.

Before its first frame the model sees the following six mirrored (EnCodec's reflect padding).
"""

_NEW = "new_"


class CodecDecoder:
    """Sound of codes. One `stream` per utterance."""

    def __init__(
        self, engine: Engine, codebooks: "np.ndarray", start: "Dict[str, np.ndarray]"
    ) -> None:
        """`codebooks` float32 [codebooks, size, width]; `start` as in `Tables.codec_state`."""
        self._engine = engine
        self._codebooks = codebooks
        self._start = start

    def stream(self) -> "CodecStream":
        """A new stream, silent so far."""
        return CodecStream(self._engine, self._codebooks, self._start)


class CodecStream:
    """The sound of one utterance, chunk after chunk."""

    def __init__(
        self, engine: Engine, codebooks: "np.ndarray", start: "Dict[str, np.ndarray]"
    ) -> None:
        self._engine = engine
        self._codebooks = codebooks
        self._state = dict(start)
        self._is_first: np.ndarray = np.ones(1, np.float32)

    def decode(self, codes: "np.ndarray") -> "np.ndarray":
        """Samples float32 [n · hop] of the next codes, int [n, codebooks]."""
        latent = sum(self._codebooks[k][codes[:, k]] for k in range(codes.shape[1]))
        x: np.ndarray = np.ascontiguousarray(latent.T[None])
        outputs = self._engine.run({"x": x, "is_first": self._is_first, **self._state})
        self._state = {name: outputs[_NEW + name] for name in self._state}
        self._is_first = np.zeros(1, np.float32)
        return outputs["audio"].ravel()
