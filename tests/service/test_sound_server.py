"""The whole service, its real voice and a real PulseAudio: heard, stopped, lost and found again."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Iterator, List

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
FAULTS = BENCH.parent / "tests" / "audio" / "alsa_faults.c"

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


def until_finished(client: Any) -> str:
    while True:
        frame = client.receive(60.0)
        if frame.type == "edge-finished":
            return str(frame.data["reason"])


def states(client: Any, until: str) -> List[str]:
    found: List[str] = []
    while until not in found:
        frame = client.receive(30.0)
        if frame.type == "edge-device":
            found.append(frame.data["state"])
    return found


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A service whose driver shows the fault that the file names; its device rests at once."""
    monkeypatch.syspath_prepend(str(BENCH))
    from running_service import RunningService
    from sound_server import Ear, SoundServer

    if shutil.which("gcc") is None:
        pytest.skip("no gcc to build the driver with faults")
    shim, fault = tmp_path / "alsa_faults.so", tmp_path / "fault"
    source = str(FAULTS)
    subprocess.check_call(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), source, "-ldl"])
    fault.write_text("")
    with SoundServer(tmp_path / "sound") as server:
        environment = {
            **server.environment,
            "ALSA_FAULT": str(fault),
            "LD_PRELOAD": f"{shim} libasound.so.2",
            "EDGE_TTS_AUDIO_KEEP_WARM_S": "0.2",
        }
        with RunningService(tmp_path, environment=environment) as service:
            ear = Ear(server)
            yield fault, service, ear
            ear.close()


# CASES A10
def test_a_device_that_is_busy_after_a_rest_is_waited_for(faulty: Any) -> None:
    fault, service, ear = faulty
    with service.client() as client:
        client.ask("edge-subscribe", "edge-subscribed")
        while client.status()["device"]["state"] != "resting":
            time.sleep(0.1)
        fault.write_text("busy")
        client.ask("edge-speak", "edge-accepted", text="Ready.")
        assert "lost" in states(client, "lost")
        ear.forget()
        fault.write_text("")
        assert until_finished(client) == "done"
    assert len(ear.loud_times()) > 4800


# CASES A08
def test_an_unplugged_device_is_survived(faulty: Any) -> None:
    fault, service, ear = faulty
    with service.client() as client:
        client.ask("edge-subscribe", "edge-subscribed")
        client.send("edge-speak", text=TEXT)
        while client.receive(30.0).type != "edge-started":
            pass
        fault.write_text("unplug")
        assert "lost" in states(client, "lost")
        ear.forget()
        fault.write_text("")
        assert until_finished(client) == "done"
        assert client.status()["device"]["losses"] >= 1
    assert len(ear.loud_times()) > 4800


# CASES A01
def test_a_sink_that_must_wake_up_gets_its_silence_after_every_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    from running_service import RunningService
    from sound_server import SoundServer

    with SoundServer(tmp_path / "sound") as server:
        environment = {
            **server.environment,
            "EDGE_TTS_AUDIO_KEEP_WARM_S": "0.2",
            "EDGE_TTS_AUDIO_LEAD_IN_S": "1.5",
        }
        with RunningService(
            tmp_path, environment=environment
        ) as service, service.client() as client:
            for _ in range(3):  # the last one from the cache: no other wait than the lead-in
                while client.status()["device"]["state"] != "resting":
                    time.sleep(0.1)
                frames = list(client.speak("Ready."))
    assert frames[1].data["source"] == "cache"
    assert frames[1].data["latency_s"] >= 1.5


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
        assert until_finished(client) == "done"
    with service.client() as client:
        assert client.status()["device"]["losses"] >= 1
