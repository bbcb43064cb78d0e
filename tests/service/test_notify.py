"""systemd's protocols, against a real datagram socket and real passed descriptors."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Type

import pytest
from running import running

from edge_tts.errors import AudioError
from edge_tts.service import notify
from edge_tts.service.output import FileOutput


@pytest.mark.parametrize("is_abstract", [False, True])
def test_states_reach_the_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_abstract: bool
) -> None:
    name = f"@edge-tts-test-{os.getpid()}" if is_abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name[1:] if is_abstract else name)
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        notifier = notify.Notifier()
        notifier.status("loading")
        notifier.status("loading")
        notifier.ready()
        notifier.alive()
        notifier.stopping()
        received = [manager.recv(100) for _ in range(4)]
    assert received == [b"STATUS=loading", b"READY=1", b"WATCHDOG=1", b"STOPPING=1"]


def test_without_a_manager_nothing_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
        notify.Notifier().ready()
        monkeypatch.setenv("NOTIFY_SOCKET", "/nonexistent/socket")
        notify.Notifier().ready()
        with pytest.raises(BlockingIOError):
            manager.recv(100)


@pytest.mark.parametrize(
    ("usec", "pid", "expected"),
    [("30000000", None, 30.0), ("30000000", "1", None), ("", None, None), ("x", None, None)],
)
def test_the_watchdog_is_the_one_of_this_process(
    monkeypatch: pytest.MonkeyPatch, usec: str, pid: str, expected: float
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", usec)
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    if pid is not None:
        monkeypatch.setenv("WATCHDOG_PID", pid)
    assert notify.watchdog_s() == expected


class HungOutput(FileOutput):
    """A sound system that no call comes back from any more."""

    def check(self) -> None:
        raise AudioError("hung again and again", code="audio.hung")


@pytest.mark.parametrize(("output", "is_fed"), [(FileOutput, True), (HungOutput, False)])
def test_a_sound_system_that_hangs_for_good_is_for_the_manager_to_restart(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    output: "Type[FileOutput]",
    is_fed: bool,
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(0.5)  # five times as long as between two meals
        with running(tmp_path, output(tmp_path / "out.pcm")) as front:
            while front.call(lambda: front.front.player.device_state) != (
                "open" if is_fed else "lost"
            ):
                time.sleep(0.01)
            received = []
            with contextlib.suppress(socket.timeout):
                while len(received) < 50:
                    received.append(manager.recv(100))
    assert (received.count(b"WATCHDOG=1") > 10) == is_fed


_CHILD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
from edge_tts.service.notify import passed_sockets
(link,) = passed_sockets()
assert "LISTEN_FDS" not in os.environ and passed_sockets() == []
link.accept()[0].sendall(b"served")
"""


def test_a_passed_socket_is_served(tmp_path: Path) -> None:
    path = tmp_path / "activated.sock"
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(str(path))
        listener.listen(1)
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(listener.fileno())],
            env={**os.environ, "LISTEN_FDS": "1"},
            pass_fds=[listener.fileno()],
        )
        client.connect(str(path))
        client.settimeout(10)
        assert client.recv(10) == b"served"
        assert child.wait(10) == 0
