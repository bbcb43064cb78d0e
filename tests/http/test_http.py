"""The HTTP API as clients meet it: a real server on a loopback port, with a tiny voice."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import pytest

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from edge_tts import EdgeTTSError, Speaker  # noqa: E402
from edge_tts.cli.http import parse_address, read_token  # noqa: E402
from edge_tts.http.app import build_app  # noqa: E402
from edge_tts.http.guard import MAX_BODY_BYTES, Access  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "voices"))
from tiny_kokoro import write_voice  # noqa: E402

ANYONE_LOCAL = Access()


@contextmanager
def serving(access: Access = ANYONE_LOCAL, max_requests: int = 4) -> Iterator[str]:
    with Speaker("tiny") as speaker, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        app = build_app(speaker, access, max_requests)
        options = {"ws": "none", "lifespan": "off", "loop": "asyncio", "http": "h11"}
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)


@pytest.fixture(autouse=True)
def _voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path))
    write_voice(tmp_path / "tiny")


@pytest.fixture(name="client")
def _client(_voice: None) -> Iterator["httpx.Client"]:
    with serving() as url, httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
        yield client


def speech(client: "httpx.Client", **fields: object) -> "httpx.Response":
    return client.post("/v1/audio/speech", json={"model": "tts-1", "input": "Hello.", **fields})


def test_the_sound_is_that_of_the_python_api(client: "httpx.Client") -> None:
    from edge_tts.audio.wav import to_pcm16

    with Speaker("tiny") as speaker:
        expected = to_pcm16(speaker.synthesize("Hello.").samples).tobytes()
    assert len(expected) > 1000
    wav, pcm = speech(client), speech(client, response_format="pcm")
    assert wav.headers["content-type"] == "audio/wav"
    assert (wav.content[:4], wav.content[44:]) == (b"RIFF", expected)
    assert pcm.content == expected
    assert client.post("/tts", json={"text": "Hello."}).content == wav.content


@pytest.mark.parametrize(("wanted", "magic"), [("flac", b"fLaC"), ("opus", b"OggS")])
def test_compressed_sound(client: "httpx.Client", wanted: str, magic: bytes) -> None:
    pytest.importorskip("soundfile")
    assert speech(client, response_format=wanted).content[:4] == magic


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"voice": "nobody"}, 400, "input.unknown_speaker"),
        ({"speed": 9}, 400, "input.invalid"),
        ({"response_format": "mp3"}, 400, "input.invalid"),
        ({"input": 5}, 400, "service.bad_request"),
        ({"input": "a" * 20_001}, 413, "input.text_too_long"),
        ({"input": "a" * MAX_BODY_BYTES}, 413, "service.bad_request"),
    ],
)
def test_refusals(client: "httpx.Client", fields: dict, status: int, code: str) -> None:
    reply = speech(client, **fields)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert speech(client).status_code == 200


def test_a_language_that_is_not_spoken(client: "httpx.Client") -> None:
    reply = client.post("/tts", json={"text": "Hello.", "language": "fr"})
    assert reply.json()["error"]["code"] == "input.unknown_language"


def test_a_foreign_host_name_is_refused(client: "httpx.Client") -> None:
    assert client.get("/v1/voices", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/v1/voices", headers={"Host": "localhost:1"}).status_code == 200


def test_pages_load_nothing_from_elsewhere(client: "httpx.Client") -> None:
    for path in ("/", "/docs"):
        page = client.get(path)
        assert page.status_code == 200
        assert "//" not in page.text
    assert "/v1/audio/speech" in client.get("/openapi.json").json()["paths"]
    assert client.get("/nothing").json()["error"]["code"] == "service.bad_request"


def test_counts_and_voices(client: "httpx.Client") -> None:
    assert client.get("/healthz").json()["status"] == "ok"
    assert "af_heart" in client.get("/v1/voices").json()["speakers"]
    speech(client)
    speech(client, voice="nobody")
    counts = dict(
        line.split() for line in client.get("/metrics").text.splitlines() if line[0] != "#"
    )
    assert counts["edge_tts_http_requests_total"] == "2"
    assert counts["edge_tts_http_refusals_total"] == "1"
    assert counts["edge_tts_http_active_requests"] == "0"
    assert float(counts["edge_tts_http_sound_seconds_total"]) > 0


def test_the_openai_client_is_served(client: "httpx.Client") -> None:
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=f"{client.base_url}/v1", api_key="any", max_retries=0) as peer:
        spoken = peer.audio.speech.create(
            model="tts-1", voice="af_heart", input="Hello.", response_format="pcm"
        )
        assert spoken.content == speech(client, voice="af_heart", response_format="pcm").content
        with pytest.raises(openai.BadRequestError):
            peer.audio.speech.create(model="tts-1", voice="alloy", input="Hello.")


def test_only_who_knows_the_token_is_served() -> None:
    with serving(Access(token="secret")) as url, httpx.Client(base_url=url, trust_env=False) as c:
        assert c.get("/healthz").status_code == 200
        for wrong in ({}, {"Authorization": "Bearer other"}):
            assert c.get("/v1/voices", headers=wrong).json()["error"]["code"] == (
                "service.unauthorized"
            )
        right = {"Authorization": "Bearer secret"}
        assert c.get("/v1/voices", headers=right).status_code == 200


def test_one_who_leaves_makes_room_for_the_one_refused() -> None:
    text = "Hello there. " * 1500
    body = json.dumps({"input": text}).encode()
    with serving(max_requests=1) as url, httpx.Client(base_url=url, trust_env=False) as other:
        with httpx.stream(
            "POST",
            f"{url}/v1/audio/speech",
            content=body,
            trust_env=False,
            headers={"Content-Type": "application/json"},
        ) as first:
            assert next(first.iter_raw())[:4] == b"RIFF"
            refused = speech(other)
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "1"
            assert refused.json()["error"]["code"] == "budget.queue_full"
        until = time.monotonic() + 20
        while speech(other).status_code == 429 and time.monotonic() < until:
            time.sleep(0.05)
        assert speech(other).status_code == 200


def test_the_command_line_is_checked(tmp_path: Path) -> None:
    assert parse_address("[::1]:80") == ("::1", 80)
    (tmp_path / "token").write_text(" secret\n")
    assert read_token(str(tmp_path / "token")) == "secret"
    for wrong in ("8765", "localhost:x", ":1", "localhost:70000"):
        with pytest.raises(EdgeTTSError):
            parse_address(wrong)
    (tmp_path / "token").write_text("\n")
    with pytest.raises(EdgeTTSError):
        read_token(str(tmp_path / "token"))
