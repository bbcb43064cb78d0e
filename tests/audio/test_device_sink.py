"""The device sink in real time on a real sound server, and through every fault a device has."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from edge_tts.audio.wav import to_pcm16
from tests.audio.conftest import AlsaFile, PulseAudio, SoundSystem, set_fault

pytestmark = pytest.mark.system


def bursts(sound: np.ndarray, gap_s: float = 0.05, rate_hz: int = 48000) -> np.ndarray:
    """Start and end in seconds of each stretch of sound."""
    loud = np.flatnonzero(np.abs(sound) > 0.02)
    if not len(loud):
        return np.zeros((0, 2))
    cuts = np.flatnonzero(np.diff(loud) > gap_s * rate_hz)
    starts, ends = np.append(loud[0], loud[cuts + 1]), np.append(loud[cuts], loud[-1])
    return np.stack((starts, ends), axis=1) / rate_hz


def pitch_hz(sound: np.ndarray, rate_hz: int = 48000) -> float:
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), 1 << 18))
    return float(np.argmax(spectrum) * rate_hz / (1 << 18))


def test_all_of_it_is_heard_in_order_and_without_a_hole(pulse: PulseAudio) -> None:
    with pulse.recording() as recorded:
        played, starved, lost = pulse.run("""
with DeviceSink(lead_in_s=0.2) as sink:
    sound = np.concatenate([tone(500 + 200 * step, 0.2) for step in range(10)])
    write(sink, sound)
    sink.drain()
    print(sink.played_samples, sink.stats.n_starved, sink.stats.n_lost)
""")
    assert (played, starved, lost) == ("48000", "0", "0")
    ((start, end),) = bursts(recorded[0])
    assert end - start == pytest.approx(2.0, abs=0.03)
    for step in range(10):
        middle = recorded[0][round((start + 0.2 * step + 0.05) * 48000) :][: round(0.1 * 48000)]
        assert pitch_hz(middle) == pytest.approx(500 + 200 * step, abs=4.0)


# CASES A05
def test_stream_stays_open_between_utterances(pulse: PulseAudio) -> None:
    n_opened, *positions = pulse.run("""
with DeviceSink() as sink:
    for _ in range(3):
        write(sink, tone(700, 0.3))
        sink.drain()
    print(sink.stats.n_opened, sink.played_samples)
""")
    assert (n_opened, positions) == ("1", ["21600"])


def test_abort_silences_within_100_ms_and_playing_goes_on(pulse: PulseAudio) -> None:
    with pulse.recording() as recorded:
        took_s, returned_s, position, after = pulse.run("""
sink = DeviceSink()
sink.open()
chunk = AudioChunk(tone(500, 20.0), RATE_HZ, 0, 0, True)
writer = threading.Thread(target=sink.write, args=(chunk,))
writer.start()
time.sleep(1.0)
begun_s = time.monotonic()
sink.abort()
took_s = time.monotonic() - begun_s
writer.join()
returned_s = time.monotonic() - begun_s
position = sink.played_samples
time.sleep(0.5)
write(sink, tone(1500, 0.5))
sink.drain()
print(took_s, returned_s, position, sink.played_samples)
sink.close()
""")
    assert max(float(took_s), float(returned_s)) < 0.1
    assert int(after) - int(position) == 12000
    (first, second) = bursts(recorded[0], gap_s=0.2)
    heard = (first[1] - first[0]) * 24000
    # The monitor starts and ends a little ragged; a loaded machine makes it worse.
    assert int(position) == pytest.approx(heard, abs=0.2 * 24000)
    assert second[1] - second[0] == pytest.approx(0.5, abs=0.03)
    assert pitch_hz(recorded[0][round(second[0] * 48000) :][:20000]) == pytest.approx(1500, abs=2)


# CASES A09
def test_a_storm_of_aborts_and_reopens_does_not_hang(pulse: PulseAudio) -> None:
    assert pulse.run("""
sink = DeviceSink()
for round_number in range(100):
    write(sink, tone(500, 0.05))
    sink.abort()
    if round_number % 20 == 0:
        sink.reopen()
sink.close()
sink.close()
print(sink.stats.n_lost)
""") == ["0"]


# CASES A06
def test_late_synthesis_is_counted(pulse: PulseAudio) -> None:
    with pulse.recording():  # a null sink keeps time only while somebody listens
        (starved,) = pulse.run("""
