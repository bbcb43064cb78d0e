"""Who is let in, what is bounded before a request is read, and the pages and figures."""

from __future__ import annotations

import json
import re
import socket

import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from http_side import HttpSide

from edge_tts.errors import ConfigError
from edge_tts.http.access import access_for
from edge_tts.http.health import Health, health


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost."])
def test_a_foreign_host_name_is_refused_on_loopback(client, name):
    answer = client.get("/healthz", headers={"host": name})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "service.host_refused")


@pytest.mark.parametrize("name", ["localhost:8765", "127.0.0.1", "[::1]:1"])
def test_own_names_are_served(client, name):
    assert client.get("/healthz", headers={"host": name}).status_code == 200


def test_a_page_of_another_site_is_refused_and_no_cors_is_granted(client, http_side):
    for origin in ("https://evil.example", "null"):
        answer = client.post("/tts", json={"text": "a."}, headers={"origin": origin})
        assert answer.json()["error"]["code"] == "service.host_refused"
    own = client.get("/healthz", headers={"origin": http_side.url})
    assert own.status_code == 200
    asked = client.options("/tts", headers={"access-control-request-method": "POST"})
    assert (asked.status_code, asked.json()["error"]["code"]) == (405, "service.bad_request")
    for found in (own, asked):
        assert not [name for name in found.headers if name.startswith("access-control")]


def test_a_body_beyond_the_limit_is_refused_whether_announced_or_not(client):
    whole = client.post("/tts", content=b" " * 300_000)
    in_pieces = client.post("/tts", content=(b" " * 1000 for _ in range(300)))
    endless = client.post("/tts", content=(b" " * 65536 for _ in range(100)))
    for answer in (whole, in_pieces, endless):
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "service.body_too_large"


def test_what_is_not_http_is_told_so(http_side):
    with socket.create_connection(("127.0.0.1", http_side.port)) as link:
        link.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        reply = b"".join(iter(lambda: link.recv(4096), b""))
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "service.bad_request"


def test_connections_are_bounded(http_side, monkeypatch):
    monkeypatch.setattr("edge_tts.http.protocol.MAX_CONNECTIONS", 1)
    address = ("127.0.0.1", http_side.port)
    with socket.create_connection(address) as first, socket.create_connection(address) as second:
        refused = b"".join(iter(lambda: second.recv(4096), b""))
        assert b"429" in refused
        assert b"retry-after: 1" in refused.lower()
        first.sendall(b"GET /docs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert first.recv(4096).startswith(b"HTTP/1.1 200")


def test_a_connection_that_asks_nothing_is_closed(http_side, monkeypatch):
    monkeypatch.setattr("edge_tts.http.protocol._LOOK_EVERY_S", 0.05)
    with socket.create_connection(("127.0.0.1", http_side.port)) as mute:
        mute.settimeout(10)
        mute.sendall(b"GET / HT")
        assert mute.recv(1) == b""


def test_the_token_is_asked_for_everywhere_but_on_the_pages(service):
    token = b"0123456789abcdef"
    with HttpSide(service.path, token=token) as side, side.client() as client:
        for public in ("/", "/docs", "/healthz", "/openapi.json"):
            assert client.get(public).status_code == 200
        for given in (None, "Bearer wrong", "Bearer 0123456789abcdef0", "0123456789abcdef"):
            headers = {} if given is None else {"authorization": given}
            for path in ("/v1/status", "/v1/voices", "/metrics"):
                answer = client.get(path, headers=headers)
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            spoken = client.post("/tts", json={"text": "a."}, headers=headers)
            assert spoken.json()["error"]["code"] == "service.unauthorized"
        right = {"authorization": f"Bearer {token.decode()}"}
        assert client.get("/v1/status", headers=right).status_code == 200
        assert client.post("/tts", json={"text": "a."}, headers=right).status_code == 200


def test_a_refusal_reaches_the_sender_of_a_body(service):
    """One in eighty lost it to a reset of the connection, while bodies were left unread."""
    with HttpSide(service.path, token=b"0123456789abcdef") as side, side.client() as client:
        for _ in range(400):
            assert client.post("/tts", json={"text": "a."}).status_code == 401


def test_voices_health_status_and_figures(client, service):
    (voice,) = client.get("/v1/voices").json()["voices"]
    assert (voice["name"], voice["speakers"], voice["languages"]) == ("tone", ["sine"], ["en"])
    assert client.get("/healthz").json() == {"status": "ready", "why": []}
    client.post("/tts", json={"text": "Turn left."})
    client.post("/tts", json={"text": "Turn left.", "language": "xx"})
    assert client.get("/v1/status").json()["syntheses"] == 0
    figures = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in figures.splitlines() if line[0] != "#")
    assert lines["edge_tts_worker_ready"] == "1"
    assert lines['edge_tts_http_answers_total{status="400"}'] == "1"
    assert lines["edge_tts_http_sound_seconds_total"] == "0.5"
    assert lines["edge_tts_http_active_requests"] == "0"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Health("ready", [], True)),
        ({"device": {"state": "resting"}}, Health("ready", [], True)),
        (
            {"device": {"state": "lost"}},
            Health("degraded", ["there is no sound device; speech over HTTP needs none"], True),
        ),
        (
            {"budget": {"step": "recycle"}},
            Health("degraded", ["memory is short: step recycle"], True),
        ),
        (
            {"worker": {"state": "degraded", "fault": "no such voice"}},
            Health("degraded", ["the worker is degraded: no such voice"], False),
        ),
        (
            {"worker": {"state": "starting", "fault": ""}},
            Health("starting", ["the worker is starting: it loads its voice"], False),
        ),
    ],
)
def test_health_is_judged_by_the_status(client, changes, expected):
    assert health({**client.get("/v1/status").json(), **changes}) == expected


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_the_pages_load_nothing_from_elsewhere(client, path):
    answer = client.get(path)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", answer.text)


def test_what_is_not_there_is_a_typed_error(client):
    assert client.get("/none").json()["error"]["code"] == "service.no_such_page"
    wrong = client.get("/tts")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json()["error"]["code"] == "service.bad_request"


def test_other_machines_are_served_only_with_a_token(tmp_path):
    token = tmp_path / "token"
    with socket.socket() as everywhere, socket.socket() as here:
        everywhere.bind(("0.0.0.0", 0))
        here.bind(("127.0.0.1", 0))
        with pytest.raises(ConfigError, match="token_file"):
            access_for(everywhere, None)
        for text, mode, words in (
            (None, 0, "No such file"),
            ("short", 0o600, "16 to 1024"),
            ("a token with spaces in it", 0o600, "without a space"),
            ("0123456789abcdef", 0o644, "others may read"),
        ):
            if text is not None:
                token.write_text(text)
                token.chmod(mode)
            with pytest.raises(ConfigError, match=words):
                access_for(here, token)
        token.chmod(0o640)
        access = access_for(everywhere, token)
        assert (access.is_loopback, access.token) == (False, b"0123456789abcdef")
        assert access_for(here, None).is_loopback
    if socket.has_ipv6:
        with socket.socket(socket.AF_INET6) as here:
            here.bind(("::1", 0))
            assert access_for(here, None).is_loopback
