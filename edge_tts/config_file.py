"""One YAML configuration file as settings that remember their line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator, Mapping, Set

import yaml

from edge_tts.config import Option, Setting, unknown_key
from edge_tts.errors import ConfigError

MAX_FILE_BYTES = 65536

_ROOT_ID = 0
_GROUP_WRITE = 0o020
_OTHERS_WRITE = 0o002


def read_settings(path: Path, options: Mapping[str, Option]) -> Iterator[Setting]:
    """Yield the settings of one file in order. Every key is in `options`; values are unchecked.

    Raises ConfigError for a file that is unreadable, too large, not YAML or (as root) writable by
    other users, and for an unknown or repeated key.
    """
    root = _parse(path, _read(path))
    if root is not None and not _is_empty(root):
        yield from _section(path, root, "", options)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            _refuse_foreign(path, os.fstat(file.fileno()))
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _unreadable(f"{path}: {error.strerror}") from error
    if len(content) > MAX_FILE_BYTES:
        raise _unreadable(f"{path}: larger than {MAX_FILE_BYTES} bytes")
    return content


def _refuse_foreign(path: Path, status: os.stat_result) -> None:
    """Root must not obey a file that somebody else can change."""
    if os.geteuid() != _ROOT_ID:
        return
    is_foreign = (
        status.st_uid != _ROOT_ID
        or bool(status.st_mode & _OTHERS_WRITE)
        or (bool(status.st_mode & _GROUP_WRITE) and status.st_gid != _ROOT_ID)
    )
    if is_foreign:
        raise ConfigError(
            f"{path}: other users may change this file, so root does not read it;"
            f" run: chown root:root {path} && chmod 644 {path}",
            code="config.unsafe",
        )


def _parse(path: Path, content: bytes) -> Any:
    try:
        return yaml.compose(content.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise _unreadable(f"{path}: not UTF-8 text (byte {error.start})") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _unreadable(f"{path}:{line}: not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise _unreadable(f"{path}: not YAML: {error}") from error


def _section(
    path: Path, node: Any, prefix: str, options: Mapping[str, Option]
) -> Iterator[Setting]:
    if not isinstance(node, yaml.MappingNode):
        what = f"{prefix[:-1]!r}" if prefix else "the file"
        raise ConfigError(
            f"{_at(path, node)}: {what} must be a list of `key: value` lines",
            code="config.wrong_type",
        )
    seen: Set[str] = set()
    for key_node, value_node in node.value:
        key = f"{prefix}{key_node.value}"
        if key in seen:
            raise ConfigError(f"{_at(path, key_node)}: {key!r} stands here twice")
        seen.add(key)
        if key in options:
            value = _scalar(path, key, value_node)
            yield Setting(key, value, _at(path, key_node), path.parent.absolute())
        elif any(name.startswith(f"{key}.") for name in options):
            if not _is_empty(value_node):
                yield from _section(path, value_node, f"{key}.", options)
        else:
            raise unknown_key(_at(path, key_node), key, options)


def _is_empty(node: Any) -> bool:
    """A section whose lines are all commented out reads as a null."""
    return bool(node.tag == "tag:yaml.org,2002:null")


def _scalar(path: Path, key: str, node: Any) -> object:
    if not isinstance(node, yaml.ScalarNode):
        raise ConfigError(
            f"{_at(path, node)}: {key} must be a single value", code="config.wrong_type"
        )
    try:
        value: object = yaml.SafeLoader("").construct_object(node)
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError(
            f"{_at(path, node)}: {key} is not a plain value: {node.value!r}",
            code="config.wrong_type",
        ) from error
    return value


def _at(path: Path, node: Any) -> str:
    return f"{path}:{node.start_mark.line + 1}"


def _unreadable(message: str) -> ConfigError:
    return ConfigError(message, code="config.unreadable")
