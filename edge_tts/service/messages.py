"""What clients may ask: Wyoming's text-to-speech events and our own, as typed requests.

Wyoming events keep Wyoming's fields. Ours carry the prefix `edge-` and are described, field by
field, in `docs/protocol.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, Optional, Union

from edge_tts.errors import InputError, ServiceError
from edge_tts.service.codec import Frame
from edge_tts.service.fields import Fields
from edge_tts.service.scheduling import Priority

MAX_TEXT_CHARACTERS = 20_000
MAX_TTL_S = 24 * 3600.0
MIN_SPEED, MAX_SPEED = 0.5, 2.0
MAX_VOLUME = 2.0


@dataclass(frozen=True)
class Manner:
    """How a text is to be spoken. None leaves the choice to the service's configuration."""

    voice: Optional[str] = None
    speaker: Optional[str] = None
    language: Optional[str] = None
    speed: float = 1.0
    volume: float = 1.0
    ssml: bool = False

    def over(self, default: "Manner") -> "Manner":
        """This manner, with what it leaves open taken from `default`; the factors multiply."""
        return Manner(
            self.voice or default.voice,
            self.speaker or default.speaker,
            self.language or default.language,
            min(max(self.speed * default.speed, MIN_SPEED), MAX_SPEED),
            min(self.volume * default.volume, MAX_VOLUME),
            self.ssml,
        )


@dataclass(frozen=True)
class Describe:
    """Wyoming: ask for `info`."""


@dataclass(frozen=True)
class Ping:
    """Wyoming: ask for `pong` with the same text."""

    text: Optional[str]


@dataclass(frozen=True)
class Synthesize:
    """Wyoming: send the sound of a text to this client."""

    text: str
    manner: Manner


@dataclass(frozen=True)
class SynthesizeStart:
    """Wyoming: text follows in pieces."""

    manner: Manner


@dataclass(frozen=True)
class SynthesizeChunk:
    """Wyoming: a piece of text."""

    text: str


@dataclass(frozen=True)
class SynthesizeStop:
    """Wyoming: no more text."""


@dataclass(frozen=True)
class Speak:
    """Speak a text on the local sink.

    `uid` None lets the service choose one. `detached` speech goes on when its client is gone.
    """

    text: str
    manner: Manner
    uid: Optional[str]
    session: Optional[str]
    priority: Priority
    ttl_s: Optional[float]
    key: Optional[str]
    detached: bool


@dataclass(frozen=True)
class Stop:
    """End the utterances that match all given fields; with none given, `everything` must be set."""

    uid: Optional[str]
    session: Optional[str]
    key: Optional[str]
    everything: bool


@dataclass(frozen=True)
class Pause:
    """Hold everything but alerts, to the sample."""


@dataclass(frozen=True)
class Resume:
    """Undo `Pause`."""


@dataclass(frozen=True)
class QueryStatus:
    """Ask for `edge-status`."""


@dataclass(frozen=True)
class OpenSession:
    """Open a named session, or join it if it is open."""

    session: str


@dataclass(frozen=True)
class CloseSession:
    """Close a named session; its utterances end."""

    session: str


@dataclass(frozen=True)
class Subscribe:
    """Receive the events of every utterance and of the sound device on this connection."""


Request = Union[
    Describe,
    Ping,
    Synthesize,
    SynthesizeStart,
    SynthesizeChunk,
    SynthesizeStop,
    Speak,
    Stop,
    Pause,
    Resume,
    QueryStatus,
    OpenSession,
    CloseSession,
    Subscribe,
]


def parse(frame: Frame) -> Optional[Request]:
    """Return the request in `frame`, or None for an event this service does not know.

    Raises `ServiceError` (`service.bad_request`) or `InputError` (`input.text_too_long`).
    """
    parser = _PARSERS.get(frame.type)
    return parser(Fields(frame.type, frame.data)) if parser else None


def parse_priority(name: Optional[str]) -> Priority:
    """Return the priority of this lower-case name; `message` when None."""
    if name is None:
        return Priority.MESSAGE
    try:
        return Priority[name.upper()]
    except KeyError:
        known = ", ".join(priority.name.lower() for priority in Priority)
        raise ServiceError(
            f"unknown priority {name!r}; choose one of {known}", code="service.bad_request"
        ) from None


def check_text_length(n_characters: int) -> None:
    """Raise `InputError` when a request's text is longer than the service takes."""
    if n_characters > MAX_TEXT_CHARACTERS:
        raise InputError(
            f"the text has {n_characters} characters; the limit is {MAX_TEXT_CHARACTERS}, "
            "send it in parts",
            code="input.text_too_long",
        )


def _text(fields: Fields) -> str:
    text = fields.text("text")
    check_text_length(len(text))
    return text


def _wyoming_manner(fields: Fields, *, ssml: bool = False) -> Manner:
    voice = fields.group("voice")
    names = voice.name("name"), voice.name("speaker"), voice.name("language")
    speed = fields.number("speed", MIN_SPEED, MAX_SPEED) or 1.0
    return Manner(*names, speed=speed, ssml=ssml)


def _synthesize(fields: Fields) -> Synthesize:
    text_format = fields.name("text_format")
    if text_format not in (None, "text", "ssml"):
        fields.fail("text_format", "must be 'text' or 'ssml'")
    return Synthesize(_text(fields), _wyoming_manner(fields, ssml=text_format == "ssml"))


def _speak(fields: Fields) -> Speak:
    return Speak(
        text=_text(fields),
        manner=Manner(
            fields.name("voice"),
            fields.name("speaker"),
            fields.name("language"),
            fields.number("speed", MIN_SPEED, MAX_SPEED) or 1.0,
            fields.number("volume", 0.0, MAX_VOLUME, 1.0) or 0.0,
            fields.flag("ssml"),
        ),
        uid=fields.name("id"),
        session=fields.name("session"),
        priority=parse_priority(fields.name("priority")),
        ttl_s=fields.number("ttl_s", 0.0, MAX_TTL_S),
        key=fields.name("key"),
        detached=fields.flag("detached"),
    )


def _stop(fields: Fields) -> Stop:
    stop = Stop(fields.name("id"), fields.name("session"), fields.name("key"), fields.flag("all"))
    if not stop.everything and (stop.uid, stop.session, stop.key) == (None, None, None):
        fields.fail("id", "or 'session', 'key' or 'all' must be given")
    return stop


def _session_name(fields: Fields) -> str:
    session = fields.name("session")
    if session is None:
        fields.fail("session", "must be given")
    return session


_PARSERS: Dict[str, Callable[[Fields], Request]] = {
    "describe": lambda fields: Describe(),
    "ping": lambda fields: Ping(fields.optional_text("text", limit=MAX_TEXT_CHARACTERS)),
    "synthesize": _synthesize,
    "synthesize-start": lambda fields: SynthesizeStart(_wyoming_manner(fields)),
    "synthesize-chunk": lambda fields: SynthesizeChunk(_text(fields)),
    "synthesize-stop": lambda fields: SynthesizeStop(),
    "edge-speak": _speak,
    "edge-stop": _stop,
    "edge-pause": lambda fields: Pause(),
    "edge-resume": lambda fields: Resume(),
    "edge-status": lambda fields: QueryStatus(),
    "edge-session-open": lambda fields: OpenSession(_session_name(fields)),
    "edge-session-close": lambda fields: CloseSession(_session_name(fields)),
    "edge-subscribe": lambda fields: Subscribe(),
}
