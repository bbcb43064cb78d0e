"""Which plans beside a voice may be loaded on this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, NamedTuple

from edge_tts.errors import EngineError
from edge_tts.runtime.engine_manifest import EngineManifest, manifest_path
from edge_tts.runtime.integrity import sha256_of

VOICE_FILE = "voice.yaml"
PLATFORMS = {"7.2": "xavier-nx", "8.7": "orin", "11.0": "thor"}
"""Name of a board in the recipes, by the compute capability that only it has."""


class Machine(NamedTuple):
    """What a plan must have been built for."""

    trt_version: str
    sm: str

    @property
    def platform(self) -> str:
        """Name of this board in the recipes."""
        return PLATFORMS.get(self.sm, "generic")


@dataclass
class Verdicts:
    """Plans by part, and why parts have none. A part that never had an engine is in neither."""

    manifests: Dict[str, EngineManifest] = field(default_factory=dict)
    """Engines that passed their gate, still to be compared with the machine."""
    plans: Dict[str, Path] = field(default_factory=dict)
    refused: Dict[str, EngineError] = field(default_factory=dict)


def read_manifests(voice_directory: Path, parts: Iterable[str]) -> Verdicts:
    """Read what lies beside the voice's parts; nothing of TensorRT or CUDA is needed."""
    verdicts = Verdicts()
    for part in parts:
        path = manifest_path(voice_directory, part)
        if not path.exists():
            continue
        try:
            manifest = EngineManifest.read(path)
        except EngineError as error:
            verdicts.refused[part] = error
            continue
        if manifest.plan is not None and manifest.gate.passed:
            verdicts.manifests[part] = manifest
        else:
            verdicts.refused[part] = EngineError(
                f"the engine of {manifest.voice}'s {part} is not used: {manifest.gate.reason}; "
                f"run: {manifest.rebuild_command}",
                code="engine.plan_rejected",
            )
    return verdicts


def compare(verdicts: Verdicts, voice_directory: Path, machine: Machine) -> None:
    """Turn `verdicts.manifests` into plans or refusals. Reads every plan once, whole."""
    if not verdicts.manifests:
        return
    voice_sha256 = sha256_of(voice_directory / VOICE_FILE)
    for part, manifest in verdicts.manifests.items():
        try:
            verdicts.plans[part] = manifest.verify(
                manifest_path(voice_directory, part).parent,
                platform=machine.platform,
                trt_version=machine.trt_version,
                sm=machine.sm,
                voice_sha256=voice_sha256,
            )
        except EngineError as error:
            verdicts.refused[part] = error
