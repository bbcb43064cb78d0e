"""What is spoken is nobody else's: in no log and no status; and TCP only where asked for."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import List

import numpy as np
import pytest
from running import expected, running, until_finished
from wyoming.client import AsyncClient
from wyoming.event import Event
from wyoming.tts import Synthesize

from edge_tts.config import Config
from edge_tts.service.sockets import listen_tcp

SECRET = "Quagmire"


def test_no_text_is_logged_or_shown_however_it_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    said: List[str] = []
    with running(tmp_path, n_attempts=2) as front, front.client() as client:
        for text in (f"{SECRET}.", f"{SECRET} BUG.", f"{SECRET} CRASH."):
            client.send("edge-speak", text=text)
            said.append(json.dumps(client.status()))
            said += [str(frame.data) for frame in until_finished(client)]
        client.send("synthesize", text=f"{SECRET} BUG.")
        said.append(str(client.receive_any(20.0).data))
    assert caplog.text
    assert SECRET not in caplog.text
    assert SECRET not in "".join(said)
    assert SECRET not in "".join(capfd.readouterr())


def test_tcp_is_off_unless_the_configuration_names_an_address() -> None:
    assert Config().service.tcp is None


def test_a_wyoming_client_is_served_over_tcp_as_well(tmp_path: Path) -> None:
    async def converse(port: int) -> bytes:
        async with AsyncClient.from_uri(f"tcp://127.0.0.1:{port}") as client:
            await client.write_event(Synthesize("One.").event())
            sound: List[bytes] = []
            while True:
                event = await asyncio.wait_for(client.read_event(), 20)
                assert isinstance(event, Event)
                sound.append(event.payload or b"")
                if event.type == "audio-stop":
                    return b"".join(sound)

    with running(tmp_path) as front, listen_tcp("127.0.0.1:0") as listener:
        listening = front.front._listen(listener.dup())
        server = asyncio.run_coroutine_threadsafe(listening, front.loop).result(5)
        port = listener.getsockname()[1]
        samples = np.frombuffer(asyncio.run(converse(port)), dtype="<i2")
        front.call(server.close)
    np.testing.assert_array_equal(samples, expected("One."))
