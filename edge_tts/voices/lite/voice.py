"""A lite voice: text in, speech out, the same for the same text every time."""

from __future__ import annotations

import contextlib
import logging
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from edge_tts.errors import EngineError, InputError
from edge_tts.runtime.selection import Engines
from edge_tts.text.tokens import Language, Token, TokenKind
from edge_tts.voices.cosyvoice.text import model_text
from edge_tts.voices.engines import open_engines
from edge_tts.voices.lite.codec import MIN_FIRST_FRAMES, CodecDecoder
from edge_tts.voices.lite.interleaving import begin, n_positions
from edge_tts.voices.lite.language_model import LanguageModel
from edge_tts.voices.lite.pack import packs
from edge_tts.voices.lite.plausibility import expected_frames, frame_limits, loop_fault
from edge_tts.voices.lite.sampling import Sampler
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tables import Tables
from edge_tts.voices.lite.tokenizer import TextTokenizer
from edge_tts.voices.voice import (
    DEFAULT_PRESET,
    DEFAULT_STYLE,
    PlannedSegment,
    Preset,
    Style,
    Voice,
    VoiceInfo,
)

if TYPE_CHECKING:
    from edge_tts.text.tokens import Segment
    from edge_tts.voices.manifest import VoiceDirectory

PARTS = ("encoder", "decoder", "codec")

SEGMENT_LIMIT = 60
"""Text ids per segment. With `MAX_CHARACTERS` it bounds the caches of an utterance."""

MAX_CHARACTERS = 120
"""Characters per segment; longer ones have at most 73 s of speech."""

ATTEMPTS = 2
"""How often a segment is drawn before it is given up, each time with another seed."""

FIRST_CHUNK_SECONDS = 0.4
CHUNK_SECONDS = 0.8

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stages:
    """What speech passes through."""

    model: LanguageModel
    codec: CodecDecoder
    engines: Engines

    @classmethod
    def open(
        cls, directory: "VoiceDirectory", settings: Settings, n_threads: Optional[int] = None
    ) -> "Stages":
        """Map the tables and open the engines of a voice. Raises ModelError or EngineError."""
        known = Tables.read(directory.path)
        engines = open_engines(directory, PARTS, n_threads)
        return cls(
            model=LanguageModel(engines["encoder"], engines["decoder"], known, settings),
            codec=CodecDecoder(engines["codec"], known.codebooks, known.codec_state),
            engines=engines,
        )

    def close(self) -> None:
        """Release the engines. Idempotent."""
        self.engines.close()


