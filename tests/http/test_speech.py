"""Speech over HTTP in every format, and what happens to who leaves or asks wrongly."""

from __future__ import annotations

import io
import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from http_side import HOLD, HttpSide, n_syntheses, wait_until  # noqa: E402
from running import expected, running  # noqa: E402

from edge_tts import Speaker  # noqa: E402
from edge_tts.audio.wav import to_pcm16  # noqa: E402
from edge_tts.service.budget import Ladder  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "voices"))
from tiny_kokoro import write_voice  # noqa: E402

TEXT = "Turn left. Turn right."
SOUND = ("Turn left.", " Turn right.")
SPEECH = "/v1/audio/speech"


def heard(body: bytes) -> np.ndarray:
    return np.frombuffer(body, dtype="<i2")


def code(answer: Any) -> str:
    found: str = answer.json()["error"]["code"]
    return found


def test_pcm_is_the_voice_sample_by_sample(client):
    answer = client.post(SPEECH, json={"input": TEXT, "response_format": "pcm"})
    assert answer.headers["x-sample-rate-hz"] == "24000"
    np.testing.assert_array_equal(heard(answer.content), expected(*SOUND))


def test_wav_is_the_default_and_holds_the_same_samples(client):
    answer = client.post(SPEECH, json={"input": TEXT, "model": "tts-1", "voice": "alloy"})
    assert answer.headers["content-type"] == "audio/wav"
    assert answer.content[:4] == b"RIFF"
    np.testing.assert_array_equal(heard(answer.content[44:]), expected(*SOUND))


def with_length(flac: bytes, n_samples: int) -> bytes:
    """A FLAC stream with its length stated, which one that is sent while it is made cannot do.

    STREAMINFO's 36-bit count ends at byte 26 (RFC 9639, 8.2); libsndfile needs it to read a file.
    """
    head = bytearray(flac[:26])
    assert int.from_bytes(head[21:26], "big") & 0xFFFFFFFFF == 0
    head[22:26] = n_samples.to_bytes(4, "big")
    return bytes(head) + flac[26:]


def test_flac_is_lossless(client):
    soundfile = pytest.importorskip("soundfile")
    answer = client.post(SPEECH, json={"input": TEXT, "response_format": "flac"})
    assert answer.headers["content-type"] == "audio/flac"
    wanted = expected(*SOUND)
    body = with_length(answer.content, len(wanted))
    samples, rate_hz = soundfile.read(io.BytesIO(body), dtype="int16")
    assert rate_hz == 24000
    np.testing.assert_array_equal(samples, wanted)


def test_opus_decodes_to_the_same_duration(client):
    soundfile = pytest.importorskip("soundfile")
    answer = client.post(SPEECH, json={"input": TEXT, "response_format": "opus"})
    assert answer.headers["content-type"] == "audio/ogg; codecs=opus"
    samples, rate_hz = soundfile.read(io.BytesIO(answer.content), dtype="int16")
    assert rate_hz == 24000
    assert len(samples) == len(expected(*SOUND))
    assert np.abs(samples).max() > 5000


def test_tts_takes_text_language_and_speaker(client):
    body = {"text": TEXT, "language": "en", "speaker": "sine", "format": "pcm"}
    np.testing.assert_array_equal(heard(client.post("/tts", json=body).content), expected(*SOUND))
    assert client.post("/tts", json={"text": TEXT}).content[:4] == b"RIFF"


def test_a_text_without_speech_is_an_empty_file(client):
    answer = client.post("/tts", json={"text": "☃", "format": "pcm"})
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    ("body", "status", "expected_code"),
    [
        ({"text": TEXT, "language": "xx"}, 400, "input.unknown_language"),
        ({}, 400, "service.bad_request"),
        ({"text": 5}, 400, "service.bad_request"),
        ({"text": TEXT, "format": "mp3"}, 400, "service.bad_request"),
        ({"text": TEXT, "speed": 9}, 400, "service.bad_request"),
        ({"text": TEXT, "speaker": "a\nb"}, 400, "service.bad_request"),
        ({"text": "x" * 20_001}, 413, "input.text_too_long"),
        ({"text": "x" * 200_000}, 413, "input.text_too_long"),
    ],
)
def test_what_cannot_be_spoken_is_refused_with_a_stable_code(client, body, status, expected_code):
    answer = client.post("/tts", json=body)
    assert (answer.status_code, code(answer)) == (status, expected_code)
    assert client.post("/tts", json={"text": TEXT}).status_code == 200


