"""A CosyVoice voice: text in, speech out, the same for the same text every time."""

from __future__ import annotations

import contextlib
import functools
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Dict, FrozenSet, Generator, Iterator, Optional, Sequence, Tuple

import numpy as np

from edge_tts.errors import EngineError, InputError
from edge_tts.runtime.selection import Engines
from edge_tts.voices.cosyvoice import assembly
from edge_tts.voices.cosyvoice.bpe import TextTokenizer
from edge_tts.voices.cosyvoice.language_model import LanguageModel, cache
from edge_tts.voices.cosyvoice.layout import END_OF_INSTRUCTION, Layout, layout
from edge_tts.voices.cosyvoice.plausibility import Watch
from edge_tts.voices.cosyvoice.prefix import Affine, TextModel
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.rendering import Renderer
from edge_tts.voices.cosyvoice.sampling import Sampler
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.speakers import SpeakerPrompt, read_speakers
from edge_tts.voices.cosyvoice.supply import Supply
from edge_tts.voices.cosyvoice.tables import Tables
from edge_tts.voices.cosyvoice.text import model_text, segment_text
from edge_tts.voices.engines import open_engines
from edge_tts.voices.voice import DEFAULT_PRESET, DEFAULT_STYLE, Preset, Style, Voice, VoiceInfo

if TYPE_CHECKING:
    from edge_tts.text.tokens import Segment, Token
    from edge_tts.voices.manifest import VoiceDirectory

SEGMENT_LIMIT = 80
"""Text ids per segment: about the length of the sentences the official code cuts texts into."""

SPEED_RANGE = (0.7, 1.4)

ATTEMPTS = 2
"""How often a segment is drawn before it is given up, each time with another seed."""

ENROLMENT_PARTS = ("campplus", "speech_tokenizer")
"""What `enrolment` needs besides: who speaks and what is said in a recording."""

AUDIBLE = 1e-3
"""A segment whose samples all stay below this has not been spoken."""


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
    takes_instructions = True

    def __init__(
        self,
        info: VoiceInfo,
        settings: Settings,
        tokenizer: TextTokenizer,
        stages: Stages,
        speakers: Dict[str, SpeakerPrompt],
        preset: Preset = DEFAULT_PRESET,
    ) -> None:
        self.info = info
        self._settings = settings
        self._tokenizer = tokenizer
        self._stages = stages
        self.engines = stages.engines
        self._speakers = speakers
        self._is_whole = preset is Preset.EXACT

    @classmethod
    def load(
        cls,
        directory: "VoiceDirectory",
        n_threads: Optional[int] = None,
        preset: Preset = DEFAULT_PRESET,
    ) -> "CosyVoice":
        """Check and open a built voice. Raises ModelError or EngineError."""
        _spoken_with(directory).check(hashes=True)
        settings = Settings.read(directory.file("settings"))
        return cls(
            directory.manifest.info,
            settings,
            TextTokenizer.read(directory.file("tokenizer")),
            Stages.open(directory, settings, n_threads),
            read_speakers(directory.file("speakers"), directory.manifest.info.speakers),
            preset,
        )

    @property
    def segment_limit(self) -> int:
        """Most text ids a segment may have."""
        return SEGMENT_LIMIT

    @property
    def control_words(self) -> FrozenSet[str]:
        """Those that the tokenizer has an id for."""
        return self._tokenizer.words

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

    def synthesize(
        self, segment: "Segment", speaker: str, speed: float, style: Style = DEFAULT_STYLE
    ) -> Iterator["np.ndarray"]:
        """Yield the speech of one segment while its later speech tokens are not drawn yet.

        Pieces may be empty: after every token drawn and every step of the flow the caller is
        given the chance to stop.

        Raises InputError for an unknown speaker or a text the voice has no ids for, EngineError
        `engine.implausible_speech` when the last attempt has gone astray, which may be after the
        first pieces.
        """
        text = segment_text(segment)
        ids = self._checked(self._tokenizer.encode(text))
        if not len(ids):
            return
        who = self._speaker(speaker)
        watch = Watch.over(text, len(ids), self._settings.token_rate_hz)
        key = f"{style.seed}\n{speaker}\n{style.instruct or ''}\n{text}"
        opening = layout(who, self._instruction(style))
        draw = functools.partial(self._draw, opening, ids, watch, key)
        with contextlib.closing(Supply(draw, watch.fault, ATTEMPTS, watch.expected)) as supply:
            yield from _sounding(self._rendered(supply, who, self._randomness(key), speed))

    def close(self) -> None:
        """Release the engines. Idempotent."""
        self._stages.close()

    def _draw(
        self,
        opening: Layout,
        ids: "np.ndarray",
        watch: Watch,
        key: str,
        attempt: int,
        spoken: Sequence[int],
    ) -> Generator[int, None, None]:
        """Speech tokens of text `ids` after those `spoken`, in their `attempt`."""
        stages = self._stages
        text_ids = np.concatenate([opening.text_ids, ids])
        prefix = stages.text.prefix(text_ids, opening.speaker, opening.example, stages.model)
        sampler = Sampler(self._settings, self._randomness(f"tokens {attempt}\n{key}").uniform)
        yield from stages.model.generate(
            prefix, sampler, watch.min_tokens, watch.max_tokens, spoken
        )

    def _instruction(self, style: Style) -> Optional["np.ndarray"]:
        """Ids of the instruction with its end mark, None without one."""
        if style.instruct is None:
            return None
        words = style.instruct.replace(END_OF_INSTRUCTION, "").strip()
        return self._checked(self._tokenizer.encode(words + END_OF_INSTRUCTION))

    def _randomness(self, key: str) -> Randomness:
        return Randomness(zlib.crc32(key.encode()), self._stages.n_harmonics)

    def _rendered(
        self, supply: Supply, who: SpeakerPrompt, randomness: Randomness, speed: float
    ) -> Iterator["np.ndarray"]:
        stages = self._stages
        speaker = stages.flow_speaker.of_direction(who.embedding)
        if speed == 1.0 and not self._is_whole:
            yield from stages.renderer.chunks(supply, who.example, speaker, randomness)
            return
        yield from supply.drawn_to_the_end()
        tokens = supply.take(0, len(supply))
        yield (
            yield from stages.renderer.stepwise_whole(
                tokens, who.example, speaker, randomness, speed
            )
        )

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


def _spoken_with(directory: "VoiceDirectory") -> "VoiceDirectory":
    """The voice without the networks that only enrolment uses: half a gigabyte to be hashed."""
    parts = (part for part in directory.manifest.parts if part.name not in ENROLMENT_PARTS)
    return replace(directory, manifest=replace(directory.manifest, parts=tuple(parts)))


def _sounding(pieces: Iterator["np.ndarray"]) -> Iterator["np.ndarray"]:
    """The same pieces. Raises EngineError where they are not numbers, or silent from end to end."""
    peak, n_samples = 0.0, 0
    for piece in pieces:
        if not np.isfinite(piece).all():
            raise EngineError(
                "the vocoder yielded samples that are not numbers; verify the voice",
                code="engine.output_invalid",
            )
        peak = max(peak, float(np.abs(piece).max(initial=0.0)))
        n_samples += len(piece)
        yield piece
    if n_samples and peak < AUDIBLE:
        raise EngineError(
            "the voice yielded only silence for a text; reword it or use another voice",
            code="engine.implausible_speech",
        )
