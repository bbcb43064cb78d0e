"""The whole tree as systemd starts it: a front, its worker, and the HTTP process beside them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List

import psutil
import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from http_side import wait_until  # noqa: E402

from edge_tts.service.client import Client  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "voices"))
from tiny_kokoro import write_voice  # noqa: E402

TOKEN = "0123456789abcdef0123456789abcdef"


class Tree:
    """`edge-tts service` with HTTP on a loopback port."""

    def __init__(self, folder: Path, **http: Any) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.socket = folder / "s.sock"
        write_voice(folder / "voices/tiny")
        (folder / "token").write_text(TOKEN)
        (folder / "token").chmod(0o600)
        config = folder / "config.yaml"
        config.write_text(
            f"voice: tiny\nservice:\n  socket: {self.socket}\n  output_file: {folder / 'out.pcm'}\n"
            f"http:\n  listen: 127.0.0.1:{self.port}\n  token_file: token\n"
        )
        config.chmod(0o600)
        self._log = folder / "service.log"
        command = [sys.executable, "-m", "edge_tts", "service", "--config", str(config)]
        environment = {**os.environ, "EDGE_TTS_VOICES_DIR": str(folder / "voices")}
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, stderr=log, env=environment)
        headers = {"authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=url, timeout=20, trust_env=False, headers=headers)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self._log.read_text()
        try:
            return bool(self.client.get("/healthz").status_code == 200)
        except httpx.TransportError:
            return False

    def http_pid(self) -> int:
        """The child that runs the HTTP server; 0 while there is none."""
        for child in self.children():
            with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
                if "edge_tts.http.server" in child.cmdline():
                    return child.pid
        return 0

    def children(self) -> List[psutil.Process]:
        return psutil.Process(self.process.pid).children()

    def status(self) -> Dict[str, Any]:
        with Client(self.socket) as client:
            return client.status()


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    started = Tree(tmp_path)
    try:
        wait_until(started.is_ready, 60)
        yield started
    finally:
        started.client.close()
        started.process.kill()
        started.process.wait()


def test_one_tree_speaks_is_watched_recovers_and_ends(tree: Tree) -> None:
    spoken = tree.client.post("/tts", json={"text": "Hello."})
    assert (spoken.status_code, spoken.content[:4]) == (200, b"RIFF")
    assert httpx.get(f"{tree.client.base_url}/v1/status", trust_env=False).status_code == 401

    maps = Path(f"/proc/{tree.process.pid}/maps").read_text()
    assert "pydantic" not in maps  # the framework is the child's alone
    wait_until(lambda: tree.status()["budget"]["http_mib"] > 1, 20)
    assert tree.status()["http"] == {"state": "running", "restarts": 0}

    old = tree.http_pid()
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: tree.http_pid() not in (0, old), 20)
    # The listener is the front's: a request waits for the next process, and is not refused.
    assert tree.client.post("/tts", json={"text": "Hello."}).content == spoken.content
    assert tree.status()["http"]["restarts"] == 1

    children = tree.children()
    tree.process.terminate()
    assert tree.process.wait(20) == 0
    assert not [child for child in children if child.is_running()]


def test_the_http_process_does_not_outlive_its_service(tree: Tree) -> None:
    child = psutil.Process(tree.http_pid())
    tree.process.kill()
    tree.process.wait()
    wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, 20)
