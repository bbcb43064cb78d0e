"""A worker source without a model: every sentence is a tone whose samples depend on the sentence.

It is deterministic, as a voice must be, and can be told to misbehave by words in the text.
"""

from __future__ import annotations

import os
import re
import signal
import time
import zlib
from pathlib import Path
from typing import Iterator, List

import numpy as np

from edge_tts.audio.chunk import AudioChunk
from edge_tts.errors import InputError
from edge_tts.service.messages import Manner
from edge_tts.service.replies import VoiceFacts
from edge_tts.text.report import Tally
from edge_tts.text.tokens import Segment, Span

RATE_HZ = 24000
CHUNK = 2400


class ToneSource:
    """Sentences end at `.`; each character lasts 50 ms."""

    def __init__(self, compute_s_per_chunk: float) -> None:
        self._compute_s = compute_s_per_chunk
        self._ballast: List[bytearray] = []
        self.facts = VoiceFacts("tone", "1", ["en"], ["sine"], RATE_HZ, "MIT", "test")

    def segments(self, text: str, manner: Manner, tally: Tally) -> Iterator[Segment]:
        if manner.language not in (None, "en"):
            raise InputError(f"no language {manner.language!r}", code="input.unknown_language")
        tally.add("symbol", "".join(re.findall("☃", text)))
        found = (m for m in re.finditer(r"[^.☃]+\.?", text) if m.group().strip())
        for index, match in enumerate(found):
            yield Segment(index, (), Span(*match.span()), 0.0)

    def render(self, segment: Segment, text: str, manner: Manner) -> Iterator[AudioChunk]:
        sentence = text[segment.span.start : segment.span.end]
        self._misbehave(sentence)
        samples = tone(sentence) * np.float32(manner.volume)
        for offset in range(0, len(samples), CHUNK):
            time.sleep(self._compute_s)
            part = samples[offset : offset + CHUNK]
            is_final = offset + CHUNK >= len(samples)
            yield AudioChunk(part, RATE_HZ, segment.index, offset, is_final)

    def trim(self) -> None:
        self._ballast.clear()

    def _misbehave(self, sentence: str) -> None:
        if "CRASH" in sentence:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "HANG" in sentence:
            time.sleep(3600)
        if "BUG" in sentence:
            raise ZeroDivisionError("a bug")
        grown = re.search(r"GROW(\d+)", sentence)
        if grown:
            self._ballast.append(bytearray(os.urandom(4096)) * (256 * int(grown.group(1))))


def tone(sentence: str) -> np.ndarray:
    """The sound of one sentence."""
    n_samples = len(sentence) * RATE_HZ // 20
    frequency_hz = 200 + zlib.crc32(sentence.encode()) % 2000
    phase = np.arange(n_samples) * (2 * np.pi * frequency_hz / RATE_HZ)
    return (0.3 * np.sin(phase)).astype(np.float32)


def open_tone(options: List[str]) -> ToneSource:
    """`[COMPUTE_S [ONCE_FILE]]`: with a file, the first worker to see it removes it and dies."""
    if len(options) > 1 and Path(options[1]).exists():
        Path(options[1]).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return ToneSource(float(options[0]) if options else 0.0)


def open_never(options: List[str]) -> ToneSource:
    """A voice that cannot be loaded."""
    raise InputError("this voice is broken", code="input.invalid")
