"""Requests: what is accepted, what is refused and with which code."""

from __future__ import annotations

from typing import Any, Dict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.errors import EdgeTTSError
from edge_tts.service import messages
from edge_tts.service.codec import Frame
from edge_tts.service.messages import Manner, Speak, Stop, Synthesize, parse
from edge_tts.service.scheduling import Priority


def test_speak_with_every_field() -> None:
    frame = Frame(
        "edge-speak",
        {
            "text": "Turn left.",
            "voice": "kokoro",
            "speaker": "af_heart",
            "language": "en",
            "speed": 1.25,
            "volume": 0.5,
            "id": "u1",
            "session": "nav",
            "priority": "navigation",
            "ttl_s": 5,
            "key": "next-turn",
            "detached": True,
        },
    )
    manner = Manner("kokoro", "af_heart", "en", 1.25, 0.5)
    assert parse(frame) == Speak(
        "Turn left.", manner, "u1", "nav", Priority.NAVIGATION, 5.0, "next-turn", True
    )


def test_absent_and_null_fields_take_their_defaults() -> None:
    bare = parse(Frame("edge-speak", {"text": "hi", "voice": None, "ttl_s": None}))
    assert bare == Speak("hi", Manner(), None, None, Priority.MESSAGE, None, None, False)
    assert parse(Frame("synthesize", {"text": "hi", "voice": None})) == Synthesize("hi", Manner())


def test_volume_zero_is_kept() -> None:
    speak = parse(Frame("edge-speak", {"text": "hi", "volume": 0}))
    assert isinstance(speak, Speak)
    assert speak.manner.volume == 0.0


def test_an_unknown_event_is_not_an_error() -> None:
    assert parse(Frame("transcribe", {"name": "x"})) is None


def test_stop_needs_to_say_what() -> None:
    assert parse(Frame("edge-stop", {"all": True})) == Stop(None, None, None, True)
    with pytest.raises(EdgeTTSError, match="must be given"):
        parse(Frame("edge-stop", {}))


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        ("edge-speak", {}, "service.bad_request"),
        ("edge-speak", {"text": 3}, "service.bad_request"),
        ("edge-speak", {"text": "a", "speed": 9}, "service.bad_request"),
        ("edge-speak", {"text": "a", "speed": "fast"}, "service.bad_request"),
        ("edge-speak", {"text": "a", "speed": True}, "service.bad_request"),
        ("edge-speak", {"text": "a", "ttl_s": -1}, "service.bad_request"),
        ("edge-speak", {"text": "a", "priority": "urgent"}, "service.bad_request"),
        ("edge-speak", {"text": "a", "id": ""}, "service.bad_request"),
        ("edge-speak", {"text": "a", "id": "a\nb"}, "service.bad_request"),
        ("edge-speak", {"text": "a", "session": "x" * 129}, "service.bad_request"),
        ("edge-speak", {"text": "a", "detached": "yes"}, "service.bad_request"),
        ("edge-speak", {"text": "a" * 20_001}, "input.text_too_long"),
        ("synthesize", {"text": "a", "voice": "kokoro"}, "service.bad_request"),
        ("synthesize", {"text": "a", "text_format": "html"}, "service.bad_request"),
        ("synthesize-chunk", {}, "service.bad_request"),
        ("edge-session-open", {}, "service.bad_request"),
    ],
)
def test_every_bad_field_is_a_typed_error(kind: str, data: Dict[str, Any], code: str) -> None:
    with pytest.raises(EdgeTTSError) as caught:
        parse(Frame(kind, data))
    assert caught.value.code == code


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
FIELD_NAMES = st.sampled_from(
    ["text", "id", "session", "priority", "ttl_s", "key", "voice", "speed", "volume", "all"]
)


@given(st.sampled_from(sorted(messages._PARSERS)), st.dictionaries(FIELD_NAMES, JSON))
def test_any_fields_give_a_request_or_a_typed_error(kind: str, data: Dict[str, Any]) -> None:
    try:
        assert parse(Frame(kind, data)) is not None
    except EdgeTTSError as error:
        assert error.code in ("service.bad_request", "input.text_too_long")


@pytest.mark.parametrize(
    ("kind", "field"),
    [("synthesize", {"text_format": "ssml"}), ("edge-speak", {"ssml": True})],
)
def test_ssml_is_asked_for_in_both_protocols(kind: str, field: "dict[str, object]") -> None:
    request = parse(Frame(kind, {"text": "<speak/>", **field}))
    plain = parse(Frame(kind, {"text": "<speak/>"}))
    assert request.manner.over(Manner()).ssml
    assert not plain.manner.ssml
