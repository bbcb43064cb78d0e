"""Every limit is told by its code, over a real socket, and the service serves on."""

from __future__ import annotations

import json
import os
import socket
import stat
import tempfile
from pathlib import Path
from typing import Any, Dict, List

import pytest
from running import PacedOutput, running, until_finished

from edge_tts.errors import EdgeTTSError, InputError
from edge_tts.service.budget import Step
from edge_tts.service.codec import Decoder, FrameLimits
from edge_tts.service.connection import ConnectionLimits
from edge_tts.service.sockets import listen_unix


def code_after(path: Path, data: bytes) -> str:
    """Code of the error by which the service answers `data` before it closes."""
    decoder = Decoder(FrameLimits())
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(20)
        link.connect(str(path))
        try:
            link.sendall(data)
        except OSError:
            assert data  # it may have closed in the middle; what it said is there to be read
        while True:
            frames = decoder.feed(link.recv(4096))
            if frames:
                assert frames[0].type == "error"
                return str(frames[0].data["code"])


# CASES S12
@pytest.mark.parametrize("kind", ["synthesize", "edge-speak", "synthesize-chunk", "ping"])
def test_five_megabytes_of_text_and_a_large_inline_header_are_refused_by_code(
    tmp_path: Path, kind: str
) -> None:
    body = json.dumps({"text": "a" * 5_000_000}).encode()
    inline = json.dumps({"type": kind, "data": {"text": "a" * 70_000}}).encode() + b"\n"
    header = json.dumps({"type": kind, "data_length": len(body)}).encode() + b"\n"
    endless = json.dumps({"type": kind, "payload_length": 70_000}).encode() + b"\n"
    with running(tmp_path) as front:
        for data in (header + body, inline, endless + b"\0" * 70_000, b"x" * 20_000):
            assert code_after(front.path, data) == "service.frame_too_large"
        with front.client() as client:
            assert list(client.speak("One."))[-1].data["reason"] == "done"


# CASES S12
def test_a_stream_that_grows_beyond_the_limit_ends_with_its_code(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        client.send("synthesize-start")
        for _ in range(3):
            client.send("synthesize-chunk", text="字" * 8_000)
        kinds: List[str] = []
        with pytest.raises(InputError) as caught:
            while True:
                kinds.append(client.receive().type)
        assert caught.value.code == "input.text_too_long"
        while kinds[-1:] != ["synthesize-stopped"]:
            kinds.append(client.receive().type)


# CASES S05
@pytest.mark.parametrize("text", ["A bug is here: BUG.", "CRASH at once."])
def test_a_fault_of_the_worker_reaches_a_streaming_client_and_its_stream_ends(
    tmp_path: Path, text: str
) -> None:
    with running(tmp_path, n_attempts=2) as front, front.client() as client:
        client.send("synthesize-start")
        client.send("synthesize-chunk", text=f"First a sentence that is well. {text}")
        client.send("synthesize-stop")
        found: Dict[str, Any] = {}
        while "synthesize-stopped" not in found:
            frame = client.receive_any(20.0)
            found[frame.type] = frame.data
        assert found["error"]["code"] in ("internal", "service.worker_lost")
        front.wait_ready()
        client.send("synthesize", text="Well again.")
        while client.receive(20.0).type != "audio-stop":
            pass


def test_a_client_that_does_not_read_is_told_so_and_loses_its_place(tmp_path: Path) -> None:
    limits = ConnectionLimits(n_connections=2, backlog_bytes=20_000)
    with running(tmp_path, connections=limits) as front, front.client() as client:
        with front.client() as deaf:
            refused = front.front.announcer.metrics.refused
            while not front.call(lambda: refused["service.slow_reader"]):
                deaf.send("ping", text="?" * 10_000)
            with pytest.raises(EdgeTTSError) as caught:
                while True:
                    deaf.receive()
            assert caught.value.code == "service.slow_reader"
        with front.client() as other:
            assert other.ask("ping", "pong", text="?").data["text"] == "?"
        assert client.status()["counts"]["refused"]["service.slow_reader"] == 1


def test_short_of_memory_the_client_with_most_in_synthesis_is_stopped(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm")
    with running(tmp_path, output, options=["0.02"]) as front:
        front.wait_ready()
        with front.client() as large, front.client() as small:
            small.ask("edge-speak", "edge-accepted", text="One. Two. Three.", id="small")
            large.send("synthesize", text="A long sentence. " * 50)
            assert large.receive().type == "audio-start"
            front.call(front.front._take, Step.STOP_LARGEST)
            with pytest.raises(EdgeTTSError) as caught:
                while True:
                    large.receive()
            assert caught.value.code == "budget.busy"
            assert large.receive().type == "audio-stop"
            front.call(front.front._take, Step.STOP_LARGEST)
            assert until_finished(small, "small")[-1].data["reason"] == "budget"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize(("groups", "is_let_in"), [([], False), ([4242], True)])
def test_the_socket_lets_in_its_group_and_no_other_user(
    groups: "List[int]", is_let_in: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "s.sock"
        with listen_unix(path):
            os.chown(str(path), 0, 4242)
            assert stat.S_IMODE(path.stat().st_mode) == 0o660
            assert _may_connect(path, groups) is is_let_in


def _may_connect(path: Path, groups: "List[int]") -> bool:
    """Whether a user who belongs to these groups reaches the socket."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            os.setgroups(groups)
            os.setgid(65534)
            os.setuid(65534)
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(str(path))
            code = 0
        except PermissionError:
            code = 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = status >> 8
    assert code in (0, 1)
    return code == 0


def test_what_a_client_calls_things_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        for field in ("id", "session", "key", "voice"):
            with pytest.raises(EdgeTTSError) as caught:
                client.ask("edge-speak", "edge-accepted", text="x", **{field: "\x1b[2J"})
            assert caught.value.code == "service.bad_request"
            assert "\x1b" not in str(caught.value)
