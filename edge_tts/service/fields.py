"""Typed, bounded reading of a frame's fields.

Absent and null fields are equal, as Wyoming clients send either. Unknown fields are ignored, so
that a newer client works with an older service.
"""

from __future__ import annotations

import math
from typing import Any, Mapping, NoReturn, Optional

from edge_tts.errors import ServiceError

NAME_LIMIT = 128


class Fields:
    """The fields of one request. Every getter raises `service.bad_request` on a wrong value."""

    def __init__(self, kind: str, data: Mapping[str, Any]) -> None:
        self._kind = kind
        self._data = data

    def text(self, name: str, *, limit: Optional[int] = None) -> str:
        """A required string of at most `limit` characters (None: bounded by the frame only)."""
        value = self._data.get(name)
        if not isinstance(value, str):
            self._fail(name, "must be a string")
        if limit is not None and len(value) > limit:
            self._fail(name, f"must have at most {limit} characters")
        return value

    def optional_text(self, name: str, *, limit: int) -> Optional[str]:
        """An optional string of at most `limit` characters."""
        return None if self._data.get(name) is None else self.text(name, limit=limit)

    def name(self, name: str) -> Optional[str]:
        """An optional identifier: 1 to 128 printable characters."""
        if self._data.get(name) is None:
            return None
        value = self.text(name, limit=NAME_LIMIT)
        if not value or not value.isprintable():
            self._fail(name, "must be a non-empty printable string")
        return value

    def number(
        self, name: str, low: float, high: float, default: Optional[float] = None
    ) -> Optional[float]:
        """An optional finite number in [low, high]."""
        value = self._data.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._fail(name, "must be a number")
        if not math.isfinite(value) or not low <= value <= high:
            self._fail(name, f"must be between {low:g} and {high:g}")
        return float(value)

    def flag(self, name: str) -> bool:
        """An optional boolean, false when absent."""
        value = self._data.get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            self._fail(name, "must be true or false")
        return value

    def group(self, name: str) -> "Fields":
        """The fields of an optional nested object."""
        value = self._data.get(name)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            self._fail(name, "must be an object")
        return Fields(f"{self._kind}.{name}", value)

    def fail(self, name: str, message: str) -> NoReturn:
        """Raise the error for a field whose value the caller refuses."""
        self._fail(name, message)

    def _fail(self, name: str, message: str) -> NoReturn:
        raise ServiceError(f"{self._kind}: '{name}' {message}", code="service.bad_request")
