"""Fuzzed from its own description: every answer is one of those described, and nothing is left."""

from __future__ import annotations

import json
from typing import Any, Iterator

import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from http_side import HttpSide, n_syntheses, wait_until
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schema_inputs import Bodies

from edge_tts.errors import CODES

FUZZED = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SPEAKING = ["/v1/audio/speech", "/tts"]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"]


class Target:
    """A server, a client of it, and its own description."""

    def __init__(self, service: Any, side: HttpSide, client: Any) -> None:
        self.service, self.side, self.client = service, side, client
        self.api = client.get("/openapi.json").json()

    def operation(self, path: str) -> Any:
        return self.api["paths"][path]["post"]

    def speak(self, path: str, content: bytes, kind: str = "application/json") -> Any:
        """Send a body and check that the answer is one of those described."""
        answer = self.client.post(path, content=content, headers={"content-type": kind})
        described = self.operation(path)["responses"]
        assert str(answer.status_code) in described, answer.text
        media = answer.headers["content-type"]
        assert media in described[str(answer.status_code)]["content"]
        if answer.status_code != 200:
            error = answer.json()["error"]
            assert error["code"] in CODES
            assert error["message"]
            assert answer.status_code < 500, error
        return answer


@pytest.fixture(scope="module")
def target(service: Any) -> Iterator[Target]:
    with HttpSide(service.path) as side, side.client() as client:
        yield Target(service, side, client)
        # Nothing is left of what was asked, and it still speaks.
        wait_until(lambda: n_syntheses(service) == 0)
        assert side.studio.admission.n_active == 0
        assert service.front.supervisor.n_restarts == 0
        assert client.post("/tts", json={"text": "Turn left."}).status_code == 200


@pytest.mark.parametrize("path", SPEAKING)
def test_what_is_described_is_spoken_or_refused_for_its_words(target: Target, path: str) -> None:
    @FUZZED
    @given(body=Bodies(target.api, target.operation(path)).valid())
    def check(body: Any) -> None:
        answer = target.speak(path, json.dumps(body).encode())
        # A name may be no name and a language not spoken: no schema says so.
        assert answer.status_code in (200, 400)
        if answer.status_code == 400:
            names = ("voice", "speaker", "language")
            assert any(body.get(name) for name in names), answer.text

    check()


@pytest.mark.parametrize("path", SPEAKING)
def test_what_is_not_described_is_refused(target: Target, path: str) -> None:
    @FUZZED
    @given(body=Bodies(target.api, target.operation(path)).spoilt())
    def check(body: Any) -> None:
        target.speak(path, json.dumps(body).encode())

    check()


@pytest.mark.parametrize("path", SPEAKING)
def test_bytes_that_are_no_body_are_refused(target: Target, path: str) -> None:
    kinds = st.sampled_from(["application/json", "text/plain", "multipart/form-data", "a"])

    @FUZZED
    @given(content=st.binary(max_size=60), kind=kinds)
    def check(content: bytes, kind: str) -> None:
        assert target.speak(path, content, kind).status_code == 400

    check()


def test_every_path_and_method_is_answered(target: Target) -> None:
    paths = st.sampled_from([*target.api["paths"], "/", "/docs", "/openapi.json", "/nothing"])
    queries = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20)

    @FUZZED
    @given(path=paths, method=st.sampled_from(METHODS), query=queries)
    def check(path: str, method: str, query: str) -> None:
        answer = target.client.request(method, path, params={"q": query})
        assert answer.status_code in (200, 400, 404, 405)
        if answer.status_code != 200 and method != "HEAD":
            assert answer.json()["error"]["code"] in CODES

    check()