with DeviceSink() as sink:
    for _ in range(3):
        write(sink, tone(500, 0.2))
        time.sleep(0.5)
    sink.drain()
    print(sink.stats.n_starved)
""")
    assert starved == "3"


# CASES A06
def test_a_busy_processor_makes_no_hole(pulse: PulseAudio) -> None:
    """As much work beside it as the machine has processors, and a synthesis that keeps the lock."""
    load = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(len(os.sched_getaffinity(0)))
    ]
    try:
        with pulse.recording():
            starved, device_underruns, lost = pulse.run("""
stop = threading.Event()
def compute():
    while not stop.is_set():
        sum(range(10000))
threading.Thread(target=compute, daemon=True).start()
with DeviceSink() as sink:
    write(sink, tone(500, 4.0))
    sink.drain()
    print(sink.stats.n_starved, sink.stats.n_device_underruns, sink.stats.n_lost)
stop.set()
""")
    finally:
        for process in load:
            process.kill()
            process.wait()
    assert (starved, device_underruns, lost) == ("0", "0", "0")


# CASES A08
def test_a_device_that_comes_back_under_another_number_is_found_by_its_name(
    alsa_file: AlsaFile,
) -> None:
    named = 'pcm.{0} {{ type plug slave.pcm "wavout" hint {{ show on description "{0}" }} }}\n'
    config = alsa_file.folder / "home" / ".asoundrc"
    before = config.read_text()
    config.write_text(before + named.format("voice"))
    process = alsa_file.start("""
sink = DeviceSink("voice")
for _ in range(2):
    sink.reopen()
    write(sink, tone(500, 0.2))
    sink.drain()
    print(sink.device.name, sink.device.index, flush=True)
    sink.close()
    sys.stdin.readline()
""")
    assert process.stdin is not None
    assert process.stdout is not None
    name, first = process.stdout.readline().split()
    config.write_text(named.format("alarm") + named.format("bell") + before + named.format("voice"))
    process.stdin.write("\n")
    process.stdin.flush()
    same_name, second = process.stdout.readline().split()
    assert process.communicate("\n", timeout=30)[1] == ""
    assert name == same_name == "voice"
    assert first != second


def test_back_pressure_bounds_what_is_queued(pulse: PulseAudio) -> None:
    (queued_s,) = pulse.run("""
sink = DeviceSink(buffer_s=0.5)
write(sink, tone(500, 1.5))
print(sink.queued_s)
sink.close()
""")
    assert 0.2 < float(queued_s) <= 0.5


# CASES A08
def test_sink_unloaded_and_back_continues_at_the_exact_sample(pulse: PulseAudio) -> None:
    process = pulse.start("""
sink = DeviceSink()
sound = tone(500, 3.0)
print("playing", flush=True)
print(code_of(lambda: (write(sink, sound), sink.drain())), flush=True)
position = sink.played_samples
print(code_of(sink.open), code_of(sink.drain), sink.played_samples == position, flush=True)
sys.stdin.readline()
sink.reopen()
write(sink, sound[position:])
sink.drain()
print(position, sink.played_samples, sink.stats.n_lost)
sink.close()
""")
    assert process.stdout is not None
    with pulse.recording() as recorded:
        process.stdout.readline()
        time.sleep(1.2)
        pulse.stop_server()
    assert process.stdout.readline().split() == ["audio.device_lost"]
    assert process.stdout.readline().split() == ["audio.device_lost", "audio.device_lost", "True"]
    pulse.start_server()
    output, _ = process.communicate("\n", timeout=30)
    position, played, lost = (int(word) for word in output.split())
    heard = float(np.diff(bursts(recorded[0])[0])[0]) * 24000
    assert 0.3 * 24000 < position <= heard
    assert (played, lost) == (72000, 1)


@pytest.mark.parametrize("fault", ["rate48", "stereo"])
def test_device_that_takes_one_format_only(faulty: PulseAudio, fault: str) -> None:
    set_fault(faulty, fault)
    with faulty.recording() as recorded:
        rate_hz, played = faulty.run("""
with DeviceSink(lead_in_s=0.2) as sink:
    write(sink, tone(1000, 1.0))
    sink.drain()
    print(sink.device_rate_hz, sink.played_samples)
