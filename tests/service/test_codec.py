"""The frame codec: round trips, arbitrary splits, limits, and garbage."""

from __future__ import annotations

import json
from typing import Any, Dict, List

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.errors import ServiceError
from edge_tts.service.codec import Decoder, Frame, FrameLimits, encode

LIMITS = FrameLimits(header_bytes=512, data_bytes=4096, payload_bytes=1024)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20)
DATA = st.dictionaries(st.text(max_size=8), SCALARS | st.lists(SCALARS, max_size=3), max_size=5)
FRAMES = st.builds(
    Frame, st.text(st.characters(codec="utf-8"), min_size=1, max_size=20), DATA, st.binary()
)


@settings(deadline=None)
@given(st.lists(FRAMES, max_size=4), st.data())
def test_frames_survive_any_split_of_the_stream(frames: List[Frame], data: Any) -> None:
    stream = b"".join(encode(frame) for frame in frames)
    decoder = Decoder(LIMITS)
    received: List[Frame] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        received += decoder.feed(stream[:size])
        stream = stream[size:]
    assert received == frames
    assert not decoder.is_mid_frame


def test_inline_data_and_data_bytes_are_merged() -> None:
    line = b'{"type": "x", "data": {"a": 1, "b": 1}, "data_length": 8}\n{"b": 2}'
    assert Decoder(LIMITS).feed(line) == [Frame("x", {"a": 1, "b": 2})]


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"not json\n", "service.bad_frame"),
        (b"[]\n", "service.bad_frame"),
        (b"\xff\xfe\n", "service.bad_frame"),
        (b"\n", "service.bad_frame"),
        (b'{"type": 3}\n', "service.bad_frame"),
        (b'{"type": ""}\n', "service.bad_frame"),
        (b'{"type": "x", "data": []}\n', "service.bad_frame"),
        (b'{"type": "x", "data_length": -1}\n', "service.bad_frame"),
        (b'{"type": "x", "data_length": true}\n', "service.bad_frame"),
        (b'{"type": "x", "data_length": 1.5}\n', "service.bad_frame"),
        (b'{"type": "x", "data_length": NaN}\n', "service.bad_frame"),
        (b'{"type": "x", "data_length": ' + b"9" * 400 + b"}\n", "service.bad_frame"),
        (b'{"type": "x", "data_length": 4}\nnull', "service.bad_frame"),
        (b'{"type": "x", "data": ' + b"[" * 480 + b"\n", "service.bad_frame"),
        (b'{"type": "x", "data_length": 4097}\n', "service.frame_too_large"),
        (b'{"type": "x", "payload_length": 1025}\n', "service.frame_too_large"),
        (b"x" * 513, "service.frame_too_large"),
        (b"x" * 513 + b"\n", "service.frame_too_large"),
    ],
)
def test_every_broken_header_is_a_typed_error(header: bytes, code: str) -> None:
    with pytest.raises(ServiceError) as caught:
        Decoder(LIMITS).feed(header)
    assert caught.value.code == code


def test_deep_nesting_is_a_typed_error() -> None:
    body = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    decoder = Decoder(FrameLimits(data_bytes=len(body)))
    with pytest.raises(ServiceError) as caught:
        decoder.feed(b'{"type": "x", "data_length": %d}\n' % len(body) + body)
    assert caught.value.code == "service.bad_frame"


def test_an_error_does_not_quote_what_was_received() -> None:
    with pytest.raises(ServiceError) as caught:
        Decoder(LIMITS).feed(b'{"text": "secret words"\n')
    assert "secret" not in str(caught.value)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=20))
def test_garbage_ends_in_frames_or_a_typed_error(chunks: List[bytes]) -> None:
    decoder = Decoder(LIMITS)
    try:
        for chunk in chunks:
            decoder.feed(chunk)
    except ServiceError as error:
        assert error.code in ("service.bad_frame", "service.frame_too_large")


def test_a_truncated_frame_is_known_as_such() -> None:
    decoder = Decoder(LIMITS)
    assert decoder.feed(encode(Frame("x", {"a": 1}))[:-1]) == []
    assert decoder.is_mid_frame


def test_the_encoding_is_the_one_of_the_wyoming_package() -> None:
    event = pytest.importorskip("wyoming.event")
    import io

    written = io.BytesIO()
    data: Dict[str, Any] = {"text": "你好 hello", "voice": {"name": "kokoro"}}
    event.write_event(event.Event("synthesize", data, b"\x00\x01"), written)
    assert Decoder(LIMITS).feed(written.getvalue()) == [Frame("synthesize", data, b"\x00\x01")]
    read = event.read_event(io.BytesIO(encode(Frame("synthesize", data, b"\x00\x01"))))
    assert (read.type, read.data, read.payload) == ("synthesize", data, b"\x00\x01")
    assert json.loads(encode(Frame("ping")).split(b"\n")[0]) == {"type": "ping"}
