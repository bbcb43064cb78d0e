"""The public API: one object that turns text into sound."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from edge_tts.audio.chunk import AudioChunk, from_offset, with_marks
from edge_tts.errors import InputError
from edge_tts.text.boundaries import DEFAULT_PAUSES, PauseTable
from edge_tts.text.characters import HAN
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.tokens import Language
from edge_tts.voices.voice import DEFAULT_PRESET, PlannedSegment, Preset, Style

if TYPE_CHECKING:
    from edge_tts.audio.sink import Sink
    from edge_tts.config import Config
    from edge_tts.runtime.selection import Engines
    from edge_tts.text.report import Report, Tally
    from edge_tts.text.ssml import MarkTrack
    from edge_tts.text.tokens import Segment
    from edge_tts.voices.voice import Voice, VoiceInfo

MIN_SPEED, MAX_SPEED = 0.5, 2.0
MAX_VOLUME = 2.0
FORESEEN_SEGMENTS = 16
"""Of one text, so that a long one among many takes no more memory than they."""

Text = Union[str, Iterable[str]]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Delivery:
    """How a text is spoken. `speaker` None chooses by the text's language, `language` None by run.

    `speed` is a factor on the speaking rate (0.5 to 2), `volume` on the amplitude (0 to 2).
    `instruct` and `seed` are those of `voices.voice.Style`. With `ssml` the text is an SSML
    document (docs/ssml.md).
    """

    speaker: Optional[str] = None
    language: Optional[Language] = None
    speed: float = 1.0
    volume: float = 1.0
    instruct: Optional[str] = None
    seed: int = 0
    ssml: bool = False


@dataclass(frozen=True)
class Position:
    """A sample within an utterance: what `AudioChunk` carries, as a place to continue from."""

    segment_index: int = 0
    offset: int = 0


class Speaker:
    """Speaks with one installed voice. Not thread-safe; one utterance at a time.

    `lexicon` is a YAML file of the user's own pronunciations, `preset` the name of a
    `voices.voice.Preset`; `fallback` names a voice for segments in which `voice` goes astray.
    Further keywords are fields of `Delivery` and hold for every text that does not set its own.

    Raises ModelError for a voice that is missing or damaged, InputError for an unknown speaker or
    preset.
    """

    def __init__(
        self,
        voice: str = "kokoro",
        *,
        lexicon: Optional[Union[str, Path]] = None,
        pauses: PauseTable = DEFAULT_PAUSES,
        n_threads: Optional[int] = None,
        preset: str = DEFAULT_PRESET.value,
        fallback: Optional[str] = None,
        **delivery: Any,
    ) -> None:
        from edge_tts.voices import catalog

        self._voice: Voice = catalog.load(voice, n_threads, _preset(preset))
        if fallback is not None:
            self._voice = _with_fallback(self._voice, fallback, n_threads)
        self._front_end = _front_end(self._voice, lexicon, pauses)
        self.delivery = self.checked(Delivery(**delivery))

    @property
    def voice(self) -> "VoiceInfo":
        """Facts about the voice in use."""
        return self._voice.info

    @property
    def engines(self) -> "Optional[Engines]":
        """What runs the voice's parts, for voices that tell."""
        return self._voice.engines

    @property
    def sample_rate_hz(self) -> int:
        """Rate of every chunk."""
        return self._voice.info.sample_rate_hz

    @property
    def report(self) -> "Report":
        """What the latest text held that is not spoken."""
        return self._front_end.report

    def stream(
        self, text: Text, *, start: Position = Position(), **delivery: Any
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`, each chunk as soon as it is known.

        `text` may be an iterable of pieces, read no further ahead than a paragraph. Further
        keywords replace fields of `delivery` for this text. `start` continues an earlier utterance
        of the same text and delivery at an exact sample. Close the iterator to stop.

        Raises InputError at once for a bad delivery or SSML document.
        """
        wanted = self.checked(dataclasses.replace(self.delivery, **delivery))
        chunks = self._chunks(text, wanted, start)
        return (chunk for chunk in chunks if len(chunk.samples) or chunk.is_final)

    def synthesize(self, text: Text, **delivery: Any) -> AudioChunk:
        """The whole sound of `text` as one chunk, empty when there is nothing to speak."""
        import numpy as np

        chunks = [chunk.samples for chunk in self.stream(text, **delivery)]
        samples = np.concatenate([np.zeros(0, np.float32), *chunks])
        return AudioChunk(samples, self.sample_rate_hz, 0, 0, True)

    def save(self, text: Text, path: Union[str, Path], **delivery: Any) -> None:
        """Write `text` as a 16 bit mono WAV file; nothing is left behind on an error."""
        from edge_tts.audio.sink import WavSink

        with WavSink(path, self.sample_rate_hz) as sink:
            self.send(text, sink, **delivery)

    def speak(self, text: Text, *, device: Optional[str] = None, **delivery: Any) -> None:
        """Play `text` on a sound device and return when it has been heard.

        Raises AudioError when the device is missing, busy or lost.
        """
        from edge_tts.audio.sink import DeviceSink

        with DeviceSink(device, sample_rate_hz=self.sample_rate_hz) as sink:
            self.send(text, sink, **delivery)

    def send(self, text: Text, sink: "Sink", **delivery: Any) -> int:
        """Write `text` to `sink`, synthesising ahead of it; returns the number of samples.

        An exception in this thread, KeyboardInterrupt included, aborts the sink at once.
        """
        from edge_tts.lookahead import Lookahead

        n_samples = 0
        began_s = time.monotonic()
        wanted = self.checked(dataclasses.replace(self.delivery, **delivery))
        with Lookahead(self._chunks(text, wanted, Position())) as ahead:
            try:
                for chunk in ahead:
                    if not len(chunk.samples):
                        continue
                    if n_samples == 0:
                        log.debug("first sound after %.3f s", time.monotonic() - began_s)
                    sink.write(chunk)
                    n_samples += len(chunk.samples)
                sink.drain()
            except BaseException:
                sink.abort()
                raise
        return n_samples

    @property
    def is_faster_together(self) -> bool:
        """Whether `foresee` pays."""
        return self._voice.is_faster_together

    def foresee(self, texts: "Iterable[Tuple[str, Mapping[str, Any]]]") -> None:
        """Compute ahead, for texts with the keywords of their delivery, what is cheaper together.

        Speaking them afterwards, in any order, is the same as without, only sooner. Of each text
        the first `FORESEEN_SEGMENTS` count; one that cannot be spoken is passed over.
        """
        planned: List[PlannedSegment] = []
        for text, delivery in texts:
            # Whoever speaks it is told.
            with contextlib.suppress(InputError):
                planned += self._planned(text, delivery)
        self._voice.foresee(planned)

    def _planned(self, text: str, delivery: "Mapping[str, Any]") -> List[PlannedSegment]:
        wanted = self.checked(dataclasses.replace(self.delivery, **delivery))
        speaker = self.choose_speaker(_with_opening(text)[1], wanted)
        style = Style(wanted.instruct, wanted.seed)
        segments = self.segments(text, wanted.language, ssml=wanted.ssml)
        return [
            PlannedSegment(segment, segment.voicing.speaker or speaker, style)
            for segment in itertools.islice(segments, FORESEEN_SEGMENTS)
            if segment.tokens
        ]

    def close(self) -> None:
        """Release the voice. Idempotent."""
        self._voice.close()

    def __enter__(self) -> "Speaker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def checked(self, delivery: Delivery) -> Delivery:
        """`delivery` itself. Raises InputError where this voice cannot speak so."""
        _check_range("speed", delivery.speed, MIN_SPEED, MAX_SPEED)
        _check_range("volume", delivery.volume, 0.0, MAX_VOLUME)
        _check_language(delivery.language)
        speakers = self._voice.info.speakers
        if delivery.speaker is not None and delivery.speaker not in speakers:
            raise _unknown_speaker(delivery.speaker, self._voice.info)
        if delivery.instruct is not None and not self._voice.takes_instructions:
            raise InputError(
                f"voice {self._voice.info.name!r} takes no instructions; leave instruct out, or "
                "choose a CosyVoice voice"
            )
        return delivery

    def _chunks(self, text: Text, delivery: Delivery, start: Position) -> Iterator[AudioChunk]:
        from edge_tts.text import ssml

        if not delivery.ssml:
            return self._stream(text, delivery, start, ssml.MarkTrack(()))
        text = text if isinstance(text, str) else "".join(text)
        return self._stream(text, delivery, start, ssml.MarkTrack(ssml.parse(text)))

    def _stream(
        self, text: Text, delivery: Delivery, start: Position, marks: "MarkTrack"
    ) -> Iterator[AudioChunk]:
        text, opening = _with_opening(text)
        speaker = self.choose_speaker(opening, delivery)
        for segment in self.segments(text, delivery.language, ssml=delivery.ssml):
            reached = marks.reached(segment.span.start)
            if segment.index < start.segment_index:
                continue
            skip = start.offset if segment.index == start.segment_index else 0
            chunks = from_offset(self.render(segment, speaker, delivery), skip)
            yield from with_marks(chunks, () if skip else reached)

    def choose_speaker(self, opening: str, delivery: Delivery) -> str:
        """The speaker of `delivery`, or the default one for how a text begins."""
        language = delivery.language or _reading_language(opening)
        return delivery.speaker or self._voice.info.default_speaker(language)

    def segments(
        self,
        text: Text,
        language: Optional[Language] = None,
        tally: Optional["Tally"] = None,
        *,
        ssml: bool = False,
    ) -> Iterator["Segment"]:
        """Divide a text into what is rendered in one go; lazily, the same way every time.

        `tally` counts what is not spoken, for who divides several texts by turns.
        """
        return self._front_end.segments(text, language, tally, ssml=ssml)

    def render(self, segment: "Segment", speaker: str, delivery: Delivery) -> Iterator[AudioChunk]:
        """Yield the sound of one segment; the same samples every time on one machine.

        What the segment's text asks of the voicing counts before `speaker` and on top of
        `delivery`. A chunk that is empty and not final only offers the chance to stop.
        """
        from edge_tts.audio.finish import SegmentFinisher

        finisher = SegmentFinisher(self.sample_rate_hz)
        if not segment.tokens:
            return finisher.finish((), segment.index, segment.pause_s)
        voicing = segment.voicing
        speaker = voicing.speaker or speaker
        speed = min(max(delivery.speed * voicing.rate, MIN_SPEED), MAX_SPEED)
        low, high = self._voice.speed_range
        model_speed = min(max(speed, low), high)
        return finisher.finish(
            self._voice.synthesize(
                segment, speaker, model_speed, Style(delivery.instruct, delivery.seed)
            ),
            segment.index,
            segment.pause_s / speed,
            volume=delivery.volume * voicing.volume,
            gain=self._voice.gain(speaker),
            tempo=speed / model_speed,
        )


def open_speaker(config: "Config", name: Optional[str] = None) -> Speaker:
    """The speaker that a configuration describes; `name` is a voice, a speaker or VOICE/SPEAKER."""
    voice, speaker = split_voice_name(name, config.voice) if name else (config.voice, None)
    return Speaker(
        voice,
        lexicon=config.lexicon,
        pauses=PauseTable(**vars(config.pauses)),
        n_threads=config.threads or None,
        preset=config.preset,
        fallback=config.fallback_voice,
        speaker=speaker or config.speaker,
        language=None if config.language == "auto" else Language(config.language),
        speed=config.speed,
        volume=config.volume,
        instruct=config.instruct,
        seed=config.seed,
    )


def split_voice_name(name: str, default_voice: str) -> Tuple[str, Optional[str]]:
    """Voice and speaker named by `VOICE/SPEAKER`, by a voice alone or by a speaker alone."""
    from difflib import get_close_matches

    from edge_tts.voices import catalog

    voice, slash, speaker = name.partition("/")
    if slash:
        return voice, speaker or None
    voices = {info.name: info for info in catalog.installed()}
    speakers = voices[default_voice].speakers if default_voice in voices else ()
    # A misspelt name is what it resembles most, so that the error offers the right one.
    nearest = get_close_matches(name, [*voices, *speakers], n=1)
    return (name, None) if nearest and nearest[0] in voices else (default_voice, name)


def _preset(name: str) -> Preset:
    try:
        return Preset(name)
    except ValueError:
        known = ", ".join(preset.value for preset in Preset)
        raise InputError(
            f"there is no preset {name!r}; known: {known}", code="input.unknown_preset"
        ) from None


def _with_fallback(voice: "Voice", name: str, n_threads: Optional[int]) -> "Voice":
    """`voice` with the voice `name` behind it, which must be installed but is not opened yet."""
    from edge_tts.voices import catalog
    from edge_tts.voices.fallback import VoiceWithFallback

    catalog.find(name)
    return VoiceWithFallback(voice, lambda: Speaker(name, n_threads=n_threads))


def _front_end(voice: "Voice", lexicon: Optional[Union[str, Path]], pauses: PauseTable) -> FrontEnd:
    from edge_tts.text.g2p.pronouncer import Pronouncer
    from edge_tts.text.lexicon_file import UserLexicon

    return FrontEnd(
        Pronouncer() if voice.reads_phonemes else None,
        voice.measure,
        voice.segment_limit,
        lexicon=UserLexicon(Path(lexicon)) if lexicon is not None else None,
        pauses=pauses,
        control_words=voice.control_words,
        speakers=voice.info.speakers,
    )


def _with_opening(text: Text) -> Tuple[Text, str]:
    """The text again, and enough of its beginning to choose a speaker by."""
    if isinstance(text, str):
        return text, text[:1000]
    pieces = iter(text)
    read: List[str] = []
    while sum(map(len, read)) < 100:
        piece = next(pieces, None)
        if piece is None:
            return read, "".join(read)
        read.append(piece)
    return _chain(read, pieces), "".join(read)


def _reading_language(text: str) -> Language:
    """Chinese speakers also read English well, English ones no Chinese: one character decides."""
    return Language.ZH if re.search(f"[{HAN}]", text) else Language.EN


def _chain(read: List[str], rest: Iterator[str]) -> Iterator[str]:
    yield from read
    yield from rest


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} must be from {low:g} to {high:g}, not {value!r}")


def _check_language(language: Optional[str]) -> None:
    known = [known.value for known in Language]
    if language is not None and language not in known:
        raise InputError(
            f"there is no language {language!r}; known: {', '.join(known)}",
            code="input.unknown_language",
        )


def _unknown_speaker(name: str, voice: "VoiceInfo") -> InputError:
    return InputError(
        f"voice {voice.name!r} has no speaker {name!r}; {speaker_hint(name, voice)}",
        code="input.unknown_speaker",
    )


def speaker_hint(name: str, voice: "VoiceInfo") -> str:
    """What to say to somebody who asked `voice` for the unknown speaker `name`."""
    from difflib import get_close_matches

    near = get_close_matches(name, voice.speakers, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(voice.speakers)}"
