"""The application: routes, typed errors, and the guard around both."""

from __future__ import annotations

from typing import Any, Dict

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from edge_tts import __version__
from edge_tts.errors import EdgeTTSError, ServiceError
from edge_tts.http.access import Access
from edge_tts.http.faults import answer
from edge_tts.http.guard import Guard
from edge_tts.http.response import Studio
from edge_tts.http.routes import router

_MAX_REPORTED = 8


def build_app(studio: Studio, access: Access, body_bytes: int) -> Guard:
    """The ASGI application."""
    # The guard asks for the token; here it is only described.
    described = [] if access.token is None else [Depends(HTTPBearer(auto_error=False))]
    app = _Described(
        title="edge_tts",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        dependencies=described,
    )
    app.include_router(router(studio))
    app.add_exception_handler(EdgeTTSError, _on_fault)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_internal)
    return Guard(app, access, body_bytes, studio.admission.counts.answers)


class _Described(FastAPI):
    """FastAPI, without the 422 that it describes for every body: ours is 400, as OpenAI's."""

    def openapi(self) -> Dict[str, Any]:
        """The description of the API."""
        if self.openapi_schema is None:
            schema = super().openapi()
            for path in schema["paths"].values():
                for operation in path.values():
                    operation["responses"].pop("422", None)
            for unused in ("HTTPValidationError", "ValidationError"):
                schema["components"]["schemas"].pop(unused, None)
        found: Dict[str, Any] = self.openapi_schema
        return found


async def _on_fault(_: Any, fault: EdgeTTSError) -> JSONResponse:
    status, body, headers = answer(fault)
    return JSONResponse(body, status, headers)


async def _on_invalid(_: Any, error: Any) -> JSONResponse:
    """What was sent is not repeated: it may be long, or no text at all."""
    places = [
        f"{'.'.join(map(str, found['loc'])) or 'body'}: {found['msg']}"
        for found in error.errors()[:_MAX_REPORTED]
    ]
    message = f"the request is not as described at /docs: {'; '.join(places)}"
    return await _on_fault(_, ServiceError(message, code="service.bad_request"))


async def _on_http(_: Any, error: Any) -> JSONResponse:
    code = "service.no_such_page" if error.status_code == 404 else "service.bad_request"
    fault = ServiceError(f"{error.detail}; see /docs", code=code)
    status, body, headers = answer(fault, error.status_code)
    return JSONResponse(body, status, {**headers, **(error.headers or {})})


async def _on_internal(_: Any, error: Exception) -> JSONResponse:
    message = "a fault in edge_tts itself; its log shows where"
    return await _on_fault(_, EdgeTTSError(message, code="internal"))
