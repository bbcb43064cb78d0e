"""`voice.yaml`: what a voice is, where it came from and which files it consists of."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from edge_tts.errors import ModelError
from edge_tts.runtime.integrity import check_file, check_safe, check_size
from edge_tts.runtime.threads import default_threads
from edge_tts.text.tokens import Language
from edge_tts.voices.voice import VoiceInfo

FILE_NAME = "voice.yaml"
FORMAT = 1
_MAX_BYTES = 64 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

Shape = Tuple[Union[int, str], ...]


@dataclass(frozen=True)
class Part:
    """One file of a voice. `inputs` and `outputs` are empty for files of weights or tables."""

    name: str
    file: str
    sha256: str
    size_bytes: int
    format: str
    precision: str
    inputs: Mapping[str, Shape]
    outputs: Mapping[str, Shape]


@dataclass(frozen=True)
class Gate:
    """How far the prepared voice is from its source, measured before it was installed."""

    mel_distance_db: float
    limit_db: float
    runtime: str
    machine: str


@dataclass(frozen=True)
class Manifest:
    """The contents of a `voice.yaml`."""

    info: VoiceInfo
    parts: Tuple[Part, ...]
    gate: Gate

    @property
    def size_bytes(self) -> int:
        """What the voice's files take on the disk."""
        return sum(part.size_bytes for part in self.parts)

    def part(self, name: str) -> Part:
        """The part called `name`. Raises ModelError when the voice has none."""
        for part in self.parts:
            if part.name == name:
                return part
        raise ModelError(
            f"voice {self.info.name!r} has no part {name!r}; install the voice again",
            code="model.manifest_invalid",
        )


@dataclass(frozen=True)
class VoiceDirectory:
    """An installed voice on disk."""

    path: Path
    manifest: Manifest

    @classmethod
    def read(cls, path: Path) -> "VoiceDirectory":
        """Read the manifest of the voice at `path`. Raises ModelError; loads no model."""
        return cls(path, parse(_read_text(path / FILE_NAME), path / FILE_NAME))

    def file(self, part_name: str) -> Path:
        """Where a part lies."""
        return self.path / self.manifest.part(part_name).file

    def check(self, *, hashes: bool) -> None:
        """Raise the ModelError of the first bad file; without `hashes` only sizes are looked at."""
        for error in self._errors(hashes):
            raise error

    def faults(self) -> List[ModelError]:
        """One error for every bad file, contents checked."""
        return list(self._errors(hashes=True))

    def _errors(self, hashes: bool) -> Iterator[ModelError]:
        """Errors in the manifest's order. Files are read side by side: that is half of a start."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(default_threads()) as pool:
            faults = pool.map(lambda part: self._fault(part, hashes), self.manifest.parts)
            yield from (fault for fault in faults if fault is not None)

    def _fault(self, part: Part, hashes: bool) -> Optional[ModelError]:
        try:
            self._check(part, hashes)
        except ModelError as error:
            return error
        return None

    def _check(self, part: Part, hashes: bool) -> None:
        remedy = f"run: edge-tts voices install {self.manifest.info.name}"
        path = self.path / part.file
        if hashes:
            check_file(path, part.size_bytes, part.sha256, remedy=remedy)
        else:
            check_size(path, part.size_bytes, remedy=remedy)


def parse(text: str, path: Path) -> Manifest:
    """Build a manifest from YAML. Raises ModelError naming `path` and the key that is wrong."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _invalid(path, f"it is not YAML ({' '.join(str(error).split())})") from error
    reader = _Reader(path)
    top = reader.record(document, "the document", {"format", "voice", "parts", "gate"})
    if top["format"] != FORMAT:
        raise _invalid(path, f"it has format {top['format']!r}, this version reads {FORMAT}")
    if not isinstance(top["parts"], list) or not top["parts"]:
        raise _invalid(path, "`parts` must be a list of files")
    parts = tuple(reader.part(item) for item in top["parts"])
    if len({part.name for part in parts}) != len(parts):
        raise _invalid(path, "two parts have the same name")
    return Manifest(reader.info(top["voice"]), parts, reader.gate(top["gate"]))


def render(manifest: Manifest) -> str:
    """The YAML of a manifest, as `parse` reads it."""
    import yaml

    voice = asdict(manifest.info)
    voice["languages"] = [language.value for language in manifest.info.languages]
    document = {
        "format": FORMAT,
        "voice": _plain(voice),
        "gate": asdict(manifest.gate),
        "parts": [_plain(asdict(part)) for part in manifest.parts],
    }
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text


