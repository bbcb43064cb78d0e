"""A service with a lite voice keeps house: no files left, quiet logs, a cache that is counted."""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from running import pcm, running, until_finished

pytest.importorskip("sentencepiece")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "voices"))

from lite_voices import unpack

from edge_tts import Speaker
from edge_tts.audio.wav import to_pcm16

NAME = "lite_delay"
TEXT = "出门向左, then go on."


@pytest.fixture(autouse=True)
def store(tmp_path_factory, monkeypatch):
    root = unpack(tmp_path_factory.mktemp("voices"))
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(root))
    return root


@pytest.fixture
def scratch(tmp_path_factory, monkeypatch):
    """Where temporary files of this process and its children would go."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def on_voice():
    return {
        "source": "edge_tts.service.voice_source:open_voice",
        "options": ["--", "--voice", NAME, "--threads", "1"],
    }


def spoken(client, text=TEXT):
    return list(client.speak(text))[-1].data["reason"]


def test_it_is_spoken_as_in_this_process(tmp_path):
    with Speaker(NAME, n_threads=1) as speaker:
        wanted = to_pcm16(speaker.synthesize(TEXT).samples)
    with running(tmp_path, **on_voice()) as front, front.client() as client:
        front.wait_ready()
        assert spoken(client) == "done"
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), wanted)


def test_the_status_tells_how_often_a_phrase_came_from_the_cache(tmp_path):
    with running(tmp_path, **on_voice()) as front, front.client() as client:
        front.wait_ready()
        for _ in range(4):
            assert spoken(client) == "done"
        prompts = client.status()["prompts"]
    assert prompts["starts"] == {"voice": 2, "cache": 2}
    assert prompts["cache_hit_rate"] == 0.5
    assert prompts["cache_bytes"] > 0


def test_no_temporary_sound_is_left_whatever_happens(tmp_path, scratch, store):
    installed = sorted(store.rglob("*"))
    with running(tmp_path, **on_voice()) as front, front.client() as client:
        front.wait_ready()
        assert spoken(client) == "done"
        client.send("edge-speak", text=3 * TEXT)
        front.call(front.front.supervisor.kill)
        front.wait_ready()
        until_finished(client)
        client.send("edge-speak", text=TEXT + " left.")
    assert list(scratch.rglob("*")) == []
    assert sorted(store.rglob("*")) == installed
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".part", ".wav", ".npy")]


def test_the_log_does_not_grow_with_what_is_spoken(tmp_path, caplog, capfd):
    caplog.set_level(logging.INFO)
    with running(tmp_path, **on_voice()) as front, front.client() as client:
        front.wait_ready()
        assert spoken(client) == "done"
        n_records, _ = len(caplog.records), capfd.readouterr()
        for number in range(6):
            assert spoken(client, f"{TEXT} {'left. ' * number}") == "done"
        assert len(caplog.records) == n_records
        assert capfd.readouterr() == ("", "")
