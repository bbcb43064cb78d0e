"""The file that takes the place of a sound device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edge_tts.audio.chunk import AudioChunk
from edge_tts.errors import AudioError
from edge_tts.service.output import FileOutput


def test_a_file_that_cannot_be_made_is_said_before_there_is_sound(tmp_path: Path) -> None:
    output = FileOutput(tmp_path / "absent" / "out.pcm")
    for attempt in (output.open, output.reopen):
        with pytest.raises(AudioError, match="absent"):
            attempt()


def test_the_file_appears_with_all_samples_when_it_is_closed(tmp_path: Path) -> None:
    output = FileOutput(tmp_path / "out.pcm")
    output.open()
    assert list(tmp_path.iterdir()) == []
    output.write(AudioChunk(np.ones(10, np.float32), 24_000, 0, 0, False))
    output.reopen()
    output.write(AudioChunk(np.zeros(5, np.float32), 24_000, 0, 10, True))
    output.close()
    samples = np.frombuffer((tmp_path / "out.pcm").read_bytes(), "<i2")
    assert samples.tolist() == [32767] * 10 + [0] * 5


def test_what_a_killed_service_left_unfinished_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".out.pcm.0123abcd.part").write_bytes(b"cut")
    (tmp_path / ".other.pcm.0123abcd.part").write_bytes(b"not ours")
    output = FileOutput(tmp_path / "out.pcm")
    output.open()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.pcm.0123abcd.part"]
