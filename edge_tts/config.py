"""Configuration: files, then `EDGE_TTS_*` variables, then flags, into one frozen `Config`.

The dataclasses below are the table: each field carries its default, its range and its help, and
everything else (reading, checking, docs/config.md) follows from them.
"""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, NoReturn, Optional, Tuple, Type, Union

from edge_tts import paths
from edge_tts.errors import ConfigError

ENVIRONMENT_PREFIX = "EDGE_TTS_"

# Variables with the same prefix that other rooms read: not configuration keys.
_OTHER_VARIABLES = frozenset({paths.VOICES_DIR_VARIABLE, "EDGE_TTS_WHEELS", "EDGE_TTS_PYTHON"})

Value = Union[str, int, float, bool, Path, None]


@dataclass(frozen=True)
class Option:
    """One row of the table. `kind` is the type of the value; `key` is dotted inside a section."""

    key: str
    kind: type
    default: Value
    help: str
    low: float = -math.inf
    high: float = math.inf
    choices: Tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """Name of the environment variable that sets this option."""
        return ENVIRONMENT_PREFIX + self.key.replace(".", "_").upper()


@dataclass(frozen=True)
class Setting:
    """A value as it was given. `origin` names the file and line, the variable or the flag.

    A relative path counts from `folder`: the configuration file's own, or the current one.
    """

    key: str
    value: object
    origin: str
    folder: Path


def _option(kind: type, default: Value, text: str, **limits: Any) -> Any:
    return field(default=default, metadata={"option": (kind, default, text), "limits": limits})


def _section(section: Type[Any]) -> Any:
    return field(default_factory=section, metadata={"section": section})


@dataclass(frozen=True)
class Pauses:
    """Silence after a segment in seconds at speed 1; the fields of `text.boundaries.PauseTable`."""

    comma_s: float = _option(float, 0.14, "pause after a comma", low=0, high=5)
    clause_s: float = _option(float, 0.2, "pause after a colon or semicolon", low=0, high=5)
    sentence_s: float = _option(float, 0.35, "pause after a sentence", low=0, high=5)
    question_s: float = _option(float, 0.4, "pause after a question", low=0, high=5)
    ellipsis_s: float = _option(float, 0.45, "pause after an ellipsis", low=0, high=5)
    line_s: float = _option(float, 0.45, "pause after a line", low=0, high=10)
    paragraph_s: float = _option(float, 0.6, "pause after a paragraph", low=0, high=10)
    end_s: float = _option(float, 0.4, "silence after the last word", low=0, high=10)


@dataclass(frozen=True)
class Audio:
    """The sound device."""

    lead_in_s: float = _option(
        float, 0.0, "silence first, for amplifiers that swallow the first word", low=0, high=3
    )
    keep_warm_s: float = _option(
        float, 60.0, "time the service keeps the device open after speech", low=0, high=86400
    )


_INTERRUPTED = ("resume", "restart", "drop")


@dataclass(frozen=True)
class Service:
    """The announcer service."""

    socket: Optional[Path] = _option(Path, None, "Unix socket; the system's or user's when not set")
    tcp: Optional[str] = _option(str, None, "HOST:PORT to listen on as well; off when not set")
    prompts: Optional[Path] = _option(Path, None, "folder of the prompt store")
    output_file: Optional[Path] = _option(
        Path,
        None,
        "write bare 16-bit samples here instead of playing them; complete when the service ends",
    )
    attempts: int = _option(
        int, 5, "workers a segment may lose before it is given up", low=1, high=1000
    )
    drain_s: float = _option(float, 5.0, "time to finish speaking when stopped", low=0, high=60)
    idle_s: float = _option(
        float, 600.0, "silence after which a client is closed", low=1, high=86400
    )
    connections: int = _option(int, 64, "clients at a time", low=1, high=1024)
    cache_mib: int = _option(int, 16, "memory for phrases that repeat", low=0, high=256)
    session_depth: int = _option(int, 32, "utterances of a session that may wait", low=1, high=1000)
    alert_interrupted: str = _option(
        str, "restart", "what an interrupted alert does", choices=_INTERRUPTED
    )
    navigation_interrupted: str = _option(
        str, "restart", "what an interrupted navigation prompt does", choices=_INTERRUPTED
    )
    message_interrupted: str = _option(
        str, "resume", "what an interrupted message does", choices=_INTERRUPTED
    )
    background_interrupted: str = _option(
        str, "drop", "what interrupted background speech does", choices=_INTERRUPTED
    )


@dataclass(frozen=True)
class Http:
    """The service's HTTP side, which runs beside it as a process of its own."""

    listen: Optional[str] = _option(
        str, None, "HOST:PORT on which the service also answers HTTP; off when not set"
    )
    token_file: Optional[Path] = _option(
        Path, None, "file with the token HTTP clients must send; none asked when not set"
    )
    requests: int = _option(
        int, 4, "HTTP requests for speech at a time, waiting ones included", low=1, high=32
    )
    body_kib: int = _option(int, 256, "largest body of an HTTP request, in KiB", low=1, high=1024)
    deadline_s: float = _option(
        float, 300.0, "time an HTTP request for speech may take to its last byte", low=1, high=3600
    )


