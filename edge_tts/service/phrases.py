"""A phrase that has been spoken to its end: what it was, and its sound."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator, List, Optional, Sequence, Tuple

from edge_tts.service.messages import Manner

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk

_MAX_SEEN = 512


@dataclass(frozen=True)
class PhraseKey:
    """What decides the sound of a phrase, voice version included."""

    text: str
    manner: Manner
    voice: str
    version: str

    @property
    def digest(self) -> str:
        """Name of the phrase: SHA-256 of all that decides its sound, in hexadecimal."""
        canonical = json.dumps(dataclasses.asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class PhraseSegment:
    """Sound of one segment, 16-bit little-endian mono; [start, end) is its span in the text."""

    start: int
    end: int
    pcm: bytes


@dataclass(frozen=True)
class Phrase:
    """The sound of a phrase, divided as it was synthesised."""

    sample_rate_hz: int
    segments: Tuple[PhraseSegment, ...]
    unspoken: Tuple[str, ...] = ()
    """What the text holds and the voice does not speak, in words for people."""

    @property
    def n_bytes(self) -> int:
        """Size of the sound."""
        return sum(len(segment.pcm) for segment in self.segments)

    def chunks(self, first_segment: int) -> "Iterator[AudioChunk]":
        """The sound from a segment on."""
        import numpy as np

        from edge_tts.audio.chunk import AudioChunk

        for index, segment in enumerate(self.segments[first_segment:], first_segment):
            pcm = np.frombuffer(segment.pcm, dtype="<i2")
            # The divisor of edge_tts.audio.wav.to_pcm16, so that the round trip is exact.
            samples = pcm.astype(np.float32) / np.float32(32767.0)
            yield AudioChunk(samples, self.sample_rate_hz, index, 0, True)


class Recording:
    """Collects a phrase while it is spoken; there is none once it has grown beyond the limit."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._segments: List[PhraseSegment] = []
        self._pcm: List[bytes] = []
        self._span = (0, 0)
        self._n_bytes = 0
        self._rate_hz = 0

    def begin_segment(self, start: int, end: int) -> None:
        """A segment begins, or begins again after a lost worker."""
        if self._span != (start, end):
            self._span = (start, end)
            self._pcm = []

    def add(self, chunk: "AudioChunk") -> None:
        """Sound of the segment, in order."""
        if self._n_bytes > self._limit_bytes:
            return
        from edge_tts.audio.wav import to_pcm16

        pcm = to_pcm16(chunk.samples).tobytes()
        self._n_bytes += len(pcm)
        self._rate_hz = chunk.sample_rate_hz
        self._pcm.append(pcm)
        if chunk.is_final:
            self._segments.append(PhraseSegment(*self._span, b"".join(self._pcm)))
            self._pcm = []

    def phrase(self, unspoken: Sequence[str] = ()) -> Optional[Phrase]:
        """The phrase so far."""
        if not self._segments or self._n_bytes > self._limit_bytes:
            return None
        return Phrase(self._rate_hz, tuple(self._segments), tuple(unspoken))


class PhraseCache:
    """Phrases that repeat, in memory. A phrase enters when it is spoken for the second time."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._phrases: "OrderedDict[str, Phrase]" = OrderedDict()
        self._seen: "OrderedDict[str, None]" = OrderedDict()
        self.n_bytes = 0

    def __len__(self) -> int:
        return len(self._phrases)

    def __contains__(self, digest: str) -> bool:
        return digest in self._phrases

    def get(self, digest: str) -> Optional[Phrase]:
        """The phrase of this digest, if it is kept."""
        phrase = self._phrases.get(digest)
        if phrase is not None:
            self._phrases.move_to_end(digest)
        return phrase

    def wants(self, digest: str) -> bool:
        """True when the phrase has been asked for before, so that it is worth recording."""
        seen = digest in self._seen
        self._seen[digest] = None
        self._seen.move_to_end(digest)
        if len(self._seen) > _MAX_SEEN:
            self._seen.popitem(last=False)
        return seen

    def put(self, digest: str, phrase: Phrase) -> None:
        """Keep a phrase, at the expense of those not used for longest."""
        # One long phrase must not push out everything else.
        if digest in self._phrases or phrase.n_bytes > self.limit_bytes // 4:
            return
        self._phrases[digest] = phrase
        self.n_bytes += phrase.n_bytes
        while self.n_bytes > self.limit_bytes:
            _, oldest = self._phrases.popitem(last=False)
            self.n_bytes -= oldest.n_bytes

    def clear(self) -> None:
        """Give the memory back."""
        self._phrases.clear()
        self.n_bytes = 0
