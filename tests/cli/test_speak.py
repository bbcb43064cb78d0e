"""`edge-tts speak` as a user runs it: a process, real text, the real default voice."""

import os
import signal
import subprocess
import sys
import time
import wave
from pathlib import Path
from typing import Optional

import numpy as np
import pytest

pytestmark = pytest.mark.voice

EDGE_TTS = [sys.executable, "-m", "edge_tts"]


def run(*arguments: str, stdin: Optional[bytes] = None, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*EDGE_TTS, "speak", *arguments],
        input=stdin if stdin is not None else b"",
        capture_output=True,
        timeout=120,
        check=False,
        **options,
    )


def samples(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_writes_a_wav_file(tmp_path: Path) -> None:
    out = tmp_path / "out.wav"
    result = run("你好。Hello.", "-o", str(out))
    assert result.returncode == 0, result.stderr
    sound = samples(out)
    assert 0.5 * 24000 < len(sound) < 5 * 24000
    assert 3000 < np.abs(sound).max() < 32767


def test_stdin_gives_the_same_sound_as_an_argument(tmp_path: Path) -> None:
    text = "请系好安全带。"
    run(text, "-o", str(tmp_path / "a.wav"))
    result = run("-", "-o", str(tmp_path / "b.wav"), stdin=text.encode())
    assert result.returncode == 0
    a, b = samples(tmp_path / "a.wav"), samples(tmp_path / "b.wav")
    # A stream's end is not known in time, so it keeps the pause after its last sentence.
    assert np.array_equal(a, b[: len(a)])
    assert not b[len(a) :].any()


def test_wav_and_raw_on_stdout_hold_the_same_samples() -> None:
    wav, raw = run("Welcome.", "-o", "-"), run("Welcome.", "--raw")
    assert wav.stdout[:4] == b"RIFF"
    assert wav.stdout[44:] == raw.stdout
    assert len(raw.stdout) > 10000


def test_speed_changes_duration_by_its_factor(tmp_path: Path) -> None:
    text = "Please keep left and follow the road for two miles."
    lengths = {}
    for speed in ("0.5", "1", "2"):
        assert run(text, "--speed", speed, "-o", str(tmp_path / "x.wav")).returncode == 0
        lengths[speed] = len(samples(tmp_path / "x.wav"))
    assert lengths["0.5"] / lengths["1"] == pytest.approx(2, rel=0.15)
    assert lengths["2"] / lengths["1"] == pytest.approx(0.5, rel=0.15)


@pytest.mark.parametrize("text", ["", "   ", "？！…", "😀😀", "——"])
def test_text_without_a_word_is_zero_audio_and_says_so(tmp_path: Path, text: str) -> None:
    out = tmp_path / "out.wav"
    result = run(text, "-o", str(out))
    assert result.returncode == 0
    assert len(samples(out)) == 0
    assert b"nothing to speak" in result.stderr


def test_unspoken_scripts_are_named(tmp_path: Path) -> None:
    result = run("Hello مرحبا", "-o", str(tmp_path / "out.wav"))
    assert result.returncode == 0
    assert b"Arabic" in result.stderr
    assert len(samples(tmp_path / "out.wav")) > 5000


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["Hi", "--speed", "3"], 2, b"speed"),
        (["Hi", "--volume", "-1"], 2, b"volume"),
        (["Hi", "--voice", "zf_xiaobey"], 3, b"zf_xiaobei"),
        (["Hi", "--voice", "kokor"], 4, b"did you mean 'kokoro'"),
        (["Hi", "--lang", "fr"], 2, b"zh"),
        (["Hi", "-o", "/nonexistent/x.wav"], 5, b"/nonexistent/x.wav"),
    ],
)
def test_bad_requests_say_what_to_do(arguments, code: int, says: bytes) -> None:
    result = run(*arguments)
    assert result.returncode == code, result.stderr
    assert says in result.stderr
    assert b"error[" in result.stderr
    assert b"Traceback" not in result.stderr


def test_invalid_utf8_on_stdin_names_the_byte(tmp_path: Path) -> None:
    out = tmp_path / "out.wav"
    result = run("-", "-o", str(out), stdin=b"Hello.\n\xff\xfe")
    assert result.returncode == 3
    assert b"input.encoding" in result.stderr
    assert b"byte 7" in result.stderr
    assert not out.exists()


def test_closed_stdout_is_no_traceback() -> None:
    command = " ".join([*EDGE_TTS, "speak", "'One. Two. Three.'", "--raw"])
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -c 10 >/dev/null"],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert b"Traceback" not in result.stderr
    assert b"audio.closed_pipe" in result.stderr


def test_disk_full_is_said() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    result = run("Hello.", "-o", "/dev/full")
    assert result.returncode == 5
    assert b"audio.disk_full" in result.stderr


def test_interrupt_exits_130_and_leaves_no_file(tmp_path: Path) -> None:
    out = tmp_path / "out.wav"
    process = subprocess.Popen(
        [*EDGE_TTS, "speak", "A long sentence about nothing in particular. " * 200, "-o", str(out)],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A test run in the background inherits an ignored SIGINT; only exec follows.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert list(tmp_path.iterdir()) == []


def without_device(folder: Path) -> "dict[str, str]":
    alsa = folder / "asound.conf"
    alsa.write_text("pcm.absent { type hw card 99 }\n")
    return {
        **os.environ,
        "PULSE_SERVER": "unix:/nonexistent",
        "ALSA_CONFIG_PATH": str(alsa),
    }


def test_without_a_device_the_fallback_file_is_written(tmp_path: Path) -> None:
    environment = without_device(tmp_path)
    result = run("Hello.", "--fallback-file", "edge-tts.wav", cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert b"edge-tts.wav" in result.stderr
    assert len(samples(tmp_path / "edge-tts.wav")) > 5000


@pytest.mark.parametrize(("text", "code"), [("😀", 0), ("Hello.", 5)])
def test_only_a_text_with_words_needs_a_device(tmp_path: Path, text: str, code: int) -> None:
    result = run(text, env=without_device(tmp_path))
    assert result.returncode == code, result.stderr
    assert (b"nothing to speak" in result.stderr) == (code == 0)
