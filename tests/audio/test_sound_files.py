"""WAV and PCM files: right bytes, right errors, and never half a file."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.sink import RawSink, WavSink
from edge_tts.audio.wav import to_pcm16
from edge_tts.errors import AudioError


def chunk(samples: np.ndarray, rate_hz: int = 24000) -> AudioChunk:
    return AudioChunk(np.asarray(samples, np.float32), rate_hz, 0, 0, True)


def names(folder: Path) -> "list[str]":
    return [path.name for path in folder.iterdir()]


RAMP = np.linspace(-1.2, 1.2, 5000)


@pytest.mark.parametrize("rate_hz", [8000, 22050, 24000, 48000])
def test_wav_reads_back(tmp_path: Path, rate_hz: int) -> None:
    with WavSink(tmp_path / "out.wav", rate_hz) as sink:
        for part in np.array_split(RAMP, 7):
            sink.write(chunk(part, rate_hz))
        sink.drain()
    with wave.open(str(tmp_path / "out.wav")) as read:
        assert (read.getframerate(), read.getnchannels(), read.getsampwidth()) == (rate_hz, 1, 2)
        assert read.readframes(read.getnframes()) == to_pcm16(RAMP).tobytes()
    assert names(tmp_path) == ["out.wav"]


def test_wav_without_a_chunk_is_valid_and_empty(tmp_path: Path) -> None:
    WavSink(tmp_path / "out.wav", 24000).close()
    with wave.open(str(tmp_path / "out.wav")) as read:
        assert read.getnframes() == 0


def test_raw_is_bare_samples(tmp_path: Path) -> None:
    with RawSink(tmp_path / "out.pcm", 24000) as sink:
        sink.write(chunk(RAMP))
    assert (tmp_path / "out.pcm").read_bytes() == to_pcm16(RAMP).tobytes()


@given(st.floats(-1, 1, width=32))
def test_rounding_is_to_the_nearest_and_symmetric(value: float) -> None:
    plus, minus = to_pcm16(np.array([value, -value]))
    assert plus == -minus
    assert abs(float(plus) - value * 32767.0) <= 0.5 + 1e-2


def test_beyond_full_scale_saturates() -> None:
    assert to_pcm16(np.array([1.5, -1.5, 1.0, -1.0])).tolist() == [32767, -32767, 32767, -32767]


def test_an_error_leaves_no_file_and_keeps_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "out.wav").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), WavSink(tmp_path / "out.wav", 24000) as sink:
        sink.write(chunk(RAMP))
        raise KeyboardInterrupt
    assert names(tmp_path) == ["out.wav"]
    assert (tmp_path / "out.wav").read_bytes() == b"old"


def test_the_file_appears_only_when_complete(tmp_path: Path) -> None:
    sink = WavSink(tmp_path / "out.wav", 24000)
    sink.write(chunk(RAMP))
    assert not (tmp_path / "out.wav").exists()
    sink.close()
    sink.close()
    assert (tmp_path / "out.wav").exists()


def test_replacing_keeps_permissions_and_follows_links(tmp_path: Path) -> None:
    (tmp_path / "real.wav").write_bytes(b"old")
    (tmp_path / "real.wav").chmod(0o640)
    (tmp_path / "link.wav").symlink_to("real.wav")
    with WavSink(tmp_path / "link.wav", 24000) as sink:
        sink.write(chunk(RAMP))
    assert (tmp_path / "link.wav").is_symlink()
    assert (tmp_path / "real.wav").stat().st_size == 44 + 2 * len(RAMP)
    assert (tmp_path / "real.wav").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("target", ["", "missing/out.wav", "folder", "file/out.wav"])
def test_unwritable_targets(tmp_path: Path, target: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(AudioError) as caught:
        WavSink(f"{tmp_path}/{target}", 24000)
    assert caught.value.code == "audio.unwritable"


def test_another_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AudioError) as caught, WavSink(tmp_path / "out.wav", 24000) as sink:
        sink.write(chunk(RAMP, 22050))
    assert caught.value.code == "audio.rate_unsupported"
    assert names(tmp_path) == []


def test_full_device_is_a_full_disk() -> None:
    with pytest.raises(AudioError) as caught, RawSink("/dev/full", 24000) as sink:
        sink.write(chunk(RAMP))
    assert caught.value.code == "audio.disk_full"


WRITE_UNTIL_ERROR = """
import numpy as np, sys
from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.sink import RawSink, WavSink
from edge_tts.errors import AudioError
kind, target, n_chunks = {"wav": WavSink, "raw": RawSink}[sys.argv[1]], sys.argv[2], sys.argv[3]
try:
    with kind(target, 24000) as sink:
        for _ in range(int(n_chunks)):
            sink.write(AudioChunk(np.full(24000, 0.5, np.float32), 24000, 0, 0, True))
except AudioError as error:
    sys.exit(error.code)
"""


def writer(*args: str, **options: object) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", WRITE_UNTIL_ERROR, *args]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload]


def test_file_size_limit_is_a_full_disk_and_leaves_nothing(tmp_path: Path) -> None:
    def limit() -> None:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    process = writer("wav", str(tmp_path / "out.wav"), "10", preexec_fn=limit)
    assert b"audio.disk_full" in process.communicate()[1]
    assert names(tmp_path) == []


def test_stdout_wav_states_an_unknown_length() -> None:
    process = writer("wav", "-", "2", stdout=subprocess.PIPE)
    data = process.communicate()[0]
    assert process.returncode == 0
    assert struct.unpack("<I", data[4:8])[0] == struct.unpack("<I", data[40:44])[0] == 0xFFFFFFFF
    assert data[44:] == to_pcm16(np.full(48000, 0.5)).tobytes()


@pytest.mark.parametrize("kind", ["wav", "raw"])
def test_closed_pipe_has_its_own_code_and_no_noise(kind: str) -> None:
    process = writer(kind, "-", "1000", stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1000)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read().strip() == b"audio.closed_pipe"
    process.stderr.close()
    process.wait()


def test_a_pipe_without_a_name_can_be_written_by_its_device(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stream:
        with WavSink(f"/dev/fd/{writer}", 24_000):
            os.close(writer)
        assert stream.read()[:4] == b"RIFF"
