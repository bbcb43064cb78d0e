"""Plans for the parts of the tiny Kokoro, and a segment to speak with them."""

from __future__ import annotations

import sys
from pathlib import Path

from edge_tts.text.tokens import Language, Segment, Span, Token, TokenKind

sys.path.append(str(Path(__file__).parents[1] / "voices"))  # tiny_kokoro

_STYLE = [(1, 256)] * 3


def _along(*shape, least=2, typical=64, greatest=800):
    """Three shapes, the None in `shape` replaced by three lengths."""
    lengths = (least, typical, greatest)
    return [tuple(n if size is None else size for size in shape) for n in lengths]


KOKORO_PROFILES = {
    "encoder": [{"tokens": _along(1, None, greatest=107), "style": _STYLE}],
    "prosody": [{"frame_prosody": _along(1, 640, None, greatest=430), "style": _STYLE}],
    "decoder": [
        {
            "frame_text": _along(1, 512, None, greatest=430),
            "f0": _along(1, None, greatest=860),
            "energy": _along(1, None, greatest=860),
            "style": _STYLE,
        }
    ],
    "stream_generator": [
        {
            "features": _along(1, 512, None, least=8, greatest=128),
            "harmonics": _along(1, 22, None, least=1, greatest=128 * 60 + 1),
            "style": _STYLE,
            "statistics": _along(2, None, 1, least=1, greatest=20_000),
        }
    ],
}


def segment():
    """Two and a half seconds of speech, which are several windows."""
    span = Span(0, 1)
    phonemes = "həlˈO ðˈɛɹ, ðˈIz"
    return Segment(0, (Token("x", TokenKind.WORD, Language.EN, span, phonemes),), span, 0.0)
