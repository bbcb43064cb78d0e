"""Errors as HTTP answers: status, when to try again, JSON that OpenAI's clients read."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from edge_tts.errors import EdgeTTSError

RETRY_AFTER_S = 1

_STATUS = {
    "input.text_too_long": 413,
    "service.body_too_large": 413,
    "service.unauthorized": 401,
    "service.host_refused": 403,
    "service.no_such_page": 404,
    "service.bad_request": 400,
    "service.deadline": 504,
    "service.too_many_requests": 429,
    "service.too_many_connections": 429,
    "budget.queue_full": 429,
    "audio.encoder_missing": 501,
    "service.not_running": 503,
    "service.stopping": 503,
    "service.worker_lost": 503,
    "service.failed": 503,
}
_STATUS_BY_KIND = {"input": 400, "budget": 503, "model": 503, "engine": 503}
STATUSES = (400, 401, 403, 404, 405, 408, 413, 429, 500, 501, 503, 504)
"""Every status of an error."""


def status_of(code: str) -> int:
    """The HTTP status of an error of ours."""
    return _STATUS.get(code, _STATUS_BY_KIND.get(code.partition(".")[0], 500))


def answer(fault: EdgeTTSError, status: int = 0) -> Tuple[int, Dict[str, Any], Dict[str, str]]:
    """Status, JSON body and headers; `status` 0 follows from the error's code."""
    status = status or status_of(fault.code)
    kind = "invalid_request_error" if status < 429 else "server_error"
    error = {"message": str(fault), "type": kind, "param": None, "code": fault.code}
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status in (429, 503) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return status, {"error": error}, headers
