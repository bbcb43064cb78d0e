"""Many share one worker: nobody gets another's sound, and nobody waits for all of another's."""

from __future__ import annotations

import time
from pathlib import Path
from typing import List

import numpy as np
from running import expected, pcm, running

from edge_tts.service.announcer import AnnouncerSettings
from edge_tts.service.client import Client


def sound_of(client: Client) -> "np.ndarray":
    """Samples of one synthesis, to its end."""
    pieces: List[bytes] = []
    while True:
        frame = client.receive()
        pieces.append(frame.payload)
        if frame.type == "audio-stop":
            return np.frombuffer(b"".join(pieces), dtype="<i2")


def test_an_id_that_is_used_again_speaks_its_new_text(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        for text in ("One. Two two.", "Three three three."):
            assert list(client.speak(text, id="turn"))[-1].data["reason"] == "done"
    heard = expected("One.", " Two two.", "Three three three.")
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), heard)


def test_a_changed_lexicon_is_heard_in_phrases_that_repeat(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.yaml"
    lexicon.write_text("en: {}")
    settings = AnnouncerSettings(lexicon=lexicon)
    with running(tmp_path, announcer=settings) as front, front.client() as client:
        front.wait_ready()
        sources = []
        for _ in range(2):
            sources += [list(client.speak("One."))[1].data["source"] for _ in range(4)]
            lexicon.write_text("en: {One: won}")
    assert sources == ["voice", "voice", "cache", "cache", "voice", "cache", "cache", "cache"]


def test_an_id_cannot_take_the_place_of_another_clients_synthesis(tmp_path: Path) -> None:
    with running(tmp_path, options=["0.02"]) as front:
        front.wait_ready()
        with front.client() as victim, front.client() as other:
            victim.send("synthesize", text="First. Second.")
            while not front.call(lambda: len(front.front.announcer.renderer)):
                time.sleep(0.01)
            (uid,) = front.call(lambda: list(front.front.announcer.renderer._jobs))
            assert list(other.speak("Other.", id=uid))[-1].data["reason"] == "done"
            np.testing.assert_array_equal(sound_of(victim), expected("First.", " Second."))


def test_a_session_with_much_to_synthesise_leaves_turns_to_one_with_little(tmp_path: Path) -> None:
    with running(tmp_path, options=["0.02"]) as front:
        front.wait_ready()
        with front.client() as much, front.client() as little:
            for _ in range(8):
                much.send("synthesize", text="A sentence. " * 20)
            much.receive()  # its turn has begun
            little.send("synthesize", text="Short. Text.")
            np.testing.assert_array_equal(sound_of(little), expected("Short.", " Text."))
            left = front.call(lambda: len(front.front.announcer.renderer))
    assert left == 8  # it did not wait for even one of the others


def test_a_client_that_vanishes_cancels_its_syntheses_and_nobody_elses(tmp_path: Path) -> None:
    with running(tmp_path, options=["0.02"]) as front:
        front.wait_ready()
        renderer = front.front.announcer.renderer
        with front.client() as stays:
            with front.client() as leaves:
                for _ in range(4):
                    leaves.send("synthesize", text="A sentence. " * 50)
                leaves.receive()
                stays.send("synthesize", text="Short. Text.")
            np.testing.assert_array_equal(sound_of(stays), expected("Short.", " Text."))
            while front.call(lambda: len(renderer)):
                time.sleep(0.02)
