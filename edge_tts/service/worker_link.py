"""What the front process and its worker say to each other, over the service's own codec.

Orders go to the worker: `Render`, `Cancel`, `Trim`, `Ping`. Replies come back: `Ready` once, then
`Begun`, `Piece`..., `Rendered` or `Failed` for a render, `Pong` for a ping. A render concerns one
segment and names everything it needs, so a new worker can take over in the middle of an utterance.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Union

from edge_tts.service.codec import Frame, FrameLimits
from edge_tts.service.messages import Manner
from edge_tts.service.replies import VoiceFacts

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk

# A chunk is at most one second; 192 kHz float32 is the most any voice could send.
LIMITS = FrameLimits(payload_bytes=1024 * 1024)


@dataclass(frozen=True)
class Render:
    """Synthesise segment `segment` of `text`. `request` grows with every order."""

    request: int
    uid: str
    text: str
    manner: Manner
    segment: int


@dataclass(frozen=True)
class Cancel:
    """Nobody wants the rest of this request."""

    request: int


@dataclass(frozen=True)
class Trim:
    """Give memory back to the system."""


@dataclass(frozen=True)
class Ping:
    """Show that the worker's main loop runs."""

    request: int


@dataclass(frozen=True)
class Ready:
    """The voice is loaded and has spoken a first time; later: what runs it has changed."""

    facts: VoiceFacts


@dataclass(frozen=True)
class Begun:
    """The segment exists; [start, end) is its span of code points in the text."""

    request: int
    start: int
    end: int


@dataclass(frozen=True)
class Piece:
    """Sound of the segment, in order."""

    request: int
    chunk: "AudioChunk"


@dataclass(frozen=True)
class Rendered:
    """The request is done. `exhausted`: the text has no segment of this index.

    With `exhausted` comes what the text held that is not spoken, in words for people.
    """

    request: int
    exhausted: bool
    unspoken: List[str] = dataclasses.field(default_factory=list)


@dataclass(frozen=True)
class Failed:
    """The request cannot be done; `code` and `message` are the error's."""

    request: int
    code: str
    message: str


@dataclass(frozen=True)
class Pong:
    """Answer to `Ping`, and a sign of life while a render has no sound yet."""

    request: int


Order = Union[Render, Cancel, Trim, Ping]
Reply = Union[Ready, Begun, Piece, Rendered, Failed, Pong]


def to_frame(message: Union[Order, Reply]) -> Frame:
    """Return the frame that carries `message`."""
    kind = type(message).__name__.lower()
    if not isinstance(message, Piece):
        return Frame(kind, dataclasses.asdict(message))
    chunk = message.chunk
    fields = {
        "request": message.request,
        "sample_rate_hz": chunk.sample_rate_hz,
        "segment_index": chunk.segment_index,
        "offset": chunk.offset,
        "is_final": chunk.is_final,
    }
    return Frame(kind, fields, chunk.samples.astype("<f4", copy=False).tobytes())


def order_from(frame: Frame) -> Order:
    """Return the order in a frame written by `to_frame`."""
    if frame.type == "render":
        fields = dict(frame.data)
        fields["manner"] = Manner(**fields["manner"])
        return Render(**fields)
    return _ORDERS[frame.type](**frame.data)


def reply_from(frame: Frame) -> Reply:
    """Return the reply in a frame written by `to_frame`."""
    if frame.type == "piece":
        return _piece(frame.data, frame.payload)
    if frame.type == "ready":
        return Ready(VoiceFacts(**frame.data["facts"]))
    return _REPLIES[frame.type](**frame.data)


def _piece(data: Mapping[str, Any], payload: bytes) -> Piece:
    import numpy as np

    from edge_tts.audio.chunk import AudioChunk

    fields = dict(data)
    request = fields.pop("request")
    return Piece(request, AudioChunk(samples=np.frombuffer(payload, dtype="<f4"), **fields))


_ORDERS: Dict[str, Callable[..., Order]] = {"cancel": Cancel, "trim": Trim, "ping": Ping}
_REPLIES: Dict[str, Callable[..., Reply]] = {
    "begun": Begun,
    "rendered": Rendered,
    "failed": Failed,
    "pong": Pong,
}
