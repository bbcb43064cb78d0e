"""The service's status: one snapshot, as JSON for programs and as Prometheus text for monitors."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Tuple

from edge_tts import __version__
from edge_tts.service.metrics import LATENCY_BOUNDS_S, Histogram
from edge_tts.service.replies import priority_name

if TYPE_CHECKING:
    from edge_tts.service.announcer import Announcer
    from edge_tts.service.budget import Budget
    from edge_tts.service.memory import MemoryUse
    from edge_tts.service.scheduling import Ticket

_MAX_LISTED = 32


def snapshot(
    announcer: "Announcer", budget: "Budget", memory: "MemoryUse", started_s: float, n_clients: int
) -> Dict[str, Any]:
    """Everything `edge-tts status` shows. Holds no text of any utterance."""
    scheduler = announcer.scheduler
    waiting = scheduler.waiting()
    return {
        "version": __version__,
        "uptime_s": round(time.monotonic() - started_s, 1),
        "voice": _voice(announcer),
        "worker": {
            "state": announcer.supervisor.state.value,
            "restarts": announcer.supervisor.n_restarts,
            "fault": str(announcer.supervisor.last_fault or ""),
        },
        "queue": {
            "on_air": _ticket(scheduler.on_air) if scheduler.on_air else None,
            "paused": scheduler.paused,
            "waiting": len(waiting),
            "next": [_ticket(ticket) for ticket in waiting[:_MAX_LISTED]],
        },
        "sessions": [
            {"session": name, "utterances": n_live, "bytes": n_bytes}
            for name, n_live, n_bytes in announcer.sessions.usage()[:_MAX_LISTED]
        ],
        "clients": n_clients,
        "budget": _budget(budget, memory),
        "device": {
            "state": announcer.player.device_state if announcer.player else "closed",
            "losses": announcer.metrics.device_losses,
            "underruns": announcer.player.n_underruns if announcer.player else 0,
        },
        "prompts": {
            "cached": len(announcer.cache),
            "cache_bytes": announcer.cache.n_bytes,
            "starts": dict(announcer.metrics.starts),
            "cache_hit_rate": round(announcer.metrics.cache_hit_rate, 3),
            "damaged": announcer.store.n_damaged,
        },
        "counts": {
            "accepted": announcer.metrics.accepted,
            "refused": dict(announcer.metrics.refused),
            "finished": dict(announcer.metrics.finished),
            "spoken_s": round(announcer.metrics.spoken_s, 3),
            "fallback_tones": announcer.metrics.fallback_tones,
        },
        "first_sound": {
            source: _histogram(histogram)
            for source, histogram in announcer.metrics.first_sound.items()
        },
    }


def _voice(announcer: "Announcer") -> Dict[str, Any]:
    facts = announcer.supervisor.facts or announcer.facts
    if facts is None:
        return {}
    return {"name": facts.name, "version": facts.version, "engines": facts.engines}


def _ticket(ticket: "Ticket") -> Dict[str, Any]:
    return {
        "id": ticket.uid,
        "session": ticket.session,
        "priority": priority_name(ticket.priority),
        "key": ticket.key,
    }


def _budget(budget: "Budget", memory: "MemoryUse") -> Dict[str, Any]:
    return {
        "budget_mib": budget.budget_mib,
        "used_mib": round(memory.total_mib, 1),
        "peak_mib": round(budget.peak_mib, 1),
        "front_mib": round(memory.front_bytes / 1024**2, 1),
        "worker_mib": round(memory.worker_bytes / 1024**2, 1),
        "gpu_mib": round(memory.gpu_bytes / 1024**2, 1),
        "http_mib": round(memory.http_bytes / 1024**2, 1),
        "step": budget.step.name.lower(),
        "taken": {step.name.lower(): n_times for step, n_times in budget.taken.items()},
    }


def _histogram(histogram: Histogram) -> Dict[str, Any]:
    return {
        "n": histogram.n_values,
        "mean_s": round(histogram.total_s / max(1, histogram.n_values), 4),
        "up_to_s": list(LATENCY_BOUNDS_S),
        "counts": list(histogram.counts),
    }


def prometheus(status: Dict[str, Any]) -> str:
    """A snapshot in Prometheus' text exposition format 0.0.4."""
    lines: List[str] = []
    for name, kind, samples in _families(status):
        lines.append(f"# TYPE edge_tts_{name} {kind}")
        lines += [f"edge_tts_{name}{suffix} {_number(value)}" for suffix, value in samples]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """All digits of it: a counter that is rounded seems to stand still."""
    return str(int(value)) if value == int(value) else repr(value)


_Family = Tuple[str, str, List[Tuple[str, float]]]


def _families(status: Dict[str, Any]) -> Iterator[_Family]:
    budget, counts = status["budget"], status["counts"]
    yield "uptime_seconds", "gauge", [("", status["uptime_s"])]
    yield "worker_ready", "gauge", [("", status["worker"]["state"] == "ready")]
    yield "worker_restarts_total", "counter", [("", status["worker"]["restarts"])]
    yield "waiting", "gauge", [("", status["queue"]["waiting"])]
    yield "clients", "gauge", [("", status["clients"])]
    yield "syntheses", "gauge", [("", status["syntheses"])]
    yield "http_restarts_total", "counter", [("", status["http"].get("restarts", 0))]
    yield "memory_mebibytes", "gauge", [("", budget["used_mib"])]
    yield "memory_budget_mebibytes", "gauge", [("", budget["budget_mib"])]
    yield "ladder_steps_total", "counter", _labelled("step", budget["taken"])
    is_available = status["device"]["state"] in ("open", "resting")
    yield "device_available", "gauge", [("", is_available)]
    yield "device_losses_total", "counter", [("", status["device"]["losses"])]
    yield "underruns_total", "counter", [("", status["device"]["underruns"])]
    yield "accepted_total", "counter", [("", counts["accepted"])]
    yield "refused_total", "counter", _labelled("code", counts["refused"])
    yield "finished_total", "counter", _labelled("reason", counts["finished"])
    yield "spoken_seconds_total", "counter", [("", counts["spoken_s"])]
    yield "starts_total", "counter", _labelled("source", status["prompts"]["starts"])
    yield "phrase_cache_bytes", "gauge", [("", status["prompts"]["cache_bytes"])]
    yield "phrase_cache_hit_ratio", "gauge", [("", status["prompts"]["cache_hit_rate"])]
    yield "first_sound_seconds", "histogram", list(_buckets(status["first_sound"]))


def _labelled(label: str, values: Dict[str, float]) -> List[Tuple[str, float]]:
    return [(f'{{{label}="{name}"}}', value) for name, value in sorted(values.items())]


def _buckets(first_sound: Dict[str, Any]) -> Iterator[Tuple[str, float]]:
    for source, histogram in sorted(first_sound.items()):
        n_so_far = 0
        for bound_s, count in zip([*histogram["up_to_s"], "+Inf"], histogram["counts"]):
            n_so_far += count
            yield f'_bucket{{source="{source}",le="{bound_s}"}}', n_so_far
        yield f'_sum{{source="{source}"}}', histogram["mean_s"] * histogram["n"]
        yield f'_count{{source="{source}"}}', histogram["n"]
