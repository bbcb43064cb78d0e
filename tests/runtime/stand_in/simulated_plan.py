"""Writes plans of the stand-in TensorRT, and the manifests beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from edge_tts.runtime.engine_manifest import (
    ENGINES_DIR,
    Bounds,
    EngineManifest,
    GateResult,
    Plan,
    Target,
)
from edge_tts.runtime.integrity import sha256_of

SCRATCH_BYTES = 1 << 16
Profile = Mapping[str, Sequence[Sequence[int]]]


def write_plan(
    path: Path, graph: Path, profiles: List[Profile], *, ballast: int = 1000, **facts: Any
) -> Path:
    """A plan that runs the ONNX file `graph`; a profile is {input: (least, typical, greatest)}."""
    head = {
        "name": path.stem,
        "graph": str(graph),
        "profiles": [
            {name: [list(s) for s in shapes] for name, shapes in p.items()} for p in profiles
        ],
        "scratch": SCRATCH_BYTES,
        "tactic_sources": 0,
        "recordable": True,
        "ballast": ballast,
    }
    path.write_bytes(json.dumps({**head, **facts}).encode() + b"\n" + bytes(ballast))
    return path


def write_engine(
    voice: Path, part: str, profiles: List[Profile], *, graph: Any = None, **changes: Any
) -> Path:
    """A plan in `voice`/engines with a manifest that this stand-in's machine accepts."""
    folder = voice / ENGINES_DIR
    folder.mkdir(exist_ok=True)
    graph = graph or voice / f"{part}.onnx"
    plan = write_plan(folder / f"{part}.plan", graph, profiles, **changes.pop("facts", {}))
    fields: Dict[str, Any] = {
        "voice": "tiny",
        "part": part,
        "voice_sha256": sha256_of(voice / "voice.yaml"),
        "onnx_sha256": sha256_of(graph),
        "recipe_sha256": "0",
        "target": Target("xavier-nx", "7.2", "8.5.2.2", "Jetson Xavier NX", "MODE_20W_6CORE"),
        "profiles": tuple(
            {name: Bounds(*map(tuple, shapes)) for name, shapes in p.items()} for p in profiles
        ),
        "gate": GateResult(True, "within the limits", ()),
        "plan": Plan(
            plan.name, plan.stat().st_size, sha256_of(plan), "fp16", ("FP16",), SCRATCH_BYTES
        ),
    }
    EngineManifest(**{**fields, **changes}).write(folder / f"{part}.json")
    return plan