@dataclass(frozen=True)
class Config:
    """What the files, the environment and the flags add up to. Paths are absolute."""

    voice: str = _option(str, "kokoro", "name of an installed voice")
    preset: str = _option(
        str,
        "stream",
        "how sound is made: whole, in windows, or fast",
        choices=("exact", "stream", "fast"),
    )
    fallback_voice: Optional[str] = _option(
        str, None, "voice that speaks what the first goes astray in; an error when not set"
    )
    speaker: Optional[str] = _option(str, None, "speaker of the voice; by language when not set")
    language: str = _option(str, "auto", "language of the text", choices=("auto", "zh", "en"))
    speed: float = _option(float, 1.0, "factor on the speaking rate", low=0.5, high=2)
    volume: float = _option(float, 1.0, "factor on the amplitude", low=0, high=2)
    instruct: Optional[str] = _option(
        str, None, "how to speak, in words, for voices that take instructions"
    )
    seed: int = _option(int, 0, "another performance, by voices that draw lots", low=0, high=999999)
    device: Optional[str] = _option(str, None, "output device by name; the system's when not set")
    lexicon: Optional[Path] = _option(Path, None, "YAML file of your own pronunciations")
    threads: int = _option(int, 0, "inference threads; 0 follows the CPU affinity", low=0, high=64)
    budget_mib: int = _option(
        int, 1000, "memory the whole process tree may use, in MiB", low=200, high=1000
    )
    pauses: Pauses = _section(Pauses)
    audio: Audio = _section(Audio)
    service: Service = _section(Service)
    http: Http = _section(Http)


def _collect(section: Type[Any], prefix: str = "") -> Iterator[Option]:
    for item in dataclasses.fields(section):
        if "section" in item.metadata:
            yield from _collect(item.metadata["section"], f"{prefix}{item.name}.")
        else:
            kind, default, text = item.metadata["option"]
            limits = item.metadata["limits"]
            yield Option(f"{prefix}{item.name}", kind, default, text, **limits)


OPTIONS: Dict[str, Option] = {option.key: option for option in _collect(Config)}


def load(
    path: Optional[str] = None,
    flags: Optional[Mapping[str, object]] = None,
    environment: Optional[Mapping[str, str]] = None,
) -> Config:
    """Read everything that configures this process.

    `path` is a further file, which must exist. `flags` maps keys to what the command line gave;
    None means not given.

    Raises ConfigError: it names the file and line, the variable or the flag.
    """
    settings: Dict[str, Setting] = {}
    for setting in _settings(path, flags or {}, os.environ if environment is None else environment):
        settings[setting.key] = setting
    values = {key: _checked(OPTIONS[key], setting) for key, setting in settings.items()}
    config: Config = _build(Config, values)
    return config


def _settings(
    path: Optional[str], flags: Mapping[str, object], environment: Mapping[str, str]
) -> Iterator[Setting]:
    files = [file for file in paths.config_files() if file.exists()]
    if path is not None:
        files.append(Path(path))
    if files:
        from edge_tts.config_file import read_settings

        for file in files:
            yield from read_settings(file, OPTIONS)
    yield from _environment_settings(environment)
    for key, value in flags.items():
        if value is not None:
            yield Setting(key, value, f"--{key.replace('_', '-')}", Path.cwd())


def _environment_settings(environment: Mapping[str, str]) -> Iterator[Setting]:
    keys = {option.variable: option.key for option in OPTIONS.values()}
    for name, value in environment.items():
        if not name.startswith(ENVIRONMENT_PREFIX) or name in _OTHER_VARIABLES or not value:
            continue
        if name not in keys:
            raise unknown_key("environment", name, keys)
        yield Setting(keys[name], value, name, Path.cwd())


def unknown_key(origin: str, name: str, known: Mapping[str, object]) -> ConfigError:
    """The error for a key that does not exist, with the nearest one that does."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return ConfigError(f"{origin}: there is no {name!r}; {hint}", code="config.unknown_key")


def _checked(option: Option, setting: Setting) -> Value:
    value = setting.value
    if value is None:
        if option.default is not None:
            _wrong_type(option, setting)
        return None
    if option.kind in (int, float):
        return _number(option, setting)
    if not isinstance(value, (str, Path)):
        _wrong_type(option, setting)
    if option.kind is Path:
        return setting.folder / Path(value).expanduser()
    if option.choices and value not in option.choices:
        _out_of_range(option, setting, f"one of {', '.join(option.choices)}")
    return value


def _number(option: Option, setting: Setting) -> Value:
    value = setting.value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        _wrong_type(option, setting)
    try:
        number = option.kind(value)
    except (ValueError, OverflowError):
        _wrong_type(option, setting)
    if option.kind is int and isinstance(value, float) and number != value:
        _wrong_type(option, setting)
    if not option.low <= number <= option.high:  # false for NaN as well
        _out_of_range(option, setting, f"between {option.low:g} and {option.high:g}")
    return number  # type: ignore[no-any-return]


_KIND_NAMES = {str: "text", Path: "a file name", int: "a whole number", float: "a number"}


def _wrong_type(option: Option, setting: Setting) -> NoReturn:
    # YAML 1.1 reads a bare `no` or `on` as a truth value.
    hint = ", put it in quotes" if option.kind is str and setting.value is not None else ""
    raise ConfigError(
        f"{setting.origin}: {option.key} must be {_KIND_NAMES[option.kind]},"
        f" not {setting.value!r}{hint}",
        code="config.wrong_type",
    )


def _out_of_range(option: Option, setting: Setting, expected: str) -> NoReturn:
    raise ConfigError(
        f"{setting.origin}: {option.key} must be {expected}, not {setting.value!r}",
        code="config.out_of_range",
    )


def _build(section: Type[Any], values: Mapping[str, Value], prefix: str = "") -> Any:
    arguments: Dict[str, Any] = {}
    for item in dataclasses.fields(section):
        key = prefix + item.name
        if "section" in item.metadata:
            arguments[item.name] = _build(item.metadata["section"], values, f"{key}.")
        elif key in values:
            arguments[item.name] = values[key]
    return section(**arguments)
