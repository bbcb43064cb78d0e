"""How far CosyVoice 2 goes from chunk to chunk: early sound against work that is done twice."""

from __future__ import annotations

from typing import Iterator

from edge_tts.voices.cosyvoice.flow import CHUNK_TOKENS

_MAX_OFFICIAL_HOP_TOKENS = 100
_GROWTH = 3


def official_hops() -> Iterator[int]:
    """Tokens by which the official chunks advance: one second at first, up to four later."""
    hop = CHUNK_TOKENS
    while True:
        yield hop
        hop = min(2 * hop, _MAX_OFFICIAL_HOP_TOKENS)


def growing_hops(n_expected: int) -> Iterator[int]:
    """Each chunk ends at three times the end before, while as much again is expected after it.

    All that follows is the last chunk. Every chunk is computed from the first token, and this
    bounds what is computed twice: of segments of 60 to 500 tokens that come as expected 0.38 of
    the whole on average and 0.72 at the most, where the official hops come to 1.5 and 2.8.
    """
    end = CHUNK_TOKENS
    yield end
    while 2 * _GROWTH * end <= n_expected:
        yield (_GROWTH - 1) * end
        end *= _GROWTH
