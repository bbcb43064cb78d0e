"""A CosyVoice voice: text in, speech out, the same for the same text every time."""

from __future__ import annotations

import logging
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Iterator, Optional, Sequence, Tuple

import numpy as np

from edge_tts.errors import EngineError, InputError
from edge_tts.runtime.selection import Engines
from edge_tts.voices.cosyvoice import assembly
from edge_tts.voices.cosyvoice.bpe import TextTokenizer
from edge_tts.voices.cosyvoice.language_model import LanguageModel, cache
from edge_tts.voices.cosyvoice.plausibility import implausible
from edge_tts.voices.cosyvoice.prefix import Affine, TextModel
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.rendering import Renderer
from edge_tts.voices.cosyvoice.sampling import Sampler
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.speakers import SpeakerPrompt, read_speakers
from edge_tts.voices.cosyvoice.tables import Tables
from edge_tts.voices.cosyvoice.text import model_text, segment_text
from edge_tts.voices.engines import open_engines
from edge_tts.voices.voice import Voice, VoiceInfo

if TYPE_CHECKING:
    from edge_tts.text.tokens import Segment, Token
    from edge_tts.voices.manifest import VoiceDirectory

SEGMENT_LIMIT = 80
"""Text ids per segment: about the length of the sentences the official code cuts texts into."""

SPEED_RANGE = (0.7, 1.4)

MIN_TOKENS_PER_ID = 2
MAX_TOKENS_PER_ID = 20
ATTEMPTS = 2
"""How often a segment is drawn before it is given up, each time with another seed."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stages:
    """What speech passes through."""

    text: TextModel
    model: LanguageModel
    renderer: Renderer
    flow_speaker: Affine
    n_harmonics: int
    engines: Engines

    @classmethod
    def open(
        cls, directory: "VoiceDirectory", settings: Settings, n_threads: Optional[int] = None
    ) -> "Stages":
        """Map the tables and open the engines of a voice. Raises ModelError or EngineError."""
        known = Tables.read(directory.path)
        engines = open_engines(directory, assembly.parts(known), n_threads, {"lm": cache(settings)})
        engine = engines.__getitem__
        return cls(
            text=assembly.text_model(known, engine),
            model=assembly.language_model(known, settings, engine),
            renderer=assembly.renderer(known, settings, engine),
            flow_speaker=known.flow_speaker,
            n_harmonics=len(known.mixer) - 1,
            engines=engines,
        )

    def close(self) -> None:
        """Release the engines. Idempotent."""
        self.engines.close()


class CosyVoice(Voice):
    """CosyVoice-300M or CosyVoice2-0.5B on engines."""

    reads_phonemes = False

    def __init__(
        self,
        info: VoiceInfo,
        settings: Settings,
        tokenizer: TextTokenizer,
        stages: Stages,
        speakers: Dict[str, SpeakerPrompt],
    ) -> None:
        self.info = info
        self._settings = settings
        self._tokenizer = tokenizer
        self._stages = stages
        self.engines = stages.engines
        self._speakers = speakers

    @classmethod
    def load(cls, directory: "VoiceDirectory", n_threads: Optional[int] = None) -> "CosyVoice":
        """Check and open a built voice. Raises ModelError or EngineError."""
        directory.check(hashes=True)
        settings = Settings.read(directory.file("settings"))
        return cls(
            directory.manifest.info,
            settings,
            TextTokenizer.read(directory.file("tokenizer")),
            Stages.open(directory, settings, n_threads),
            read_speakers(directory.file("speakers"), directory.manifest.info.speakers),
        )

    @property
    def segment_limit(self) -> int:
        """Most text ids a segment may have."""
        return SEGMENT_LIMIT

    @property
    def speed_range(self) -> Tuple[float, float]:
        """Mel frames can be stretched this far before it is heard."""
        return SPEED_RANGE

    def gain(self, speaker: str) -> float:
        """1: how loud the speakers of a checkpoint are is not known before they speak."""
        return 1.0

    def measure(self, tokens: "Sequence[Token]") -> int:
        """Number of text ids."""
        return len(self._tokenizer.encode(model_text(tokens)))

    def synthesize(self, segment: "Segment", speaker: str, speed: float) -> Iterator["np.ndarray"]:
        """Yield the speech of one segment, in chunks once its speech tokens are known.

        Raises InputError for an unknown speaker or a text the voice has no ids for, EngineError
        `engine.implausible_speech` when every attempt went astray.
        """
        text = segment_text(segment)
        ids = self._checked(self._tokenizer.encode(text))
        if not len(ids):
            return
        who = self._speaker(speaker)
        for attempt in range(ATTEMPTS):
            seed = zlib.crc32(f"{attempt}\n{speaker}\n{text}".encode())
            randomness = Randomness(seed, self._stages.n_harmonics)
            tokens = self._speech_tokens(ids, who, randomness)
            fault = implausible(
                tokens, len(ids), MAX_TOKENS_PER_ID * len(ids), self._settings.token_rate_hz
            )
            if fault is None:
                yield from self._rendered(tokens, who, randomness, speed)
                return
            log.warning("attempt %d at a segment failed: %s", attempt + 1, fault)
        raise EngineError(
            f"the voice went astray {ATTEMPTS} times: {fault}; reword it or use another voice",
            code="engine.implausible_speech",
        )

    def close(self) -> None:
        """Release the engines. Idempotent."""
        self._stages.close()

    def _speech_tokens(
        self, ids: "np.ndarray", who: SpeakerPrompt, randomness: Randomness
    ) -> "np.ndarray":
        stages = self._stages
        text_ids = np.concatenate([who.text_ids, ids])
        prefix = stages.text.prefix(text_ids, who.embedding, who.example.tokens, stages.model)
        sampler = Sampler(self._settings, randomness.uniform)
        low, high = MIN_TOKENS_PER_ID * len(ids), MAX_TOKENS_PER_ID * len(ids)
        return np.array(list(stages.model.generate(prefix, sampler, low, high)), np.int32)

    def _rendered(
        self, tokens: "np.ndarray", who: SpeakerPrompt, randomness: Randomness, speed: float
    ) -> Iterator["np.ndarray"]:
        stages = self._stages
        speaker = stages.flow_speaker.of_direction(who.embedding)
        if speed == 1.0:
            pieces = stages.renderer.chunks(tokens, who.example, speaker, randomness)
        else:
            whole = stages.renderer.whole(tokens, who.example, speaker, randomness, speed)
            pieces = iter([whole])
        for piece in pieces:
            if not np.isfinite(piece).all():
                raise EngineError(
                    "the vocoder yielded samples that are not numbers; verify the voice",
                    code="engine.output_invalid",
                )
            yield piece

    def _speaker(self, name: str) -> SpeakerPrompt:
        if name not in self._speakers:
            raise InputError(
                f"no speaker {name!r}; known: {', '.join(self._speakers)}",
                code="input.unknown_speaker",
            )
        return self._speakers[name]

    def _checked(self, ids: "np.ndarray") -> "np.ndarray":
        if len(ids) > SEGMENT_LIMIT:
            raise InputError(
                f"a segment has {len(ids)} text ids, at most {SEGMENT_LIMIT} can be spoken",
                code="input.segment_too_long",
            )
        if len(ids) and int(ids.max()) >= len(self._stages.text.embeddings):
            raise InputError(
                f"the voice has no embedding for the text id {int(ids.max())}",
                code="input.unknown_symbol",
            )
        return ids
