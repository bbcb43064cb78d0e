"""A private PulseAudio with one null sink, and an ear at its monitor that knows the time."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Dict, List, Optional, Tuple, Type

import numpy as np

RATE_HZ = 48000
LOUD = 0.01
_ASOUNDRC = """
pcm.!default { type pulse hint { show on description "pulse" } }
ctl.!default { type pulse }
pcm.pulse { type pulse }
"""
_NULL: Dict[str, int] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class SoundServer:
    """Starts the server; `environment` makes programs find it and nothing else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = folder / "run" / "pulse.sock"
        (folder / "run").mkdir(parents=True, mode=0o700)
        (folder / "home").mkdir()
        (folder / "home" / ".asoundrc").write_text(_ASOUNDRC)
        own = ("PULSE", "XDG_RUNTIME", "DBUS")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(own)}
        self.environment.update(
            {
                "ALSA_CONFIG_PATH": self._alsa_config(),
                "XDG_RUNTIME_DIR": str(folder / "run"),
                "PULSE_SERVER": f"unix:{self._socket}",
            }
        )
        self._process: "Optional[subprocess.Popen[bytes]]" = None

    def __enter__(self) -> "SoundServer":
        script = self._folder / "pulse.pa"
        script.write_text(
            f"load-module module-native-protocol-unix auth-anonymous=1 socket={self._socket}\n"
            "load-module module-null-sink sink_name=tts rate=48000 channels=2\n"
        )
        command = ["pulseaudio", "-n", "-F", str(script), "--daemonize=no", "--exit-idle-time=-1"]
        environment = {**self.environment, "HOME": str(self._folder / "home")}
        self._process = subprocess.Popen(
            [*command, "--realtime=no", "--high-priority=no"], env=environment, **_NULL
        )
        for _ in range(500):
            if subprocess.call(["pactl", "info"], env=self.environment, **_NULL) == 0:
                return self
            time.sleep(0.02)
        raise SystemExit("PulseAudio did not start")

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        assert self._process is not None  # noqa: S101 - only after __enter__
        self._process.kill()
        self._process.wait()

    def pactl(self, *arguments: str) -> None:
        """Give the server an order."""
        subprocess.check_call(["pactl", *arguments], env=self.environment, **_NULL)

    def _alsa_config(self) -> str:
        # HOME stays the user's, where the voices are; ALSA is told of our device on its own.
        path = self._folder / "alsa.conf"
        path.write_text("</usr/share/alsa/alsa.conf>\n" + _ASOUNDRC)
        return str(path)


class Ear:
    """Listens at the monitor. Times are on this process's monotonic clock, to about 20 ms."""

    def __init__(self, server: SoundServer) -> None:
        command = ["parec", "-d", "tts.monitor", "--format=s16le", f"--rate={RATE_HZ}"]
        self._process = subprocess.Popen(
            [*command, "--channels=1", "--latency-msec=20", "--raw"],
            env=server.environment,
            stdout=subprocess.PIPE,
        )
        self._lock = threading.Lock()
        self._heard: List[Tuple[float, np.ndarray]] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        while not self._heard:
            time.sleep(0.01)

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101 - opened as a pipe above
        while True:
            data = os.read(stream.fileno(), 65536)
            if not data:
                return
            samples = np.frombuffer(data[: len(data) // 2 * 2], "<i2") / 32768.0
            with self._lock:
                self._heard.append((time.monotonic(), samples))

    def forget(self) -> None:
        """Start anew."""
        with self._lock:
            self._heard.clear()

    def loud_times(self) -> np.ndarray:
        """When each loud sample came, in order."""
        with self._lock:
            heard = list(self._heard)
        times = [
            end_s - (len(samples) - np.flatnonzero(np.abs(samples) > LOUD)) / RATE_HZ
            for end_s, samples in heard
        ]
        return np.concatenate(times) if times else np.zeros(0)

    def close(self) -> None:
        """Stop listening."""
        self._process.kill()
        self._process.wait()
        self._thread.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
