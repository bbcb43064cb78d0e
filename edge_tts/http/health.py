"""What the service's status says of its health."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List

from edge_tts.service.budget import Step

_STEPS = {step.name.lower(): step for step in Step}


@dataclass(frozen=True)
class Health:
    """`status` is ready, degraded, starting or down. `can_speak`: new work is taken now."""

    status: str
    why: List[str]
    can_speak: bool


def health(status: Dict[str, Any]) -> Health:
    """Judge the object that `edge-status` carries."""
    worker, step = status["worker"], _STEPS[status["budget"]["step"]]
    is_loaded = worker["state"] == "ready"
    why = []
    if not is_loaded:
        why.append(f"the worker is {worker['state']}: {worker['fault'] or 'it loads its voice'}")
    if step is not Step.NONE:
        why.append(f"memory is short: step {step.name.lower()}")
    if status["device"]["state"] == "lost":
        why.append("there is no sound device; speech over HTTP needs none")
    kind = "starting" if worker["state"] == "starting" else "degraded" if why else "ready"
    return Health(kind, why, is_loaded and step < Step.REFUSE)
