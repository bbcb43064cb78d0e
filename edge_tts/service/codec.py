"""Wyoming framing, bounded: bytes in, frames out, no I/O.

A frame is one line of JSON (`type`, optional `data`, `data_length`, `payload_length`), then
`data_length` bytes of JSON merged over `data`, then `payload_length` raw bytes. The layout is
Wyoming's (https://github.com/OHF-Voice/wyoming, "Format"); the limits are ours. After a framing
error the position of the next frame is unknown, so the connection must be closed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, NoReturn, Optional

from edge_tts.errors import ServiceError

# An integer longer than this is nobody's length or rate; int() takes quadratic time on more.
_MAX_INTEGER_DIGITS = 20


@dataclass(frozen=True)
class Frame:
    """One protocol event: its type, its fields and its raw payload."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)
    payload: bytes = b""


@dataclass(frozen=True)
class FrameLimits:
    """Largest size of each part of a frame, in bytes."""

    header_bytes: int = 16 * 1024
    data_bytes: int = 256 * 1024
    payload_bytes: int = 64 * 1024


@dataclass(frozen=True)
class _Header:
    type: str
    data: Dict[str, Any]
    data_bytes: int
    payload_bytes: int


def encode(frame: Frame) -> bytes:
    """Return the bytes of `frame`."""
    header: Dict[str, Any] = {"type": frame.type}
    data = b""
    if frame.data:
        data = json.dumps(dict(frame.data), ensure_ascii=False, allow_nan=False).encode()
        header["data_length"] = len(data)
    if frame.payload:
        header["payload_length"] = len(frame.payload)
    return b"".join((json.dumps(header).encode(), b"\n", data, frame.payload))


class Decoder:
    """Turns a byte stream into frames; holds at most one frame's worth of bytes plus one feed."""

    def __init__(self, limits: FrameLimits) -> None:
        self._limits = limits
        self._buffer = bytearray()
        self._header: Optional[_Header] = None
        self._scanned = 0

    @property
    def is_mid_frame(self) -> bool:
        """True when the stream stands inside a frame, so that its end here is a truncation."""
        return self._header is not None or bool(self._buffer)

    def feed(self, data: bytes) -> List[Frame]:
        """Take received bytes, return the frames they complete.

        Raises `ServiceError` (`service.bad_frame`, `service.frame_too_large`); the stream cannot be
        decoded further after that.
        """
        self._buffer += data
        frames: List[Frame] = []
        while True:
            frame = self._next()
            if frame is None:
                return frames
            frames.append(frame)

    def _next(self) -> Optional[Frame]:
        if self._header is None:
            self._header = self._read_header()
        header = self._header
        if header is None or len(self._buffer) < header.data_bytes + header.payload_bytes:
            return None
        body_end = header.data_bytes + header.payload_bytes
        data = bytes(self._buffer[: header.data_bytes])
        payload = bytes(self._buffer[header.data_bytes : body_end])
        del self._buffer[:body_end]
        self._header = None
        if data:
            header.data.update(_parse_object(data, "data"))
        return Frame(header.type, header.data, payload)

    def _read_header(self) -> Optional[_Header]:
        end = self._buffer.find(b"\n", self._scanned)
        if max(end, len(self._buffer) if end < 0 else 0) > self._limits.header_bytes:
            _too_large("header", self._limits.header_bytes)
        if end < 0:
            self._scanned = len(self._buffer)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._scanned = 0
        return self._checked_header(_parse_object(line, "header"))

    def _checked_header(self, fields: Dict[str, Any]) -> _Header:
        kind = fields.get("type")
        if not isinstance(kind, str) or not kind:
            _bad("the header has no 'type'")
        data = fields.get("data")
        if data is None:
            data = {}
        elif not isinstance(data, dict):
            _bad("'data' is not an object")
        return _Header(
            kind,
            data,
            _length(fields, "data_length", self._limits.data_bytes),
            _length(fields, "payload_length", self._limits.payload_bytes),
        )


def _length(fields: Mapping[str, Any], name: str, limit: int) -> int:
    value = fields.get(name)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        _bad(f"'{name}' is not a whole number of bytes")
    if value > limit:
        _too_large(name, limit)
    return value


def _parse_object(raw: bytes, part: str) -> Dict[str, Any]:
    try:
        value = json.loads(raw.decode(), parse_int=_parse_integer, parse_constant=_parse_constant)
    except (ValueError, RecursionError) as error:
        raise ServiceError(
            f"the {part} of a frame is not JSON: {_brief(error)}", code="service.bad_frame"
        ) from error
    if not isinstance(value, dict):
        _bad(f"the {part} of a frame is not a JSON object")
    return value


def _parse_integer(digits: str) -> int:
    if len(digits) > _MAX_INTEGER_DIGITS:
        raise ValueError("an integer is too long")
    return int(digits)


def _parse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _brief(error: Exception) -> str:
    # A decode error's text may quote the input, which may be someone's announcement.
    return "nested too deeply" if isinstance(error, RecursionError) else type(error).__name__


def _bad(message: str) -> NoReturn:
    raise ServiceError(f"bad frame: {message}", code="service.bad_frame")


def _too_large(part: str, limit: int) -> NoReturn:
    raise ServiceError(
        f"bad frame: {part} exceeds the limit of {limit} bytes", code="service.frame_too_large"
    )
