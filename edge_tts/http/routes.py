"""What is served: speech, voices, health, figures, and two pages that need no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Sequence

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from edge_tts.errors import ServiceError
from edge_tts.http.bodies import (
    ErrorReply,
    HealthReply,
    SpeechRequest,
    TtsRequest,
    VoiceReply,
    VoicesReply,
)
from edge_tts.http.faults import RETRY_AFTER_S, STATUSES
from edge_tts.http.health import health
from edge_tts.http.link import ask
from edge_tts.http.response import SpeechResponse, Studio
from edge_tts.http.speech import Format, Order
from edge_tts.service.status import prometheus

_DATA = Path(__file__).resolve().parent / "data"
# The pages load nothing from anywhere, and nobody may frame them.
_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; frame-ancestors 'none'"
)


class Routes:
    """The endpoints, which share one studio."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    async def speech(self, body: SpeechRequest) -> Response:
        """Speak a text, as OpenAI's API does; the sound is sent as it is made."""
        order = Order(
            text=body.input,
            form=body.response_format,
            voice=body.voice,
            speed=body.speed,
            ssml=body.ssml,
        )
        return SpeechResponse(self._studio, order)

    async def tts(self, body: TtsRequest) -> Response:
        """Speak a text in a language by a speaker; the sound is sent as it is made."""
        order = Order(
            text=body.text,
            form=body.format,
            speaker=body.speaker,
            language=body.language,
            speed=body.speed,
            ssml=body.ssml,
        )
        return SpeechResponse(self._studio, order)

    async def voices(self) -> VoicesReply:
        """The voice the service speaks with, and its speakers."""
        program = (await ask(self._studio.service, "describe", "info"))["tts"][0]
        return VoicesReply(voices=[_voice(found) for found in program["voices"]])

    async def healthz(self) -> Response:
        """Whether the service can speak, and what is wrong: 200, or 503 while it cannot."""
        try:
            found = health(await self._status())
        except ServiceError as fault:
            return _health(503, "down", [str(fault)])
        return _health(200 if found.can_speak else 503, found.status, found.why)

    async def status(self) -> Response:
        """The service's status, as `edge-tts status --json` prints it. Holds no text."""
        return JSONResponse(await self._status())

    async def metrics(self) -> Response:
        """The figures of the service and of this process, in Prometheus' text format."""
        text = self._studio.admission.prometheus()
        try:
            text = prometheus(await self._status()) + text
        except ServiceError:
            text = f"# TYPE edge_tts_up gauge\nedge_tts_up 0\n{text}"
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def page(self) -> Response:
        """A page to type, hear and stop, which needs no network."""
        return _page("index.html")

    async def docs(self) -> Response:
        """What this API offers, read from its own description."""
        return _page("docs.html")

    async def _status(self) -> Dict[str, Any]:
        return await ask(self._studio.service, "edge-status", "edge-status")


def router(studio: Studio) -> APIRouter:
    """All routes."""
    routes = Routes(studio)
    found = APIRouter()
    sound = {form.media_type: {"schema": {"type": "string", "format": "binary"}} for form in Format}
    spoken = {200: {"content": sound, "description": "the sound"}, **_errors(STATUSES)}
    speaking: Any = {"methods": ["POST"], "response_class": Response, "responses": spoken}
    found.add_api_route("/v1/audio/speech", routes.speech, **speaking)
    found.add_api_route("/tts", routes.tts, **speaking)
    refused = _errors((401, 403, 500, 503))
    found.add_api_route("/v1/voices", routes.voices, responses=refused)
    found.add_api_route("/v1/status", routes.status, responses=refused)
    unwell = {503: {"model": HealthReply, "description": "it cannot speak"}, **_errors((403, 500))}
    found.add_api_route("/healthz", routes.healthz, response_model=HealthReply, responses=unwell)
    found.add_api_route(
        "/metrics",
        routes.metrics,
        response_class=PlainTextResponse,
        responses=_errors((401, 403, 500)),
    )
    found.add_api_route("/", routes.page, include_in_schema=False)
    found.add_api_route("/docs", routes.docs, include_in_schema=False)
    return found


def _errors(statuses: Sequence[int]) -> Dict[int, Any]:
    return {status: {"model": ErrorReply, "description": "refused"} for status in statuses}


def _voice(found: Dict[str, Any]) -> VoiceReply:
    return VoiceReply(
        name=found["name"],
        version=found["version"],
        languages=found["languages"],
        speakers=[speaker["name"] for speaker in found["speakers"]],
    )


def _health(code: int, status: str, why: Sequence[str]) -> Response:
    headers = {"Retry-After": str(RETRY_AFTER_S)} if code == 503 else None
    return JSONResponse({"status": status, "why": list(why)}, code, headers)


def _page(name: str) -> Response:
    text = (_DATA / name).read_text(encoding="utf-8")
    return HTMLResponse(text, headers={"Content-Security-Policy": _PAGE_POLICY})
