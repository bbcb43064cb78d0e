"""Frozen dataclasses from documents that people and other programs write.

A document (parsed JSON or YAML) is checked against the fields' types: nothing unknown, nothing
missing, nothing of another type. An error says where in the document it is.
"""

from __future__ import annotations

import collections.abc
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Dict, Mapping, Type, TypeVar, Union, get_type_hints

Record = TypeVar("Record")

_NAMES: Mapping[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "a truth"}


class RecordError(ValueError):
    """A document does not fit its dataclass; the message begins with the place."""


def read_record(kind: Type[Record], document: Any, where: str = "the document") -> Record:
    """Build a `kind` from a mapping. Fields may be text, numbers, truths, `Optional`,
    `Tuple[x, ...]`, `Mapping[str, x]` and further dataclasses. Raises RecordError.
    """
    if not isinstance(document, dict):
        raise RecordError(f"{where} must be a mapping")
    known: Dict[str, "Field[Any]"] = {field.name: field for field in fields(kind)}  # type: ignore
    unknown = [str(key) for key in document if key not in known]
    if unknown:
        raise RecordError(f"{where} has the unknown key {unknown[0]!r}; known: {', '.join(known)}")
    missing = [name for name in known if name not in document and not _has_default(known[name])]
    if missing:
        raise RecordError(f"{where} lacks the key {missing[0]!r}")
    types = get_type_hints(kind)
    values = {
        name: _read(types[name], value, f"{where}: {name}") for name, value in document.items()
    }
    try:
        return kind(**values)
    except RecordError as error:
        raise RecordError(f"{where}: {error}") from error


def _has_default(field: "Field[Any]") -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _read(kind: Any, value: Any, where: str) -> Any:
    origin: Any = getattr(kind, "__origin__", None)
    arguments: Any = getattr(kind, "__args__", ())
    if origin is Union:  # only Optional is used
        return None if value is None else _read(arguments[0], value, where)
    if origin is tuple:
        return tuple(_read(arguments[0], item, where) for item in _of(list, "a list", value, where))
    if origin is collections.abc.Mapping:
        items = _of(dict, "a mapping", value, where).items()
        return {str(key): _read(arguments[1], item, f"{where}: {key}") for key, item in items}
    if isinstance(kind, type) and is_dataclass(kind):
        return read_record(kind, value, where)
    return _scalar(kind, value, where)


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise RecordError(f"{where} must be {_NAMES[kind]}, not {value!r}")
    return value


def _of(kind: Any, name: str, value: Any, where: str) -> Any:
    if not isinstance(value, kind):
        raise RecordError(f"{where} must be {name}")
    return value