def test_what_is_no_text_is_refused(client):
    for content in (b'{"text": "\xff"}', b'{"text": "a', b"[]", b"5", b""):
        answer = client.post("/tts", content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, code(answer)) == (400, "service.bad_request")
    for field, expected_code in (("text", "input.encoding"), ("speaker", "service.bad_request")):
        half = json.dumps({"text": "a.", field: "\ud800"}).encode()
        answer = client.post("/tts", content=half, headers={"content-type": "application/json"})
        assert (answer.status_code, code(answer)) == (400, expected_code)


def test_a_client_that_leaves_ends_its_synthesis_and_no_other(slow_service):
    with HttpSide(slow_service.path) as side, side.client() as stays, side.client() as leaves:
        with leaves.stream("POST", "/tts", json={"text": HOLD, "format": "pcm"}) as leaving:
            part = leaving.iter_raw()  # dropping the iterator would hang up
            next(part)
            with ThreadPoolExecutor(1) as other:
                staying = other.submit(stays.post, "/tts", json={"text": TEXT, "format": "pcm"})
                wait_until(lambda: n_syntheses(slow_service) == 2)
                leaving.close()
                wait_until(lambda: n_syntheses(slow_service) == 1)
                np.testing.assert_array_equal(heard(staying.result(20).content), expected(*SOUND))
        counts = side.studio.admission.counts
        assert (counts.n_left, counts.n_broken_off, side.studio.admission.n_active) == (1, 0, 0)


def test_a_client_that_leaves_before_the_first_sound_ends_its_synthesis(slow_service):
    body = json.dumps({"text": HOLD}).encode()
    head = f"POST /tts HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    head += "Content-Type: application/json\r\n\r\n"
    with HttpSide(slow_service.path) as side, side.client() as first, first.stream(
        "POST", "/tts", json={"text": HOLD}
    ) as busy:
        part = busy.iter_raw()
        next(part)
        with socket.create_connection(("127.0.0.1", side.port)) as second:
            second.sendall(head.encode() + body)
            wait_until(lambda: n_syntheses(slow_service) == 2)
        wait_until(lambda: n_syntheses(slow_service) == 1)
        next(part)


def test_one_too_many_is_told_when_to_try_again(slow_service):
    body = {"text": HOLD, "format": "pcm"}
    with HttpSide(slow_service.path, n_requests=1) as side, side.client() as client:
        with client.stream("POST", "/tts", json=body) as first:
            part = first.iter_raw()
            next(part)
            second = client.post("/tts", json=body)
            assert (second.status_code, code(second)) == (429, "budget.queue_full")
            assert second.headers["retry-after"] == "1"
        wait_until(lambda: side.studio.admission.n_active == 0)
        assert client.post("/tts", json={"text": "a."}).status_code == 200


def test_memory_pressure_is_a_refusal_with_a_time(tmp_path):
    # A tree that is larger than its budget by far; the last step, to end, is out of reach.
    with running(tmp_path, budget_mib=30.0, ladder=Ladder(exit=1e9, restart=1e9)) as service:
        service.wait_ready()
        with HttpSide(service.path) as side, side.client() as client:
            wait_until(lambda: client.get("/healthz").status_code == 503)
            health = client.get("/healthz").json()
            assert health == {"status": "degraded", "why": ["memory is short: step stop_largest"]}
            answer = client.post("/tts", json={"text": TEXT})
            assert (answer.status_code, code(answer)) == (503, "budget.busy")
            assert answer.headers["retry-after"] == "1"


def test_without_a_service_the_answer_says_so(tmp_path):
    with HttpSide(tmp_path / "none.sock") as side, side.client() as client:
        for answer in (client.post("/tts", json={"text": TEXT}), client.get("/v1/voices")):
            assert (answer.status_code, code(answer)) == (503, "service.not_running")
            assert answer.headers["retry-after"] == "1"
        health = client.get("/healthz")
        assert (health.status_code, health.json()["status"]) == (503, "down")
        assert "edge_tts_up 0\n" in client.get("/metrics").text


