"""How a voice becomes engines: `engines/VOICE.yaml`, on the boards of `engines/platforms.yaml`."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from edge_tts.build.tensorrt.operators import VERSIONS
from edge_tts.errors import ConfigError
from edge_tts.records import RecordError, read_record

PLATFORMS_FILE = "platforms.yaml"
_CHECKOUT = Path(__file__).resolve().parents[3] / "engines"
_INSTALLED = Path(sys.prefix) / "share" / "edge-tts" / "engines"
ENGINES_DIR = _CHECKOUT if (_CHECKOUT / PLATFORMS_FILE).is_file() else _INSTALLED
FORMAT = 1

FP16, FP16_MATRICES, FP32, ONNX = "fp16", "fp16-matrices", "fp32", "onnx"
LADDER = (FP16, FP16_MATRICES, FP32, ONNX)
"""From fast to safe. `fp16`: all but the recipe's `keep_fp32`; `fp16-matrices`: only convolutions
and matrix products in half precision; `onnx`: no engine, ONNX Runtime serves the part."""

_AXIS = re.compile(r"(?P<factor>\d*)(?P<axis>[A-Za-z_]+)(?P<offset>[+-]\d+)?")


@dataclass(frozen=True)
class Platform:
    """A kind of board. Memory figures are derived from published ones, none was measured here."""

    name: str
    parser: str
    """Oldest parser on it: one of `operators.VERSIONS`."""
    sm: Tuple[str, ...]
    """Compute capabilities it may have; empty for any."""
    budget_mib: int
    """What the whole process tree may take, CUDA included."""
    baseline_mib: int
    """CUDA context and TensorRT before any weight."""
    workspace_mib: int
    builder_mib: int
    """The builder's own kernels and libraries, beside workspace and weights."""
    tactic_sources: Tuple[str, ...]
    """External libraries tactics may come from; each loads hundreds of megabytes."""

    def __post_init__(self) -> None:
        if self.parser not in VERSIONS:
            raise RecordError(f"parser must be one of {', '.join(VERSIONS)}")


@dataclass(frozen=True)
class KeepFp32:
    """What stays in single precision: operators by type, nodes by a pattern of their name."""

    operators: Tuple[str, ...] = ()
    nodes: Tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pattern in self.nodes:
            try:
                re.compile(pattern)
            except re.error as error:
                raise RecordError(f"{pattern!r} is not a pattern: {error}") from error

    def __add__(self, other: "KeepFp32") -> "KeepFp32":
        return KeepFp32(self.operators + other.operators, self.nodes + other.nodes)


@dataclass(frozen=True)
class Limits:
    """What an engine must reach on every recorded input to be accepted."""

    min_snr_db: float
    max_mel_distance_db: float


@dataclass(frozen=True)
class PartRecipe:
    """One engine. A profile gives every named axis its least, typical and greatest length."""

    name: str
    precision: str
    profiles: Tuple[Mapping[str, Tuple[int, ...]], ...]
    keep_fp32: KeepFp32 = field(default_factory=KeepFp32)
    limits: Optional[Limits] = None
    half_io: Tuple[str, ...] = ()
    """Inputs and outputs in half precision while the engine is: a cache, to halve its traffic."""
    below: Mapping[str, str] = field(default_factory=dict)
    """Integer inputs whose values must be smaller than the length of an axis."""

    def __post_init__(self) -> None:
        if self.precision not in LADDER:
            raise RecordError(f"precision must be one of {', '.join(LADDER)}")
        if not self.profiles:
            raise RecordError("profiles must not be empty")
        for profile in self.profiles:
            for axis, lengths in profile.items():
                if len(lengths) != 3 or not 0 <= lengths[0] <= lengths[1] <= lengths[2]:
                    raise RecordError(
                        f"the axis {axis} needs three rising lengths, not {list(lengths)}"
                    )

    def ladder(self) -> Tuple[str, ...]:
        """Precisions to try, the recipe's first."""
        return LADDER[LADDER.index(self.precision) :]


