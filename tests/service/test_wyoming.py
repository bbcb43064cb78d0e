"""Conformance: the unmodified `wyoming` client from PyPI against a running front."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any, List, Tuple

import numpy as np
import pytest
from running import expected, running

pytest.importorskip("wyoming")

with warnings.catch_warnings():
    # The package imports `audioop`, which Python deprecates from 3.11 on.
    warnings.simplefilter("ignore", DeprecationWarning)
    import wyoming.audio  # noqa: F401

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

TEXT = "One. Two two. Three three three."
SENTENCES = ("One.", " Two two.", " Three three three.")


def converse(path: Path, events: List[Event], last_type: str) -> List[Event]:
    async def main() -> List[Event]:
        received: List[Event] = []
        async with AsyncClient.from_uri(f"unix://{path}") as client:
            for event in events:
                await client.write_event(event)
            while not received or received[-1].type != last_type:
                event = await asyncio.wait_for(client.read_event(), 20)
                assert event is not None
                received.append(event)
        return received

    return asyncio.run(main())


def sound(events: List[Event]) -> Tuple[List[str], np.ndarray]:
    kinds: List[str] = []
    data: List[bytes] = []
    for event in events:
        if AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            assert (chunk.rate, chunk.width, chunk.channels) == (24000, 2, 1)
            data.append(chunk.audio)
        else:
            kinds.append(event.type)
    return kinds, np.frombuffer(b"".join(data), dtype="<i2")


def test_describe_and_ping(tmp_path: Path) -> None:
    with running(tmp_path) as front:
        front.wait_ready()
        events = [Describe().event(), Ping("are you there").event()]
        info, pong = converse(front.path, events, "pong")
    program = Info.from_event(info).tts[0]
    assert program.supports_synthesize_streaming
    assert program.voices[0].name == "tone"
    assert program.voices[0].speakers is not None
    assert Pong.from_event(pong).text == "are you there"


def test_synthesize_whole(tmp_path: Path) -> None:
    with running(tmp_path) as front:
        received = converse(front.path, [Synthesize(TEXT).event()], "audio-stop")
    assert AudioStart.is_type(received[0].type)
    kinds, samples = sound(received)
    assert kinds == ["audio-start", "audio-stop"]
    np.testing.assert_array_equal(samples, expected(*SENTENCES))
    assert not (tmp_path / "out.pcm").exists()


def test_synthesize_streaming(tmp_path: Path) -> None:
    text = "This is a first sentence, long enough. And another one follows after it. The end."
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    events = [
        SynthesizeStart(voice=SynthesizeVoice(language="en")).event(),
        *[SynthesizeChunk(piece).event() for piece in pieces],
        Synthesize(text).event(),  # sent by clients for servers that do not stream
        SynthesizeStop().event(),
    ]
    with running(tmp_path) as front:
        kinds, samples = sound(converse(front.path, events, "synthesize-stopped"))
    assert kinds == ["audio-start", "audio-stop", "synthesize-stopped"]
    assert SynthesizeStopped.is_type(kinds[-1])
    # The words are all there, in order; a cut may give the space after a stop to either side.
    assert abs(len(samples) - len(text) * 1200) <= 2 * 1200


def test_a_stream_tells_at_its_end_what_none_of_its_parts_spoke(tmp_path: Path) -> None:
    texts = ["This is a first sentence with ☃ in it. ", "And here is the ☃ second one. Bye ☃."]
    events = [
        SynthesizeStart().event(),
        *[SynthesizeChunk(text).event() for text in texts],
        SynthesizeStop().event(),
    ]
    with running(tmp_path) as front:
        received = converse(front.path, events, "synthesize-stopped")
    (stop,) = [event for event in received if AudioStop.is_type(event.type)]
    assert sum(int(loss.split()[0]) for loss in stop.data["unspoken"]) == 3


def test_text_without_words_still_starts_and_stops(tmp_path: Path) -> None:
    with running(tmp_path) as front:
        kinds, samples = sound(converse(front.path, [Synthesize(" ").event()], "audio-stop"))
    assert (kinds, len(samples)) == (["audio-start", "audio-stop"], 0)
    assert AudioStop.is_type(kinds[-1])


# CASES A14
def test_the_cause_of_a_failure_reaches_the_client(tmp_path: Path) -> None:
    voice = SynthesizeVoice(language="tlh")
    with running(tmp_path) as front:
        received = converse(front.path, [Synthesize("Hi.", voice=voice).event()], "error")
    assert Error.from_event(received[-1]).code == "input.unknown_language"


def test_events_of_other_services_are_ignored(tmp_path: Path) -> None:
    events = [Event("transcribe", {"language": "en"}), Ping().event()]
    with running(tmp_path) as front:
        assert [event.type for event in converse(front.path, events, "pong")] == ["pong"]


# CASES C02
def test_many_clients_get_each_their_own_sound(tmp_path: Path) -> None:
    async def one(path: Path, text: str) -> Tuple[Any, np.ndarray]:
        async with AsyncClient.from_uri(f"unix://{path}") as client:
            await client.write_event(Synthesize(text).event())
            received: List[Event] = []
            while not received or received[-1].type != "audio-stop":
                event = await asyncio.wait_for(client.read_event(), 30)
                assert event is not None
                received.append(event)
            return sound(received)

    async def everyone(path: Path, texts: List[str]) -> List[Tuple[Any, np.ndarray]]:
        return list(await asyncio.gather(*[one(path, text) for text in texts]))

    texts = [f"Client {number} has its own text." for number in range(12)]
    with running(tmp_path) as front:
        results = asyncio.run(everyone(front.path, texts))
    for text, (kinds, samples) in zip(texts, results):
        assert kinds == ["audio-start", "audio-stop"]
        np.testing.assert_array_equal(samples, expected(text))