def test_a_deadline_before_the_first_sound_is_a_typed_error(slow_service):
    with HttpSide(slow_service.path) as patient, HttpSide(
        slow_service.path, deadline_s=0.3
    ) as side, patient.client() as busy, busy.stream("POST", "/tts", json={"text": HOLD}) as first:
        part = first.iter_raw()
        next(part)
        with side.client() as client:
            answer = client.post("/tts", json={"text": TEXT})
        assert (answer.status_code, code(answer)) == (504, "service.deadline")
        wait_until(lambda: n_syntheses(slow_service) == 1)
    wait_until(lambda: n_syntheses(slow_service) == 0)


def test_a_deadline_after_the_first_sound_breaks_the_answer_off(slow_service):
    with HttpSide(
        slow_service.path, deadline_s=0.5
    ) as side, side.client() as client, pytest.raises(httpx.RemoteProtocolError):
        client.post("/tts", json={"text": HOLD})
    wait_until(lambda: n_syntheses(slow_service) == 0)


def test_a_failure_after_the_first_sound_breaks_the_answer_off(service, http_side):
    with http_side.client() as client, client.stream(
        "POST", "/tts", json={"text": "Good. BUG."}
    ) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()
    assert http_side.studio.admission.counts.n_broken_off == 1


def test_a_client_that_does_not_read_is_broken_off_and_holds_up_nobody(
    service, http_side, monkeypatch
):
    monkeypatch.setattr("edge_tts.http.response._SEND_S", 0.5)
    text = "Turn left. " * 1800  # 48 MB of sound
    body = json.dumps({"text": text, "format": "pcm"}).encode()
    head = f"POST /tts HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    head += "Content-Type: application/json\r\n\r\n"
    with socket.socket() as mute, http_side.client() as other:
        mute.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        mute.connect(("127.0.0.1", http_side.port))
        mute.sendall(head.encode() + body)
        wait_until(lambda: n_syntheses(service) == 1)
        answer = other.post("/tts", json={"text": "Turn left.", "format": "pcm"})
        np.testing.assert_array_equal(heard(answer.content), expected("Turn left."))
        wait_until(lambda: n_syntheses(service) == 0)
    wait_until(lambda: http_side.studio.admission.counts.n_broken_off == 1)


def test_speed_and_ssml_reach_the_voice(tmp_path, monkeypatch):
    """With the front end of a real voice: the tone source knows neither."""
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "voices"))
    write_voice(tmp_path / "voices/tiny")
    document = "<speak>Gate <break time='300ms'/> <prosody rate='1.5'>two.</prosody></speak>"
    source = "edge_tts.service.voice_source:open_voice"
    options = ["--", "--voice", "tiny"]
    with running(tmp_path, source=source, options=options) as service, Speaker("tiny") as voice:
        service.wait_ready()
        with HttpSide(service.path) as side, side.client() as client:

            def said(path: str = SPEECH, **fields: Any) -> Any:
                return client.post(path, json={"response_format": "pcm", **fields})

            for fields, wanted in (
                ({"input": "Hello.", "speed": 1.5}, voice.synthesize("Hello.", speed=1.5)),
                ({"input": document, "ssml": True}, voice.synthesize(document, ssml=True)),
                (
                    {"input": "[LNGen]Hi.", "voice": "zf_xiaobei"},
                    voice.synthesize("[LNGen]Hi.", speaker="zf_xiaobei"),
                ),
                (
                    {"input": "Hi.", "voice": "tiny/zf_xiaobei"},
                    voice.synthesize("Hi.", speaker="zf_xiaobei"),
                ),
            ):
                samples = heard(said(**fields).content)
                np.testing.assert_array_equal(samples, to_pcm16(wanted.samples))
            bomb = '<!DOCTYPE s [<!ENTITY a "b">]><speak>&a;</speak>'
            for fields, expected_code in (
                ({"input": bomb, "ssml": True}, "input.ssml_invalid"),
                ({"input": "[SPKnobody]Hi."}, "input.unknown_tag"),
                ({"input": "Hi.", "voice": "nobody"}, "input.unknown_voice"),
                ({"input": "Hi.", "voice": "tiny/nobody"}, "input.unknown_speaker"),
            ):
                answer = said(**fields)
                assert (answer.status_code, code(answer)) == (400, expected_code)
