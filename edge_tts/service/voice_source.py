"""The worker's source in production: an installed voice, opened one segment at a time."""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Optional

from edge_tts.errors import InputError
from edge_tts.service.replies import VoiceFacts
from edge_tts.speaker import Delivery, Speaker, speaker_hint
from edge_tts.text.boundaries import PauseTable
from edge_tts.text.report import Tally
from edge_tts.text.tokens import Language
from edge_tts.voices.voice import DEFAULT_PRESET

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.service.messages import Manner
    from edge_tts.text.tokens import Segment

_WARM_UP_TEXTS = {Language.EN: "Ready.", Language.ZH: "好。"}

log = logging.getLogger(__name__)


class VoiceSource:
    """Hands out the segments of a text and renders any one of them."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        info = speaker.voice
        self._facts = VoiceFacts(
            name=info.name,
            version=info.version,
            languages=[language.value for language in info.languages],
            speakers=list(info.speakers),
            sample_rate_hz=info.sample_rate_hz,
            licence=info.licence,
            source=info.source,
        )

    @property
    def facts(self) -> VoiceFacts:
        """The voice, and what runs its parts now."""
        engines = self._speaker.engines
        if engines is None:
            return self._facts
        return dataclasses.replace(
            self._facts,
            engines={part.part: str(part) for part in engines.choices},
            device_bytes=engines.device_bytes,
        )

    def segments(
        self, text: str, manner: "Manner", tally: Optional[Tally] = None
    ) -> Iterator["Segment"]:
        """Divide a text; lazily, deterministically. Raises InputError for an unknown manner."""
        language = self._delivery(manner).language
        return self._speaker.segments(text, language, tally, ssml=manner.ssml)

    def render(self, segment: "Segment", text: str, manner: "Manner") -> Iterator["AudioChunk"]:
        """Yield the sound of one segment of `text`; the same samples every time."""
        delivery = self._delivery(manner)
        return self._speaker.render(segment, self._speaker.choose_speaker(text, delivery), delivery)

    def trim(self) -> None:
        """The voice keeps nothing between segments."""

    def warm_up(self) -> None:
        """Speak once to nobody, so that the first listener does not wait for lazy set-up."""
        known = self._speaker.voice.languages
        language = Language.EN if Language.EN in known else known[0]
        try:
            for _ in self._speaker.stream(_WARM_UP_TEXTS[language], language=language):
                pass
        except InputError as error:
            # A small vocabulary may lack a letter of it; such a voice still speaks other texts.
            log.warning("the voice is not warmed up: %s", error)

    def _delivery(self, manner: "Manner") -> Delivery:
        voice = self._speaker.voice
        if manner.voice is not None and manner.voice not in (voice.name, *voice.speakers):
            raise InputError(
                f"this service speaks with the voice {voice.name!r}, not {manner.voice!r};"
                f" {speaker_hint(manner.voice, voice)}",
                code="input.unknown_voice",
            )
        named = manner.voice if manner.voice in voice.speakers else None
        return self._speaker.checked(
            Delivery(
                speaker=manner.speaker or named,
                language=_language(manner.language),
                speed=manner.speed,
                volume=manner.volume,
                instruct=self._speaker.delivery.instruct,
                seed=self._speaker.delivery.seed,
            )
        )


def open_voice(options: List[str]) -> VoiceSource:
    """Load a voice as the worker's options say."""
    parser = argparse.ArgumentParser(prog="edge-tts worker")
    parser.add_argument("--voice", required=True)
    parser.add_argument("--lexicon", type=Path)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--preset", default=DEFAULT_PRESET.value)
    parser.add_argument("--fallback-voice")
    parser.add_argument("--instruct")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pauses", type=json.loads, default={}, help="JSON of a PauseTable")
    args = parser.parse_args(options)
    source = VoiceSource(
        Speaker(
            args.voice,
            lexicon=args.lexicon,
            pauses=PauseTable(**args.pauses),
            n_threads=args.threads or None,
            preset=args.preset,
            fallback=args.fallback_voice,
            instruct=args.instruct,
            seed=args.seed,
        )
    )
    source.warm_up()
    return source


def _language(tag: Optional[str]) -> Optional[Language]:
    """Language of a BCP 47 tag such as `en-GB`; None and `auto` leave it to the text."""
    if tag is None or tag == "auto":
        return None
    try:
        return Language(tag.replace("_", "-").split("-")[0].lower())
    except ValueError:
        raise InputError(
            f"language {tag!r} is not spoken; use zh, en or auto", code="input.unknown_language"
        ) from None
