"""The routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from edge_tts import __version__
from edge_tts.errors import EdgeTTSError, InputError
from edge_tts.http import pages
from edge_tts.http.admission import Admission
from edge_tts.http.guard import Access, Guard
from edge_tts.http.replies import refusal, status_of
from edge_tts.http.speech import SpeechResponse, Utterance, open_coder

if TYPE_CHECKING:
    from edge_tts.speaker import Speaker

MAX_TEXT_CHARACTERS = 20_000
ANY_VOICE = ("", "auto", "default")


class SpeechRequest(BaseModel):
    """The body of OpenAI's `POST /v1/audio/speech`; `model` is taken and not used."""

    input: str
    model: str = ""
    voice: str = "auto"
    response_format: str = "wav"
    speed: float = 1.0


class TtsRequest(BaseModel):
    """The body of `POST /tts`."""

    text: str
    language: Optional[str] = None
    speaker: Optional[str] = None


class Api:
    """What the routes do, with one speaker."""

    def __init__(self, speaker: "Speaker", max_requests: int) -> None:
        self._speaker = speaker
        self.admission = Admission(max_requests)

    async def speech(self, body: SpeechRequest) -> Response:
        """Speak as OpenAI's endpoint does."""
        speaker = None if body.voice in ANY_VOICE else body.voice
        said = _said(speaker=speaker, speed=body.speed)
        return await self._spoken(body.input, body.response_format, said)

    async def tts(self, body: TtsRequest) -> Response:
        """Speak a text as WAV."""
        said = _said(speaker=body.speaker, language=body.language)
        return await self._spoken(body.text, "wav", said)

    async def voices(self) -> Response:
        """The voice in use and its speakers."""
        voice = self._speaker.voice
        return JSONResponse(
            {
                "voice": voice.name,
                "sample_rate_hz": self._speaker.sample_rate_hz,
                "speakers": list(voice.speakers),
            }
        )

    async def healthz(self) -> Response:
        """The process answers and its voice is loaded."""
        return JSONResponse({"status": "ok", "version": __version__})

    async def metrics(self) -> Response:
        """Counts for Prometheus."""
        text = self.admission.prometheus()
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def _spoken(self, text: str, wanted: str, delivery: Any) -> Response:
        self.admission.counts.requests += 1
        if len(text) > MAX_TEXT_CHARACTERS:
            raise InputError(
                f"the text has {len(text)} characters, more than {MAX_TEXT_CHARACTERS}; divide it",
                code="input.text_too_long",
            )
        await self.admission.enter()
        try:
            rate_hz = self._speaker.sample_rate_hz
            chunks = self._speaker.stream(text, **delivery)
            coder, media_type = open_coder(wanted, rate_hz)
        except BaseException:
            self.admission.leave()
            raise
        utterance = Utterance(chunks, coder, self.admission)
        try:
            await utterance.begin()
        except BaseException:
            utterance.close()
            raise
        return SpeechResponse(utterance, media_type, {"X-Sample-Rate-Hz": str(rate_hz)})

    async def refused(self, _: Any, error: Exception) -> Response:
        """An error of ours, of the framework's routes or of its reading of a body."""
        self.admission.counts.refusals += 1
        if isinstance(error, EdgeTTSError):
            return refusal(status_of(error), error.code, str(error))
        if isinstance(error, HTTPException):
            return refusal(error.status_code, "service.bad_request", str(error.detail))
        if isinstance(error, RequestValidationError):
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            return refusal(400, "service.bad_request", f"{place}: {first['msg']}")
        return refusal(500, "internal", "this is a fault in edge-tts; its log shows where")


def _said(**fields: Any) -> Any:
    """The fields that the request names; the others stay as the process was configured."""
    return {name: value for name, value in fields.items() if value is not None}


def build_app(speaker: "Speaker", access: Access, max_requests: int) -> Guard:
    """The ASGI application."""
    app = FastAPI(title="edge-tts", version=__version__, docs_url=None, redoc_url=None)
    api = Api(speaker, max_requests)
    app.add_api_route("/v1/audio/speech", api.speech, methods=["POST"])
    app.add_api_route("/tts", api.tts, methods=["POST"])
    app.add_api_route("/v1/voices", api.voices)
    app.add_api_route("/healthz", api.healthz)
    app.add_api_route("/metrics", api.metrics)
    app.add_api_route("/", _page(pages.SPEAK), include_in_schema=False)
    app.add_api_route("/docs", _page(pages.DOCS), include_in_schema=False)
    for kind in (EdgeTTSError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, api.refused)
    return Guard(app, access)


def _page(html: str) -> Any:
    async def page() -> Response:
        return HTMLResponse(html, headers={"Content-Security-Policy": pages.POLICY})

    return page