@dataclass(frozen=True)
class Recipe:
    """All engines of a voice."""

    format: int
    voice: str
    family: str
    limits: Limits
    keep_fp32: KeepFp32
    parts: Tuple[PartRecipe, ...]

    def part(self, name: str) -> PartRecipe:
        """The recipe of one part, with the voice's defaults filled in. Raises ConfigError."""
        for part in self.parts:
            if part.name == name:
                return replace(
                    part,
                    keep_fp32=self.keep_fp32 + part.keep_fp32,
                    limits=part.limits or self.limits,
                )
        names = ", ".join(part.name for part in self.parts)
        raise ConfigError(f"the recipe of {self.voice} has no part {name!r}; it has {names}")


def digest(part: PartRecipe, platform: Platform) -> str:
    """Identifies everything of a recipe that shapes one engine."""
    text = json.dumps([asdict(part), asdict(platform)], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read_recipe(path: Path) -> Recipe:
    """Read a voice's recipe. Raises ConfigError naming the file and the place."""
    recipe: Recipe = _read(path, Recipe)
    names = [part.name for part in recipe.parts]
    if len(set(names)) != len(names):
        raise _invalid(path, "two parts have the same name")
    return recipe


def read_platform(name: str, folder: Path = ENGINES_DIR) -> Platform:
    """Find a platform by name. Raises ConfigError listing the known ones."""
    path = folder / PLATFORMS_FILE
    platforms: _Platforms = _read(path, _Platforms)
    for platform in platforms.platforms:
        if platform.name == name:
            return platform
    known = ", ".join(platform.name for platform in platforms.platforms)
    raise ConfigError(f"there is no platform {name!r}; known: {known}")


def recipe_path(voice: str, family: str = "", folder: Path = ENGINES_DIR) -> Path:
    """The recipe that ships for a voice: the one whose name its own begins with, or its family's.

    `CosyVoice-300M-SFT` has `cosyvoice-300m.yaml`. Raises ConfigError when there is none.
    """
    known = sorted(p.stem for p in folder.glob("*.yaml") if p.name != PLATFORMS_FILE)
    fitting = [name for name in known if voice.lower().startswith(name) or name == family]
    if not fitting:
        raise ConfigError(
            f"there is no recipe for the voice {voice!r} in {folder} (there are: "
            f"{', '.join(known) or 'none'}); give one with --recipe"
        )
    return folder / f"{max(fitting, key=len)}.yaml"


def length(dimension: "int | str", profile: Mapping[str, Tuple[int, ...]], point: int) -> int:
    """Length of a graph's dimension at a profile's point (0 least, 1 typical, 2 greatest).

    Named dimensions may be of the form `120T+1`. Raises ConfigError for an axis of no profile.
    """
    if isinstance(dimension, int):
        return dimension
    if dimension in profile:
        return profile[dimension][point]
    match = _AXIS.fullmatch(dimension)
    if match is None or match.group("axis") not in profile:
        raise ConfigError(f"no profile says how long the axis {dimension!r} is")
    factor, offset = int(match.group("factor") or 1), int(match.group("offset") or 0)
    return factor * profile[match.group("axis")][point] + offset


def shapes(
    inputs: Mapping[str, Sequence[Any]], profile: Mapping[str, Tuple[int, ...]], point: int
) -> Dict[str, Tuple[int, ...]]:
    """Shapes of a graph's inputs at a profile's point."""
    return {
        name: tuple(length(dimension, profile, point) for dimension in shape)
        for name, shape in inputs.items()
    }


@dataclass(frozen=True)
class _Platforms:
    format: int
    platforms: Tuple[Platform, ...]


def _read(path: Path, kind: Any) -> Any:
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        if isinstance(document, dict) and document.get("format") != FORMAT:
            raise RecordError(f"it has format {document.get('format')!r}, not {FORMAT}")
        return read_record(kind, document)
    except (OSError, UnicodeDecodeError, RecordError) as error:
        raise _invalid(path, str(error)) from error
    except yaml.YAMLError as error:
        raise _invalid(path, " ".join(str(error).split())) from error


def _invalid(path: Path, cause: str) -> ConfigError:
    return ConfigError(f"{path} is not a usable recipe: {cause}", code="config.invalid")
