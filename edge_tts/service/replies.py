"""What the service tells its clients, as frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence

from edge_tts.errors import EdgeTTSError
from edge_tts.service.codec import Frame
from edge_tts.service.scheduling import Priority, Reason, Ticket

SAMPLE_BYTES = 2
CHANNELS = 1


@dataclass(frozen=True)
class VoiceFacts:
    """What clients may know of the voice the worker holds."""

    name: str
    version: str
    languages: List[str]
    speakers: List[str]
    sample_rate_hz: int
    licence: str
    source: str
    engines: Dict[str, str] = field(default_factory=dict)
    """What runs each part: `tensorrt`, or `onnx` and the code of what ruled TensorRT out."""
    device_bytes: int = 0
    """Memory its engines hold on the GPU."""


def error(fault: EdgeTTSError, uid: Optional[str] = None, retry_s: Optional[float] = None) -> Frame:
    """`error`: Wyoming's text and code, the utterance it concerns, and when to try again."""
    data: Dict[str, Any] = {"text": str(fault), "code": fault.code}
    return Frame("error", _with(data, id=uid, retry_after_s=retry_s))


def pong(text: Optional[str]) -> Frame:
    """`pong`."""
    return Frame("pong", _with({}, text=text))


def info(voice: Optional[VoiceFacts], service_version: str) -> Frame:
    """`info`: one text-to-speech program; no voices while the worker has none loaded."""
    program = {
        "name": "edge_tts",
        "description": "On-device announcer",
        "attribution": {"name": "edge_tts", "url": ""},
        "installed": True,
        "version": service_version,
        "voices": [_voice(voice)] if voice else [],
        "supports_synthesize_streaming": True,
    }
    others = ("asr", "handle", "intent", "wake", "mic", "snd")
    return Frame("info", {"tts": [program], **{other: [] for other in others}})


def _voice(voice: VoiceFacts) -> Dict[str, Any]:
    return {
        "name": voice.name,
        "description": f"{voice.name} ({voice.licence})",
        "attribution": {"name": voice.source, "url": voice.source},
        "installed": True,
        "version": voice.version,
        "languages": voice.languages,
        "speakers": [{"name": speaker} for speaker in voice.speakers],
    }


def audio_start(sample_rate_hz: int) -> Frame:
    """`audio-start`: 16-bit mono PCM follows."""
    return Frame("audio-start", _audio_format(sample_rate_hz))


def audio_chunk(sample_rate_hz: int, pcm: bytes) -> Frame:
    """`audio-chunk` with 16-bit little-endian mono PCM."""
    return Frame("audio-chunk", _audio_format(sample_rate_hz), pcm)


def audio_stop(unspoken: Sequence[str] = ()) -> Frame:
    """`audio-stop`: no more sound for this text."""
    return Frame("audio-stop", _with({}, unspoken=list(unspoken) or None))


def synthesize_stopped() -> Frame:
    """`synthesize-stopped`: the end of a streamed synthesis."""
    return Frame("synthesize-stopped")


def _audio_format(sample_rate_hz: int) -> Dict[str, Any]:
    return {"rate": sample_rate_hz, "width": SAMPLE_BYTES, "channels": CHANNELS}


def accepted(ticket: Ticket, n_ahead: int) -> Frame:
    """`edge-accepted`: the utterance is queued behind `n_ahead` others."""
    data = {
        "id": ticket.uid,
        "session": ticket.session,
        "priority": ticket.priority.name.lower(),
        "ahead": n_ahead,
    }
    return Frame("edge-accepted", _with(data, key=ticket.key))


def started(uid: str, source: str, rendered_s: float, latency_s: float) -> Frame:
    """`edge-started`: the first sample has been heard, `latency_s` after the request.

    `source` says where the sound came from, `rendered_s` after what time it was there.
    """
    data = {"id": uid, "source": source, "rendered_s": round(rendered_s, 4)}
    return Frame("edge-started", {**data, "latency_s": round(latency_s, 4)})


def mark(uid: str, segment: int, start: int, end: int, names: Sequence[str] = ()) -> Frame:
    """`edge-mark`: a segment begins; [start, end) is its range of code points in the text.

    `names` are those of the SSML marks that stand there.
    """
    data = {"id": uid, "segment": segment, "start": start, "end": end}
    return Frame("edge-mark", _with(data, names=list(names) or None))


def finished(
    uid: str,
    reason: Reason,
    spoken_s: float,
    unspoken: Sequence[str],
    fault: Optional[EdgeTTSError],
) -> Frame:
    """`edge-finished`: sent exactly once for every accepted utterance.

    `unspoken` is what the text held and the voice does not speak, in words for people.
    """
    data: Dict[str, Any] = {"id": uid, "reason": reason.value, "spoken_s": round(spoken_s, 3)}
    if unspoken:
        data["unspoken"] = list(unspoken)
    if fault is not None:
        data.update(code=fault.code, text=str(fault))
    return Frame("edge-finished", data)


def stopped(n_utterances: int) -> Frame:
    """`edge-stopped`: how many utterances a stop has ended."""
    return Frame("edge-stopped", {"utterances": n_utterances})


def paused(is_paused: bool) -> Frame:
    """`edge-paused`: answer to pause and resume."""
    return Frame("edge-paused", {"paused": is_paused})


def session(name: str, is_open: bool) -> Frame:
    """`edge-session`: answer to opening and closing."""
    return Frame("edge-session", {"session": name, "open": is_open})


def device(state: str, name: str) -> Frame:
    """`edge-device`: the sound device was opened, lost or is being retried."""
    return Frame("edge-device", {"state": state, "device": name})


def priority_name(priority: Priority) -> str:
    """Name of a priority on the wire."""
    return priority.name.lower()


def _with(data: Dict[str, Any], **optional: Any) -> Dict[str, Any]:
    return {**data, **{name: value for name, value in optional.items() if value is not None}}
