"""FLAC and Opus files: what was written comes back, also from a stream; never half a file."""

from __future__ import annotations

import builtins
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.encoded import EncodedSink, Encoder, Encoding
from edge_tts.audio.wav import to_pcm16
from edge_tts.errors import AudioError

soundfile = pytest.importorskip("soundfile")


def tone(n_samples: int, rate_hz: int = 24000) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * 440 * np.arange(n_samples) / rate_hz)).astype(np.float32)


def chunk(samples: np.ndarray, rate_hz: int = 24000) -> AudioChunk:
    return AudioChunk(samples, rate_hz, 0, 0, True)


def test_flac_holds_the_same_samples_as_wav_and_states_its_length(tmp_path: Path) -> None:
    sound = tone(50_000)
    with EncodedSink(tmp_path / "out.flac", 24000, Encoding.FLAC) as sink:
        for part in np.array_split(sound, 7):
            sink.write(chunk(part))
    read, rate_hz = soundfile.read(str(tmp_path / "out.flac"), dtype="int16")
    assert rate_hz == 24000
    assert np.array_equal(read, to_pcm16(sound))
    assert soundfile.info(str(tmp_path / "out.flac")).frames == len(sound)
    assert [path.name for path in tmp_path.iterdir()] == ["out.flac"]


@pytest.mark.parametrize("rate_hz", [22050, 24000])
def test_opus_keeps_the_sound_and_its_length(tmp_path: Path, rate_hz: int) -> None:
    sound = tone(2 * rate_hz, rate_hz)
    with EncodedSink(tmp_path / "out.opus", rate_hz, Encoding.OPUS) as sink:
        for part in np.array_split(sound, 9):
            sink.write(chunk(part, rate_hz))
    read, read_rate_hz = soundfile.read(str(tmp_path / "out.opus"))
    assert len(read) / read_rate_hz == pytest.approx(2.0, abs=0.01)
    spectrum = np.abs(np.fft.rfft(read))
    assert np.argmax(spectrum) * read_rate_hz / len(read) == pytest.approx(440, abs=1)
    assert np.sqrt(np.mean(read**2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.05)


@pytest.mark.parametrize("encoding", list(Encoding))
def test_a_stream_that_nobody_can_wind_back_is_complete(encoding: Encoding) -> None:
    encoder = Encoder(encoding, 24000)
    parts = [encoder.encode(part) for part in np.array_split(tone(100_000), 50)]
    parts.append(encoder.finish())
    assert sum(1 for part in parts if part) > 3, "bytes must come while sound is written"
    stream = b"".join(parts)
    if encoding is Encoding.FLAC:
        # STREAMINFO of a stream: "0 means the number of samples is unknown" (RFC 9639, 8.2).
        assert int.from_bytes(stream[21:26], "big") & 0xF_FFFF_FFFF == 0
    whole = encoder.head + stream[len(encoder.head) :]
    read, _ = soundfile.read(io.BytesIO(whole))
    assert abs(len(read) - 100_000) < 10


def test_an_exception_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), EncodedSink(
        tmp_path / "out.flac", 24000, Encoding.FLAC
    ) as sink:
        sink.write(chunk(tone(9000)))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_another_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AudioError) as refused, EncodedSink(
        tmp_path / "out.flac", 24000, Encoding.FLAC
    ) as sink:
        sink.write(chunk(tone(9000), 16000))
    assert refused.value.code == "audio.rate_unsupported"


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def importing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "soundfile":
            raise ImportError("No module named 'soundfile'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(AudioError) as missing:
        Encoder(Encoding.FLAC, 24000)
    assert missing.value.code == "audio.encoder_missing"
    assert "[encode]" in str(missing.value)