""")
    assert (rate_hz, played) == ("48000" if fault == "rate48" else "24000", "24000")
    ((start, end),) = bursts(recorded[0])
    assert end - start == pytest.approx(1.0, abs=0.03)
    assert pitch_hz(recorded[0]) == pytest.approx(1000, abs=1)


def test_busy_device_is_named_and_can_be_tried_again(faulty: PulseAudio) -> None:
    process = faulty.start("""
list_devices()
sink = DeviceSink()
sys.stdin.readline()
print(code_of(sink.open), flush=True)
sys.stdin.readline()
sink.open()
print(sink.is_open)
sink.close()
""")
    assert process.stdin is not None
    assert process.stdout is not None
    set_fault(faulty, "busy")
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline().strip() in ("audio.device_busy", "audio.no_device")
    set_fault(faulty, "")
    assert process.communicate("\n", timeout=30) == ("True\n", "")


def test_unplugged_device_is_noticed_while_playing(faulty: PulseAudio) -> None:
    process = faulty.start("""
sink = DeviceSink()
write(sink, tone(500, 1.0))
print("playing", flush=True)
begun_s = time.monotonic()
print(code_of(lambda: (write(sink, tone(500, 20.0)), sink.drain())), sink.is_open)
sink.close()
""")
    assert process.stdout is not None
    process.stdout.readline()
    set_fault(faulty, "unplug")
    assert process.communicate(timeout=15)[0].split() == ["audio.device_lost", "False"]


def test_no_device(tmp_path) -> None:  # type: ignore[no-untyped-def]
    nothing = SoundSystem(tmp_path / "none", "pcm.!default { type pulse }\n")
    nothing.env["PULSE_SERVER"] = f"unix:{tmp_path}/no.sock"
    assert nothing.run("print(len(list_devices()), code_of(DeviceSink().open))") == [
        "0",
        "audio.no_device",
    ]


def test_unknown_device_names_the_nearest(alsa_file: AlsaFile) -> None:
    message = " ".join(
        alsa_file.run("""
try:
    DeviceSink("defualt").open()
except AudioError as error:
    print(error.code, error)
""")
    )
    assert message.startswith("audio.unknown_device")
    assert "'default'" in message


@pytest.mark.parametrize("rate_hz", [16000, 22050, 24000, 44100, 48000])
# CASES A03
def test_every_sample_reaches_the_device(alsa_file: AlsaFile, rate_hz: int) -> None:
    """ALSA's file device is not paced, so this compares content, not time."""
    (played,) = alsa_file.run(f"""
rate_hz = {rate_hz}
with DeviceSink(sample_rate_hz=rate_hz, buffer_s=3.0) as sink:
    sink.write(AudioChunk(tone(440, 1.5, rate_hz), rate_hz, 0, 0, True))
    sink.drain()
    print(sink.played_samples)
""")
    assert int(played) == round(1.5 * rate_hz)
    frames = alsa_file.sound()
    assert len(frames) == pytest.approx(1.5 * 48000, abs=200)  # ALSA's own converter rings
    assert np.array_equal(frames[:, 0], frames[:, 1])
    if rate_hz == 48000:
        sound = 0.5 * np.sin(2 * np.pi * 440 * np.arange(72000) / 48000)
        assert np.array_equal(frames[:, 0], to_pcm16(sound)[1 : 1 + len(frames)])


def test_new_rate_needs_a_drain_and_starts_a_new_count(alsa_file: AlsaFile) -> None:
    assert alsa_file.run("""
sink = DeviceSink()
write(sink, tone(440, 0.5))
sink.drain()
write(sink, tone(440, 0.5, 22050), 22050)
sink.drain()
print(sink.played_samples)
sink.close()
""") == ["11025"]


def test_missing_portaudio_names_the_package(alsa_file: AlsaFile) -> None:
    message = " ".join(
        alsa_file.run("""
import builtins
real_import = builtins.__import__
def no_sounddevice(name, *args):
    if name == "sounddevice":
        raise OSError("PortAudio library not found")
    return real_import(name, *args)
builtins.__import__ = no_sounddevice
try:
    DeviceSink().open()
except AudioError as error:
    print(error.code, error)
""")
    )
    assert message.startswith("audio.no_portaudio")
    assert "libportaudio2" in message
