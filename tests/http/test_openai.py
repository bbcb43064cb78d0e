"""An unmodified client of OpenAI's is served: whole, streamed, in every format, and refused."""

from __future__ import annotations

import io
from typing import Any, Iterator

import numpy as np
import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
openai = pytest.importorskip("openai")

from http_side import HOLD, HttpSide, n_syntheses, wait_until  # noqa: E402
from running import expected  # noqa: E402

TEXT = "Turn left. Turn right."
SOUND = ("Turn left.", " Turn right.")


def connect(url: str, token: str = "any") -> Any:
    return openai.OpenAI(
        api_key=token,
        base_url=f"{url}/v1",
        max_retries=0,
        http_client=openai.DefaultHttpxClient(trust_env=False),
    )


@pytest.fixture
def api(http_side: Any) -> Iterator[Any]:
    with connect(http_side.url) as found:
        yield found


def test_a_whole_answer(api: Any) -> None:
    answer = api.audio.speech.create(
        model="tts-1", voice="alloy", input=TEXT, response_format="pcm", instructions="calm"
    )
    heard = np.frombuffer(answer.content, dtype="<i2")
    np.testing.assert_array_equal(heard, expected(*SOUND))


def test_a_streamed_answer(api: Any) -> None:
    with api.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="nova", input=TEXT, response_format="wav", speed=1.25
    ) as answer:
        body = b"".join(answer.iter_bytes(1024))
    assert body[:4] == b"RIFF"
    np.testing.assert_array_equal(np.frombuffer(body[44:], dtype="<i2"), expected(*SOUND))


@pytest.mark.parametrize(("form", "magic"), [("flac", b"fLaC"), ("opus", b"OggS")])
def test_compressed_answers(api: Any, form: str, magic: bytes) -> None:
    pytest.importorskip("soundfile")
    answer = api.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format=form)
    assert io.BytesIO(answer.content).read(4) == magic


def test_ssml_is_asked_for_as_an_extra(api: Any) -> None:
    # The tone source speaks what it is given; that SSML is obeyed is shown with a real front end.
    spoken = api.audio.speech.create(
        model="m", voice="alloy", input="Hi.", response_format="pcm", extra_body={"ssml": True}
    )
    assert len(spoken.content) == 2 * len(expected("Hi."))


@pytest.mark.parametrize(
    ("changes", "kind", "code"),
    [
        ({"response_format": "mp3"}, "BadRequestError", "service.bad_request"),
        ({"speed": 4.0}, "BadRequestError", "service.bad_request"),
        ({"voice": "a\nb"}, "BadRequestError", "service.bad_request"),
        ({"extra_body": {"stream_format": "sse"}}, "BadRequestError", "service.bad_request"),
        ({"input": "x" * 20_001}, "APIStatusError", "input.text_too_long"),
    ],
)
def test_refusals_are_its_own_exceptions(api: Any, changes: Any, kind: str, code: str) -> None:
    order = {"model": "tts-1", "voice": "alloy", "input": TEXT, **changes}
    with pytest.raises(getattr(openai, kind)) as caught:
        api.audio.speech.create(**order)
    assert caught.value.code == code


def test_its_key_is_the_token(service: Any) -> None:
    with HttpSide(service.path, token=b"0123456789abcdef") as side:
        with connect(side.url) as stranger, pytest.raises(openai.AuthenticationError):
            stranger.audio.speech.create(model="m", voice="alloy", input=TEXT)
        with connect(side.url, "0123456789abcdef") as known:
            answer = known.audio.speech.create(model="m", voice="alloy", input=TEXT)
            assert answer.content[:4] == b"RIFF"


def test_one_too_many_is_its_rate_limit(slow_service: Any) -> None:
    order = {"model": "m", "voice": "alloy", "response_format": "pcm"}
    with HttpSide(slow_service.path, n_requests=1) as side, connect(side.url) as api:
        speech = api.audio.speech
        with speech.with_streaming_response.create(input=HOLD, **order) as busy:
            part = busy.iter_bytes()
            next(part)
            with pytest.raises(openai.RateLimitError) as caught:
                speech.create(input=TEXT, **order)
            assert caught.value.response.headers["retry-after"] == "1"
        wait_until(lambda: n_syntheses(slow_service) == 0)