class _Reader:
    """Checks records against the data classes they become."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def record(self, value: Any, where: str, keys: "set[str]") -> Dict[str, Any]:
        if not isinstance(value, dict):
            raise _invalid(self._path, f"{where} must be a mapping")
        unknown = sorted(str(key) for key in value if key not in keys)
        missing = sorted(keys.difference(value))
        if unknown:
            raise _invalid(self._path, f"{where} has the unknown key {unknown[0]!r}")
        if missing:
            raise _invalid(self._path, f"{where} lacks the key {missing[0]!r}")
        return value

    def info(self, value: Any) -> VoiceInfo:
        fields = self.record(value, "`voice`", set(VoiceInfo.__dataclass_fields__))
        names = self._strings(fields["languages"], "languages")
        try:
            languages = tuple(Language(name) for name in names)
        except ValueError as error:
            raise _invalid(self._path, f"`languages`: {error}") from error
        speakers = self._strings(fields["speakers"], "speakers")
        defaults = self._strings(fields["default_speakers"], "default_speakers")
        if len(defaults) != len(languages) or not set(defaults) <= set(speakers):
            raise _invalid(self._path, "`default_speakers` must name one speaker per language")
        return VoiceInfo(
            name=self._text(fields, "name"),
            family=self._text(fields, "family"),
            version=self._text(fields, "version"),
            languages=languages,
            speakers=speakers,
            default_speakers=defaults,
            sample_rate_hz=self._count(fields, "sample_rate_hz"),
            licence=self._text(fields, "licence"),
            source=self._text(fields, "source"),
        )

    def part(self, value: Any) -> Part:
        fields = self.record(value, "a part", set(Part.__dataclass_fields__))
        file, sha256 = self._text(fields, "file"), self._text(fields, "sha256")
        # A bare name only: a manifest must not reach outside its own directory.
        if not _PLAIN_NAME.fullmatch(file):
            raise _invalid(self._path, f"`file` must be a plain file name, not {file!r}")
        if not _SHA256.fullmatch(sha256):
            raise _invalid(self._path, f"`sha256` of {file} is not a sha256")
        return Part(
            name=self._text(fields, "name"),
            file=file,
            sha256=sha256,
            size_bytes=self._count(fields, "size_bytes"),
            format=self._text(fields, "format"),
            precision=self._text(fields, "precision"),
            inputs=self._shapes(fields["inputs"]),
            outputs=self._shapes(fields["outputs"]),
        )

    def gate(self, value: Any) -> Gate:
        fields = self.record(value, "`gate`", set(Gate.__dataclass_fields__))
        return Gate(
            mel_distance_db=self._number(fields, "mel_distance_db"),
            limit_db=self._number(fields, "limit_db"),
            runtime=self._text(fields, "runtime"),
            machine=self._text(fields, "machine"),
        )

    def _shapes(self, value: Any) -> Dict[str, Shape]:
        if not isinstance(value, dict):
            raise _invalid(self._path, "`inputs` and `outputs` must be mappings")
        for shape in value.values():
            if not isinstance(shape, list) or not all(isinstance(d, (int, str)) for d in shape):
                raise _invalid(self._path, "a shape must be a list of numbers and names")
        return {str(name): tuple(shape) for name, shape in value.items()}

    def _strings(self, value: Any, key: str) -> Tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise _invalid(self._path, f"`{key}` must be a list of names")
        return tuple(value)

    def _text(self, fields: Mapping[str, Any], key: str) -> str:
        value = fields[key]
        if not isinstance(value, str) or not value:
            raise _invalid(self._path, f"`{key}` must be a text")
        return value

    def _count(self, fields: Mapping[str, Any], key: str) -> int:
        value = fields[key]
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise _invalid(self._path, f"`{key}` must be a positive whole number")
        return value

    def _number(self, fields: Mapping[str, Any], key: str) -> float:
        value = fields[key]
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise _invalid(self._path, f"`{key}` must be a number")
        return float(value)


def _read_text(path: Path) -> str:
    check_safe(path)
    try:
        with path.open("rb") as file:
            head = file.read(_MAX_BYTES + 1)
        text = head.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(path, f"it cannot be read ({error})") from error
    if len(head) > _MAX_BYTES:
        raise _invalid(path, f"it is longer than {_MAX_BYTES} bytes")
    return text


def _plain(value: Any) -> Any:
    """Tuples as lists, for YAML."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _invalid(path: Path, cause: Optional[str]) -> ModelError:
    return ModelError(
        f"{path} is not a usable voice manifest: {cause}; install the voice again",
        code="model.manifest_invalid",
    )
