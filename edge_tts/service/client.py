"""A blocking client of the service, for the command line and for programs that embed it."""

from __future__ import annotations

import socket
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Deque, Dict, Iterator, Optional, Tuple, Type

from edge_tts.errors import CODES, EdgeTTSError, ServiceError
from edge_tts.service.codec import Decoder, Frame, FrameLimits, encode
from edge_tts.service.sockets import find_socket

_READ_BYTES = 64 * 1024
_TIMEOUT_S = 10.0
_LIMITS = FrameLimits(data_bytes=1024 * 1024, payload_bytes=1024 * 1024)


@dataclass(frozen=True)
class Ending:
    """How an announcement ended: a reason of `edge-finished`, or "accepted" if nobody waited.

    `unspoken` is what the text held and the voice does not speak, in words for people.
    """

    reason: str
    unspoken: Tuple[str, ...] = ()


class Client:
    """One connection to a running service.

    Raises ServiceError `service.not_running` when no service answers, and the service's own
    errors with their codes.
    """

    def __init__(self, path: Optional[Path] = None) -> None:
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._decoder = Decoder(_LIMITS)
        self._frames: Deque[Frame] = deque()
        place = path or find_socket(None)
        try:
            if place is None:
                raise FileNotFoundError
            self._link.settimeout(_TIMEOUT_S)
            self._link.connect(str(place))
        except OSError as error:
            self._link.close()
            raise _not_running(place) from error

    def send(self, kind: str, **fields: Any) -> None:
        """Send an event; fields that are None are left out."""
        data = {name: value for name, value in fields.items() if value is not None}
        try:
            self._link.sendall(encode(Frame(kind, data)))
        except OSError as error:
            raise self._parting_fault() from error

    def receive(self, timeout_s: Optional[float] = _TIMEOUT_S) -> Frame:
        """The next frame. Raises what an `error` frame says, and ServiceError on loss or time."""
        frame = self.receive_any(timeout_s)
        if frame.type == "error":
            raise fault_in(frame.data)
        return frame

    def receive_any(self, timeout_s: Optional[float] = _TIMEOUT_S) -> Frame:
        """The next frame, `error` frames included. Raises ServiceError on loss or time."""
        while not self._frames:
            self._link.settimeout(timeout_s)
            try:
                data = self._link.recv(_READ_BYTES)
            except socket.timeout as error:
                raise ServiceError("the service does not answer; see its status") from error
            except OSError as error:
                raise _lost() from error
            if not data:
                raise _lost()
            self._frames.extend(self._decoder.feed(data))
        return self._frames.popleft()

    def _parting_fault(self) -> EdgeTTSError:
        """Why the service closed the connection: it may have said so before it did."""
        try:
            while True:
                frame = self.receive_any()
                if frame.type == "error":
                    return fault_in(frame.data)
        except ServiceError as lost:
            return lost

    def ask(self, kind: str, answer: str, **fields: Any) -> Frame:
        """Send a request and return the first frame of type `answer`."""
        self.send(kind, **fields)
        while True:
            frame = self.receive()
            if frame.type == answer:
                return frame

    def speak(self, text: str, **fields: Any) -> Iterator[Frame]:
        """Queue `text` and yield its events: `edge-accepted` first, `edge-finished` last.

        `fields` are those of `edge-speak`. Closing the iterator leaves the utterance alone;
        closing the client ends it, unless it is detached.
        """
        uid = self.ask("edge-speak", "edge-accepted", text=text, **fields)
        yield uid
        while True:
            frame = self.receive(timeout_s=None)
            if frame.data.get("id") != uid.data["id"]:
                continue
            yield frame
            if frame.type == "edge-finished":
                return

    def announce(self, text: str, *, wait: bool = True, **fields: Any) -> Ending:
        """Speak `text` on the service's sink; returns how it ended.

        Without `wait` the utterance outlives this connection, and the answer is "accepted" as soon
        as it is queued. Raises the error by which the utterance was refused or failed.
        """
        if not wait:
            self.ask("edge-speak", "edge-accepted", text=text, detached=True, **fields)
            return Ending("accepted")
        *_, last = self.speak(text, **fields)
        if last.data["reason"] == "failed":
            raise fault_in(last.data)
        return Ending(str(last.data["reason"]), tuple(last.data.get("unspoken", ())))

    def status(self) -> Dict[str, Any]:
        """The service's status."""
        return dict(self.ask("edge-status", "edge-status").data)

    def close(self) -> None:
        """End the connection. Idempotent."""
        self._link.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


_EXIT_KINDS = {kind.default_code.split(".")[0]: kind for kind in EdgeTTSError.__subclasses__()}


def fault_in(data: Any) -> EdgeTTSError:
    """The error of the tree that has the code the service sent."""
    code = data.get("code")
    known = code if code in CODES else "internal"
    kind = _EXIT_KINDS.get(known.split(".")[0], EdgeTTSError)
    return kind(str(data.get("text", "the service reported an error")), code=known)


def _not_running(place: Optional[Path]) -> ServiceError:
    where = f" on {place}" if place is not None else ""
    return ServiceError(
        f"no service answers{where}; start it with 'edge-tts service' or systemctl",
        code="service.not_running",
    )


def _lost() -> ServiceError:
    return ServiceError("the service closed the connection; see its log", code="service.failed")
