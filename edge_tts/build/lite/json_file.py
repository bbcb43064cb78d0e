"""JSON files of a checkpoint, with errors that name the file and the field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Optional

from edge_tts.errors import ModelError
from edge_tts.runtime.integrity import what_instead_of_a_model

_MAX_BYTES = 4 * 1024 * 1024


class JsonFile:
    """Typed look-ups in one object of a JSON file. Every fault is a ModelError."""

    def __init__(self, path: Path, fields: Dict[str, Any], section: str = "") -> None:
        self._path = path
        self._fields = fields
        self._section = section

    @classmethod
    def read(cls, path: Path) -> "JsonFile":
        """Parse `path`, which must hold an object."""
        if not path.is_file():
            raise ModelError(
                f"{path} is missing; give the folder of a whole checkpoint",
                code="model.file_missing",
            )
        impostor = what_instead_of_a_model(path)
        if impostor:
            raise ModelError(
                f"{path} is {impostor}; download the checkpoint again", code="model.not_a_model"
            )
        try:
            with path.open("rb") as file:
                head = file.read(_MAX_BYTES + 1)
            if len(head) > _MAX_BYTES:
                raise ValueError(f"it is longer than {_MAX_BYTES} bytes")
            fields = json.loads(head.decode("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise _invalid(path, f"it is not JSON ({error})") from error
        if not isinstance(fields, dict):
            raise _invalid(path, "it is not an object")
        return cls(path, fields)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def names(self) -> List[str]:
        """Names of all fields."""
        return list(self._fields)

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self._fields.get(key) is not None

    def section(self, key: str) -> "JsonFile":
        """An object within this one."""
        value = self._fields.get(key)
        if not isinstance(value, dict):
            raise self.fault(key, "must be an object")
        return JsonFile(self._path, value, f"{key}.")

    def integer(self, key: str, default: Optional[int] = None, *, least: int = 1) -> int:
        """A whole number of at least `least`."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.fault(key, f"must be a whole number of at least {least}, not {value!r}")
        return value

    def number(self, key: str, default: Optional[float] = None) -> float:
        """A number."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fault(key, f"must be a number, not {value!r}")
        return float(value)

    def flag(self, key: str, default: Optional[bool] = None) -> bool:
        """True or false."""
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, f"must be true or false, not {value!r}")
        return value

    def text(self, key: str, default: Optional[str] = None) -> str:
        """A text."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self.fault(key, f"must be a text, not {value!r}")
        return value

    def integers(self, key: str, default: Optional[List[int]] = None) -> List[int]:
        """A list of whole numbers from 0."""
        value = self._value(key, default)
        if not isinstance(value, (list, tuple)) or not all(
            type(item) is int and item >= 0 for item in value
        ):
            raise self.fault(key, f"must be a list of whole numbers, not {value!r}")
        return list(value)

    def raw(self, key: str) -> Any:
        """The value as it is, None where there is none."""
        return self._fields.get(key)

    def fault(self, key: str, cause: str) -> ModelError:
        """The error for one field."""
        return _invalid(self._path, f"{self._section + key!r} {cause}")

    def unsupported(self, key: str, cause: str) -> ModelError:
        """The error for a field that is well formed but means something this version cannot do."""
        return ModelError(
            f"{self._path}: {self._section + key!r} {cause}", code="model.checkpoint_unsupported"
        )

    def _value(self, key: str, default: Any) -> Any:
        value = self._fields.get(key)
        if value is not None:
            return value
        if default is None:
            raise self.fault(key, "is missing")
        return default


def _invalid(path: Path, cause: str) -> ModelError:
    return ModelError(
        f"{path} is not usable: {cause}; see docs/lite.md for what a checkpoint must hold",
        code="model.checkpoint_invalid",
    )