class LiteVoice(Voice):
    """A T5 encoder-decoder over EnCodec codes, on engines."""

    reads_phonemes = False
    is_faster_together = True

    def __init__(
        self, info: VoiceInfo, settings: Settings, tokenizer: TextTokenizer, stages: Stages
    ) -> None:
        self.info = info
        self._settings = settings
        self._tokenizer = tokenizer
        self._stages = stages
        self.engines = stages.engines
        self._foreseen: "Dict[_Drawn, Iterable[np.ndarray]]" = {}

    @classmethod
    def load(
        cls,
        directory: "VoiceDirectory",
        n_threads: Optional[int] = None,
        preset: Preset = DEFAULT_PRESET,
    ) -> "LiteVoice":
        """Check and open a built voice; presets make no difference.

        Raises ModelError or EngineError.
        """
        directory.check(hashes=True)
        settings = Settings.read(directory.file("settings"))
        return cls(
            directory.manifest.info,
            settings,
            TextTokenizer.read(directory.file("tokenizer"), settings),
            Stages.open(directory, settings, n_threads),
        )

    @property
    def segment_limit(self) -> int:
        """Most text ids a segment may have."""
        return SEGMENT_LIMIT

    @property
    def speed_range(self) -> Tuple[float, float]:
        """The model has no speed of its own; the sound is stretched."""
        return (1.0, 1.0)

    def gain(self, speaker: str) -> float:
        """1: how loud the speakers of a checkpoint are is not known before they speak."""
        return 1.0

    def measure(self, tokens: "Sequence[Token]") -> int:
        """Number of text ids; more where the characters weigh more than the ids."""
        text = model_text(tokens)
        by_length = -(-len(text) * SEGMENT_LIMIT // MAX_CHARACTERS)
        return max(len(self._tokenizer.pieces(text)), by_length)

    def synthesize(
        self, segment: "Segment", speaker: str, speed: float, style: Style = DEFAULT_STYLE
    ) -> Iterator["np.ndarray"]:
        """Yield the speech of one segment in chunks, while its later codes are not drawn yet.

        Raises InputError for an unknown speaker or language or a text the voice has no ids for,
        EngineError `engine.implausible_speech` when it goes astray: at every attempt before the
        first chunk, or once after it, when it is too late to begin again.
        """
        for attempt in range(ATTEMPTS):
            is_heard = False
            drawn = self._drawn(PlannedSegment(segment, speaker, style), attempt)
            if drawn is None:
                return
            try:
                for piece in self._attempt(drawn):
                    is_heard = True
                    yield piece
                return
            except _AstrayError as fault:
                log.warning("attempt %d at a segment failed: %s", attempt + 1, fault)
                reason = str(fault)
            if is_heard:
                break
        raise EngineError(
            f"the voice went astray: {reason}; reword it or use another voice",
            code="engine.implausible_speech",
        )

    def foresee(self, planned: Sequence[PlannedSegment]) -> None:
        """Draw the codes of all segments, several at a time."""
        self._foreseen.clear()
        layout = self._settings.codec
        wanted: List[_Drawn] = []
        for each in planned:
            # Whoever speaks it is told.
            with contextlib.suppress(InputError):
                drawn = self._drawn(each, attempt=0)
                wanted += [drawn] if drawn is not None else []
        sizes = [
            n_positions(layout, expected_frames(len(drawn.text_ids), layout.frame_rate_hz))
            for drawn in wanted
        ]
        # No more memory than the longest segment may take.
        most = n_positions(layout, frame_limits(MAX_CHARACTERS, layout.frame_rate_hz)[1])
        for numbers in packs(sizes, most):
            members = [wanted[number] for number in numbers]
            codes = self._stages.model.generate_together(
                [np.array(drawn.text_ids) for drawn in members],
                [begin(layout, self._sampler(d), *self._frame_limits(d)) for d in members],
                most,
            )
            self._foreseen.update(
                (drawn, found) for drawn, found in zip(members, codes) if found is not None
            )

    def close(self) -> None:
        """Release the engines. Idempotent."""
        self._stages.close()

    def _drawn(self, planned: PlannedSegment, attempt: int) -> "Optional[_Drawn]":
        """What is drawn for a segment; None where there is nothing to say. Raises InputError."""
        segment, speaker = planned.segment, planned.speaker
        if self.measure(segment.tokens) > SEGMENT_LIMIT:
            raise InputError(
                f"a segment measures {self.measure(segment.tokens)}, at most {SEGMENT_LIMIT} can "
                "be spoken",
                code="input.segment_too_long",
            )
        text = model_text(segment.tokens)
        if not text:
            return None
        ids = self._tokenizer.encode(text, main_language(segment.tokens), speaker)
        number = attempt + ATTEMPTS * planned.style.seed
        seed = zlib.crc32(f"{number}\n{speaker}\n{text}".encode())
        return _Drawn(tuple(ids.tolist()), len(text), seed)

    def _sampler(self, drawn: "_Drawn") -> Sampler:
        # The Mersenne twister, because numpy promises never to change it.
        uniform = np.random.RandomState(drawn.seed).random_sample
        return Sampler(self._settings.sampling, self._settings.codec, uniform)

    def _frame_limits(self, drawn: "_Drawn") -> Tuple[int, int]:
        return frame_limits(drawn.n_characters, self._settings.codec.frame_rate_hz)

    def _frames(self, drawn: "_Drawn") -> "Iterable[np.ndarray]":
        """Those that have been foreseen, once; else as they are drawn."""
        foreseen = self._foreseen.pop(drawn, None)
        if foreseen is not None:
            return foreseen
        return self._stages.model.generate(
            np.array(drawn.text_ids), self._sampler(drawn), *self._frame_limits(drawn)
        )

    def _attempt(self, drawn: "_Drawn") -> Iterator["np.ndarray"]:
        """Chunks of one drawing. Raises `_AstrayError` when it loops or does not stop."""
        layout = self._settings.codec
        high = self._frame_limits(drawn)[1]
        stream = self._stages.codec.stream()
        wanted = max(MIN_FIRST_FRAMES, int(FIRST_CHUNK_SECONDS * layout.frame_rate_hz))
        codes: List[np.ndarray] = []
        n_done = 0
        for frame in self._frames(drawn):
            codes.append(frame)
            if len(codes) - n_done < wanted:
                continue
            self._check_loop(codes)
            yield checked(stream.decode(np.array(codes[n_done:])))
            n_done, wanted = len(codes), int(CHUNK_SECONDS * layout.frame_rate_hz)
        if len(codes) >= high:
            raise _AstrayError(f"it did not stop within {high / layout.frame_rate_hz:.1f} s")
        if len(codes) > n_done:
            yield checked(stream.decode(np.array(codes[n_done:])))

    def _check_loop(self, codes: "List[np.ndarray]") -> None:
        rate_hz = self._settings.codec.frame_rate_hz
        fault = loop_fault(np.array(codes[-2 * rate_hz :]), rate_hz)
        if fault:
            raise _AstrayError(fault)


@dataclass(frozen=True)
class _Drawn:
    """What decides the codes of a segment: two that are equal have the same."""

    text_ids: Tuple[int, ...]
    n_characters: int
    seed: int


class _AstrayError(Exception):
    """A drawing that cannot be the text."""


def main_language(tokens: "Sequence[Token]") -> Language:
    """The language most of the words are in; the tag is one per segment."""
    counts: Dict[Language, int] = dict.fromkeys(Language, 0)
    for token in tokens:
        counts[token.language] += 1 if token.kind is TokenKind.WORD else 0
    return max(counts, key=lambda language: counts[language])


def checked(piece: "np.ndarray") -> "np.ndarray":
    """The piece itself. Raises EngineError when it holds anything but numbers."""
    if not np.isfinite(piece).all():
        raise EngineError(
            "the codec yielded samples that are not numbers; verify the voice",
            code="engine.output_invalid",
        )
    return piece
