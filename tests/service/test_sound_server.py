"""The whole service, its real voice and a real PulseAudio: heard, stopped, lost and found again."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any, Iterator, List

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"

pytestmark = [
    pytest.mark.system,
    pytest.mark.voice,
    pytest.mark.skipif(shutil.which("parec") is None, reason="no PulseAudio utilities"),
]

TEXT = "The first sentence is heard at once. The second one follows it. And this is the third."


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A sound server, an ear at it, and the service that plays to it."""
    monkeypatch.syspath_prepend(str(BENCH))
    from running_service import RunningService
    from sound_server import Ear, SoundServer

    environment = SoundServer(tmp_path / "sound")
    with environment as server, RunningService(tmp_path, environment=server.environment) as service:
        ear = Ear(server)
        yield server, service, ear
        ear.close()


def states(client: Any, until: str) -> List[str]:
    found: List[str] = []
    while until not in found:
        frame = client.receive(30.0)
        if frame.type == "edge-device":
            found.append(frame.data["state"])
    return found


def test_speech_is_heard_and_silent_after_a_stop(heard: Any) -> None:
    _, service, ear = heard
    with service.client() as client:
        frames = list(client.speak("Ready."))
        assert frames[-1].data["reason"] == "done"
        assert len(ear.loud_times()) > 4800
        client.send("edge-speak", text=TEXT)
        while client.receive(30.0).type != "edge-started":
            pass
        client.ask("edge-stop", "edge-stopped", all=True)
        time.sleep(0.5)
        ear.forget()
        time.sleep(0.5)
        assert len(ear.loud_times()) == 0


def test_a_sink_that_goes_and_comes_back_is_survived(heard: Any) -> None:
    server, service, _ = heard
    with service.client() as client:
        client.ask("edge-subscribe", "edge-subscribed")
        client.send("edge-speak", text=TEXT, id="long")
        while client.receive(30.0).type != "edge-started":
            pass
        server.pactl("unload-module", "module-null-sink")
        states(client, "lost")
        server.pactl("load-module", "module-null-sink", "sink_name=tts", "rate=48000", "channels=2")
        server.pactl("set-default-sink", "tts")
        states(client, "open")
        while True:
            frame = client.receive(60.0)
            if frame.type == "edge-finished":
                break
    assert frame.data["reason"] == "done"
    with service.client() as client:
        assert client.status()["device"]["losses"] >= 1
