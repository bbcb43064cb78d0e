"""What requests and answers hold, as the API describes it at `/openapi.json`."""

from __future__ import annotations

from typing import List, Optional

from pydantic import BaseModel, Field

from edge_tts.http.speech import Format
from edge_tts.service.fields import NAME_LIMIT
from edge_tts.service.messages import MAX_SPEED, MIN_SPEED


class SpeechRequest(BaseModel):
    """As OpenAI's; `ssml` is ours. `model` and `instructions` are accepted and have no effect."""

    input: str
    model: Optional[str] = Field(None, max_length=NAME_LIMIT)
    voice: Optional[str] = Field(None, max_length=NAME_LIMIT)
    response_format: Format = Format.WAV
    speed: float = Field(1.0, ge=MIN_SPEED, le=MAX_SPEED)
    instructions: Optional[str] = None
    stream_format: Optional[str] = Field(None, pattern="^audio$")
    ssml: bool = False


class TtsRequest(BaseModel):
    """A text, its language (`zh`, `en`; by itself when absent) and who speaks."""

    text: str
    language: Optional[str] = Field(None, max_length=NAME_LIMIT)
    speaker: Optional[str] = Field(None, max_length=NAME_LIMIT)
    format: Format = Format.WAV
    speed: float = Field(1.0, ge=MIN_SPEED, le=MAX_SPEED)
    ssml: bool = False


class VoiceReply(BaseModel):
    """An installed voice that the service speaks with."""

    name: str
    version: str
    languages: List[str]
    speakers: List[str]


class VoicesReply(BaseModel):
    """The voice that is loaded; none while the service starts."""

    voices: List[VoiceReply]


class HealthReply(BaseModel):
    """`status` is ready, degraded, starting or down."""

    status: str
    why: List[str]


class ErrorDetail(BaseModel):
    """`code` is stable and listed in docs/errors.md."""

    message: str
    type: str
    param: Optional[str]
    code: str


class ErrorReply(BaseModel):
    """Every refusal, in the shape of OpenAI's."""

    error: ErrorDetail
