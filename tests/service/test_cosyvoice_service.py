"""The service speaks with a tiny CosyVoice voice, whose tokens are drawn one by one."""

from __future__ import annotations

import socket
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
from running import PacedOutput, pcm, running, until_finished

from edge_tts import Speaker
from edge_tts.audio.wav import to_pcm16
from edge_tts.runtime.decoding import HostDecoding
from edge_tts.service import worker as worker_module
from edge_tts.service.codec import Decoder
from edge_tts.service.messages import Manner
from edge_tts.service.voice_source import VoiceSource
from edge_tts.service.worker import Inbox, Worker
from edge_tts.service.worker_link import LIMITS, Render

NAMES = ("cosyvoice1", "cosyvoice2")
DATA = Path(__file__).resolve().parents[1] / "voices" / "data"
SENTENCES = "今天天气真不错。我们去公园走走吧。花开了，湖水很蓝。回家的时候请慢走。"


@pytest.fixture(params=NAMES)
def name(request, tmp_path, monkeypatch):
    root = tmp_path / "voices"
    with tarfile.open(DATA / f"{request.param}.tar.xz") as archive:
        for member in archive.getmembers():
            target = root / member.name
            if member.isdir():
                target.mkdir(parents=True)
            else:
                target.write_bytes(archive.extractfile(member).read())
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(root))
    return request.param


def on_voice(name):
    return {
        "source": "edge_tts.service.voice_source:open_voice",
        "options": ["--", "--voice", name, "--threads", "1"],
    }


def wanted(name, text):
    with Speaker(name, n_threads=1) as speaker:
        return to_pcm16(speaker.synthesize(text).samples)


def test_a_session_is_spoken_as_in_this_process(name, tmp_path):
    with running(tmp_path, **on_voice(name)) as front, front.client() as client:
        front.wait_ready()
        client.ask("edge-session-open", "edge-session", session="trip")
        frames = list(client.speak(SENTENCES, session="trip"))
    assert frames[-1].data["reason"] == "done"
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), wanted(name, SENTENCES))


def test_a_killed_worker_loses_and_repeats_nothing(name, tmp_path):
    output = PacedOutput(tmp_path / "out.pcm", speed=8.0)
    text = 3 * SENTENCES
    with running(tmp_path, output, **on_voice(name)) as front, front.client() as client:
        front.wait_ready()
        client.send("edge-speak", text=text)
        for number in range(3):
            time.sleep(0.05 + 0.03 * number)
            front.call(front.front.supervisor.kill)
            front.wait_ready()
        frames = until_finished(client)
        n_restarts = client.status()["worker"]["restarts"]
    assert frames[-1].data["reason"] == "done"
    assert n_restarts == 3
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), wanted(name, text))


def test_a_cancel_ends_the_loop_at_the_next_token(name, monkeypatch):
    """No sound is due for a hundred tokens, and none of them is drawn once nobody listens."""
    steps, step = [], HostDecoding.step

    def counted(decoding, rows):
        if decoding.n_positions:
            steps.append(decoding)
        if len(steps) == 4:
            inbox.cancelled = 1
        return step(decoding, rows)

    near, far = socket.socketpair()
    with near, far, Speaker(name, n_threads=1) as speaker:
        monkeypatch.setattr(HostDecoding, "step", counted)
        inbox = Inbox(far)
        worker = Worker(far, inbox, VoiceSource(speaker))
        worker._serve(Render(1, "u", SENTENCES, Manner(), 0))
    assert len(steps) == 4
    assert all(not len(decoding.past) for decoding in steps)


def test_a_worker_without_sound_yet_shows_that_it_lives(name, monkeypatch):
    monkeypatch.setattr(worker_module, "_SIGN_OF_LIFE_S", -1.0)
    near, far = socket.socketpair()
    with near, far, Speaker(name, n_threads=1) as speaker:
        worker = Worker(far, Inbox(far), VoiceSource(speaker))
        worker._serve(Render(1, "u", "好。", Manner(), 0))
        far.shutdown(socket.SHUT_WR)
        decoder, kinds = Decoder(LIMITS), []
        while data := near.recv(65536):
            kinds += [frame.type for frame in decoder.feed(data)]
    assert kinds[0] == "begun"
    assert kinds.index("piece") > 5
    assert set(kinds[1 : kinds.index("piece")]) == {"pong"}
    assert kinds[-1] == "rendered"
