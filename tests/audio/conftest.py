"""Real sound systems to play on: a private PulseAudio, ALSA's file sink, a driver with faults."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, Iterator, List

import numpy as np
import pytest

TESTS = Path(__file__).parent

PRELUDE = """
import sys, threading, time
import numpy as np
from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.device_sink import DeviceSink
from edge_tts.audio.devices import choose_device, list_devices
from edge_tts.errors import AudioError

RATE_HZ = 24000

def tone(hz, duration_s, rate_hz=RATE_HZ):
    t = np.arange(round(duration_s * rate_hz)) / rate_hz
    return (0.5 * np.sin(2 * np.pi * hz * t)).astype(np.float32)

def write(sink, samples, rate_hz=RATE_HZ):
    for start in range(0, len(samples), 4800):
        sink.write(AudioChunk(samples[start:start + 4800], rate_hz, 0, start, False))

def code_of(action):
    try:
        action()
    except AudioError as error:
        return error.code
    return None
"""


class SoundSystem:
    """An environment in which a program finds exactly one sound system."""

    def __init__(self, folder: Path, asoundrc: str) -> None:
        self.folder = folder
        (folder / "home").mkdir(parents=True)
        (folder / "home" / ".asoundrc").write_text(asoundrc)
        self.env: Dict[str, str] = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PULSE", "XDG", "DBUS"))},
            "HOME": str(folder / "home"),
            "PYTHONPATH": str(TESTS.parent.parent),
        }

    def start(self, code: str) -> "subprocess.Popen[str]":
        """Run `code` after the prelude; its own lines talk through stdin and stdout."""
        return subprocess.Popen(
            [sys.executable, "-c", PRELUDE + code],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str) -> List[str]:
        """The words that `code` prints. It must succeed and leave stderr alone."""
        process = self.start(code)
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
        return output.split()


class PulseAudio(SoundSystem):
    """A PulseAudio server of our own with one null sink, whose monitor can be recorded."""

    rate_hz = 48000

    def __init__(self, folder: Path) -> None:
        pulse = "type pulse hint { show on description 'pulse' }".replace("'", '"')
        super().__init__(
            folder,
            f"pcm.!default {{ {pulse} }}\nctl.!default {{ type pulse }}\n"
            "pcm.pulse { type pulse }\n",
        )
        (folder / "run").mkdir(mode=0o700)
        self._socket = folder / "run" / "pulse.sock"
        self.env["XDG_RUNTIME_DIR"] = str(folder / "run")
        self.env["PULSE_SERVER"] = f"unix:{self._socket}"
        (folder / "pulse.pa").write_text(
            f"load-module module-native-protocol-unix auth-anonymous=1 socket={self._socket}\n"
        )
        self.start_server()

    def start_server(self) -> None:
        command = ["pulseaudio", "-n", "-F", str(self.folder / "pulse.pa"), "--daemonize=no"]
        command += ["--exit-idle-time=-1", "--realtime=no", "--high-priority=no"]
        with (self.folder / "server.log").open("w") as log:
            self._server = subprocess.Popen(command, env=self.env, stdout=log, stderr=log)
        _wait_for(lambda: subprocess.call(["pactl", "info"], env=self.env, **_NULL) == 0)
        self.load_sink()

    def stop_server(self) -> None:
        self._server.kill()
        self._server.wait()
        with contextlib.suppress(FileNotFoundError):
            self._socket.unlink()

    def load_sink(self) -> None:
        self.pactl("load-module", "module-null-sink", "sink_name=tts", "rate=48000", "channels=2")
        self.pactl("set-default-sink", "tts")

    def pactl(self, *args: str) -> None:
        subprocess.check_call(["pactl", *args], env=self.env, **_NULL)

    @contextlib.contextmanager
    def recording(self) -> Iterator[List[np.ndarray]]:
        """Record the monitor; the list holds the mono sound once the block is left."""
        path = self.folder / "monitor.raw"
        command = ["parec", "-d", "tts.monitor", "--format=s16le", "--rate=48000", "--channels=1"]
        sound: List[np.ndarray] = []
        with path.open("wb") as out:
            recorder = subprocess.Popen(
                [*command, "--latency-msec=20", "--raw"], env=self.env, stdout=out
            )
            _wait_for(lambda: path.stat().st_size > 0)
            yield sound
            time.sleep(0.3)
            recorder.terminate()
            recorder.wait()
        sound.append(np.fromfile(path, "<i2").astype(np.float64) / 32768)


_NULL: Dict[str, int] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _wait_for(condition) -> None:  # type: ignore[no-untyped-def]
    for _ in range(500):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("the sound system did not start")


def _require(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (scripts/test.sh installs them)")


@pytest.fixture()
def pulse(tmp_path: Path) -> Iterator[PulseAudio]:
    _require("pulseaudio", "pactl", "parec")
    server = PulseAudio(tmp_path / "pulse")
    yield server
    server.stop_server()


class AlsaFile(SoundSystem):
    """ALSA's file plug-in as the default device: plays as fast as it can into `path`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "out.raw"
        super().__init__(
            folder,
            "pcm.!default { type plug slave { pcm wavout rate 48000 format S16_LE channels 2 } "
            'hint { show on description "file" } }\n'
            f'pcm.wavout {{ type file slave.pcm "nul" file "{self.path}" format raw perm 0644 }}\n'
            "pcm.nul { type null }\n",
        )

    def sound(self) -> np.ndarray:
        """What was played: int16 frames of two channels, silence at both ends removed."""
        frames = np.fromfile(self.path, "<i2").reshape(-1, 2)
        loud = np.flatnonzero(frames.any(axis=1))
        return frames[loud[0] : loud[-1] + 1] if len(loud) else frames[:0]


@pytest.fixture()
def alsa_file(tmp_path: Path) -> AlsaFile:
    return AlsaFile(tmp_path / "alsa")


@pytest.fixture()
def faulty(pulse: PulseAudio, tmp_path: Path) -> PulseAudio:
    """PulseAudio behind a driver whose faults `set_fault` switches on and off."""
    _require("gcc")
    shim = tmp_path / "alsa_faults.so"
    source = str(TESTS / "alsa_faults.c")
    subprocess.check_call(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), source, "-ldl"])
    (tmp_path / "fault").write_text("")
    pulse.env["ALSA_FAULT"] = str(tmp_path / "fault")
    pulse.env["LD_PRELOAD"] = f"{shim} libasound.so.2"
    return pulse


def set_fault(system: SoundSystem, name: str) -> None:
    """Put a fault of `alsa_faults.c` in force; "" ends it."""
    Path(system.env["ALSA_FAULT"]).write_text(name)
