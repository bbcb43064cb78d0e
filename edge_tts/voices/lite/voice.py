"""A lite voice: text in, speech out, the same for the same text every time."""

from __future__ import annotations

import logging
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from edge_tts.errors import EngineError, InputError
from edge_tts.runtime.selection import Engines
from edge_tts.text.tokens import Language, Token, TokenKind
from edge_tts.voices.cosyvoice.text import model_text
from edge_tts.voices.engines import open_engines
from edge_tts.voices.lite.codec import MIN_FIRST_FRAMES, CodecDecoder
from edge_tts.voices.lite.language_model import LanguageModel
from edge_tts.voices.lite.plausibility import frame_limits, loop_fault
from edge_tts.voices.lite.sampling import Sampler
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tables import Tables
from edge_tts.voices.lite.tokenizer import TextTokenizer
from edge_tts.voices.voice import DEFAULT_STYLE, Style, Voice, VoiceInfo

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

    def __init__(
        self, info: VoiceInfo, settings: Settings, tokenizer: TextTokenizer, stages: Stages
    ) -> None:
        self.info = info
        self._settings = settings
        self._tokenizer = tokenizer
        self._stages = stages
        self.engines = stages.engines

    @classmethod
    def load(cls, directory: "VoiceDirectory", n_threads: Optional[int] = None) -> "LiteVoice":
        """Check and open a built voice. Raises ModelError or EngineError."""
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
        if self.measure(segment.tokens) > SEGMENT_LIMIT:
            raise InputError(
                f"a segment measures {self.measure(segment.tokens)}, at most {SEGMENT_LIMIT} can "
                "be spoken",
                code="input.segment_too_long",
            )
        text = model_text(segment.tokens)
        if not text:
            return
        ids = self._tokenizer.encode(text, main_language(segment.tokens), speaker)
        for attempt in range(ATTEMPTS):
            is_heard = False
            seed = zlib.crc32(f"{attempt + ATTEMPTS * style.seed}\n{speaker}\n{text}".encode())
            try:
                for piece in self._attempt(ids, len(text), seed):
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

    def close(self) -> None:
        """Release the engines. Idempotent."""
        self._stages.close()

    def _attempt(self, ids: "np.ndarray", n_characters: int, seed: int) -> Iterator["np.ndarray"]:
        """Chunks of one drawing. Raises `_AstrayError` when it loops or does not stop."""
        layout = self._settings.codec
        # The Mersenne twister, because numpy promises never to change it.
        sampler = Sampler(
            self._settings.sampling, layout, np.random.RandomState(seed).random_sample
        )
        low, high = frame_limits(n_characters, layout.frame_rate_hz)
        stream = self._stages.codec.stream()
        wanted = max(MIN_FIRST_FRAMES, int(FIRST_CHUNK_SECONDS * layout.frame_rate_hz))
        codes: List[np.ndarray] = []
        n_done = 0
        for frame in self._stages.model.generate(ids, sampler, low, high):
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
