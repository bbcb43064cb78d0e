"""The record beside a TensorRT plan, and the checks a plan must pass before it is deserialised.

A plan is machine code for one graphics processor and one TensorRT release: what a foreign or
damaged one does is undefined. It is therefore refused by its manifest alone, and the voice speaks
on through ONNX Runtime.

Plans lie in the voice's own directory, `VOICE/engines/PART.plan` with `PART.json` beside it, so
that a voice that is installed anew takes no engine of the old one with it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple

from edge_tts.errors import EngineError, ModelError
from edge_tts.records import RecordError, read_record
from edge_tts.runtime.integrity import check_safe, sha256_of

ENGINES_DIR = "engines"
FORMAT = 1
_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Target:
    """What a plan was built for. `power_mode` and `board` are for the record, not compared."""

    platform: str
    """Name in the recipe, such as `xavier-nx`."""
    sm: str
    """Compute capability, such as `7.2`."""
    tensorrt: str
    """Full version of the library that built the plan, such as `8.5.2.2`."""
    board: str
    power_mode: str


@dataclass(frozen=True)
class Plan:
    """The engine file and what running it takes."""

    file: str
    size_bytes: int
    sha256: str
    precision: str
    """`fp16`, `fp16-matrices` or `fp32`: see `edge_tts.build.tensorrt.recipe`."""
    flags: Tuple[str, ...]
    device_memory_bytes: int
    """Scratch of one execution context; weights are `size_bytes`, or a little less."""


@dataclass(frozen=True)
class Bounds:
    """Least, typical and greatest shape of one input in one optimisation profile."""

    least: Tuple[int, ...]
    typical: Tuple[int, ...]
    greatest: Tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """The plan against the ONNX reference on one recorded input."""

    profile: int
    point: str
    """`least`, `typical` or `greatest` of the profile."""
    is_finite: bool
    snr_db: float
    mel_distance_db: Optional[float] = None
    """Only for parts that yield sound."""


@dataclass(frozen=True)
class GateResult:
    """Whether the plan may speak, and why."""

    passed: bool
    reason: str
    comparisons: Tuple[Comparison, ...]


@dataclass(frozen=True)
class EngineManifest:
    """One part of one voice on one board. Without a `plan` the part is served by ONNX Runtime."""

    voice: str
    part: str
    voice_sha256: str
    """Digest of the `voice.yaml` the engine belongs to."""
    onnx_sha256: str
    """Digest of the graph that was parsed."""
    recipe_sha256: str
    target: Target
    profiles: Tuple[Mapping[str, Bounds], ...]
    gate: GateResult
    plan: Optional[Plan] = None
    format: int = FORMAT

    @property
    def rebuild_command(self) -> str:
        """What to run on the board to make the engine anew."""
        return f"edge-tts build {self.voice} --platform {self.target.platform}"

    @classmethod
    def read(cls, path: Path) -> "EngineManifest":
        """Read `path`. Raises EngineError (`engine.manifest_invalid`)."""
        try:
            check_safe(path)
            if path.stat().st_size > _MAX_BYTES:
                raise RecordError(f"it is longer than {_MAX_BYTES} bytes")
            document = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(document, dict) and document.get("format") != FORMAT:
                raise RecordError(f"it has format {document.get('format')!r}, not {FORMAT}")
            manifest = read_record(cls, document)
        except (OSError, ValueError, ModelError) as error:
            raise EngineError(
                f"{path} does not describe a TensorRT engine ({error}); "
                "run: edge-tts build VOICE --platform PLATFORM",
                code="engine.manifest_invalid",
            ) from error
        if manifest.plan is not None and Path(manifest.plan.file).name != manifest.plan.file:
            raise EngineError(
                f"{path} names a plan outside its directory; run: {manifest.rebuild_command}",
                code="engine.manifest_invalid",
            )
        return manifest

    def write(self, path: Path) -> None:
        """Save beside the plan; the file is there whole or not at all. Raises OSError."""
        temporary = path.with_name(path.name + ".new")
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(asdict(self), file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)

    def verify(
        self, folder: Path, *, platform: str, trt_version: str, sm: str, voice_sha256: str
    ) -> Path:
        """Return the plan in `folder` if this machine may deserialise it for this voice.

        Raises EngineError: `engine.plan_rejected` for a part that failed its gate or has none,
        `engine.plan_foreign`, `engine.plan_stale`, `engine.plan_missing`, `engine.plan_truncated`
        and `engine.plan_damaged`. Reads the whole plan once.
        """
        plan = self._accepted_plan()
        self._check_target({"platform": platform, "tensorrt": trt_version, "sm": sm})
        if voice_sha256 != self.voice_sha256:
            raise self._refusal("was built from another version of the voice", "engine.plan_stale")
        path = folder / plan.file
        try:
            check_safe(path)
        except ModelError as error:
            raise self._refusal(f"cannot be loaded: {error}", "engine.plan_missing") from error
        size_bytes = path.stat().st_size
        if size_bytes != plan.size_bytes:
            raise self._refusal(
                f"has {size_bytes} bytes instead of {plan.size_bytes}", "engine.plan_truncated"
            )
        if sha256_of(path) != plan.sha256:
            raise self._refusal("is damaged: its sha256 differs", "engine.plan_damaged")
        return path

    def _accepted_plan(self) -> Plan:
        if self.plan is None or not self.gate.passed:
            raise self._refusal(f"is not used: {self.gate.reason}", "engine.plan_rejected")
        return self.plan

    def _check_target(self, machine: Dict[str, str]) -> None:
        built: Dict[str, Any] = asdict(self.target)
        for key, value in machine.items():
            if built[key] != value:
                raise self._refusal(
                    f"was built for {key} {built[key]}, this machine has {value}",
                    "engine.plan_foreign",
                )

    def _refusal(self, cause: str, code: str) -> EngineError:
        return EngineError(
            f"the engine of {self.voice}'s {self.part} {cause}; run: {self.rebuild_command}",
            code=code,
        )


def manifest_path(voice_directory: Path, part: str) -> Path:
    """Where the manifest of a part's engine lies; the plan is beside it."""
    return voice_directory / ENGINES_DIR / f"{part}.json"
