"""Errors as JSON, with a status that follows from the error's code."""

from __future__ import annotations

from fastapi.responses import JSONResponse

from edge_tts.errors import AudioError, BudgetError, EdgeTTSError, InputError

RETRY_AFTER_S = 1


def status_of(error: EdgeTTSError) -> int:
    """400 for what the client can mend, 429 for busy, 501 for a format that is missing."""
    if isinstance(error, InputError):
        return 413 if error.code == "input.text_too_long" else 400
    if isinstance(error, BudgetError):
        return 429
    if isinstance(error, AudioError) and error.code == "audio.encoder_missing":
        return 501
    return 500


def refusal(status: int, code: str, message: str) -> JSONResponse:
    """One error; 429 and 503 say when to come back."""
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status in (429, 503) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)
