"""The whole front process with a real worker process, real sockets and a file as its sink."""

from __future__ import annotations

import socket
import stat
import time
from pathlib import Path
from typing import Any, List

import numpy as np
import pytest
from running import PacedOutput, expected, pcm, running, until_finished

from edge_tts.errors import BudgetError, EdgeTTSError, ServiceError
from edge_tts.service.budget import Ladder
from edge_tts.service.client import Client, Ending
from edge_tts.service.codec import Frame
from edge_tts.service.connection import ConnectionLimits

TEXT = "One. Two two. Three three three."
SENTENCES = ("One.", " Two two.", " Three three three.")


def kinds(frames: List[Frame]) -> List[str]:
    return [frame.type for frame in frames]


def test_speech_is_announced_marked_finished_and_written_to_the_sample(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        frames = list(client.speak(TEXT, id="a"))
    assert kinds(frames) == [
        "edge-accepted",
        "edge-started",
        "edge-mark",
        "edge-mark",
        "edge-mark",
        "edge-finished",
    ]
    spans = [(f.data["start"], f.data["end"]) for f in frames if f.type == "edge-mark"]
    assert [TEXT[start:end] for start, end in spans] == list(SENTENCES)
    assert frames[-1].data["reason"] == "done"
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), expected(*SENTENCES))


def test_a_text_without_words_finishes_as_empty(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        frames = list(client.speak("   "))
    assert frames[-1].data["reason"] == "empty"


def test_what_is_not_spoken_is_told_each_time_from_voice_and_cache(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        front.wait_ready()
        for source in ("voice", "voice", "cache"):
            frames = list(client.speak("One. ☃☃ Two."))
            assert frames[1].data["source"] == source
            assert frames[-1].data["unspoken"] == ["2 of symbol (☃☃)"]
        assert client.announce("☃") == Ending("empty", ("1 of symbol (☃)",))
        assert "unspoken" not in list(client.speak("One."))[-1].data


def test_the_next_utterance_is_rendered_while_one_is_heard(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm")
    with running(tmp_path, output) as front, front.client() as client:
        front.wait_ready()
        announcer = front.front.announcer
        for uid, text in (("a", SENTENCES[2] * 2), ("b", "One."), ("c", SENTENCES[1])):
            client.ask("edge-speak", "edge-accepted", text=text, id=uid)
        while not front.call(lambda: announcer._speeches["b"].is_whole):
            time.sleep(0.02)
        assert front.call(lambda: announcer.scheduler.on_air.uid) == "a"
        assert not front.call(lambda: announcer._speeches["c"].has_sound)
        assert until_finished(client, "c")[-1].data["reason"] == "done"
    heard = expected(SENTENCES[2], SENTENCES[2], "One.", SENTENCES[1])
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), heard)


def test_what_is_rendered_ahead_yields_to_an_alert_and_loses_nothing(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm")
    with running(tmp_path, output) as front, front.client() as client:
        front.wait_ready()
        announcer = front.front.announcer
        client.ask("edge-speak", "edge-accepted", text=SENTENCES[2], id="a", priority="navigation")
        client.ask("edge-speak", "edge-accepted", text=TEXT, id="b")
        while not front.call(lambda: announcer._speeches["b"].has_sound):
            time.sleep(0.02)
        client.ask("edge-speak", "edge-accepted", text="Alert.", id="c", priority="alert")
        assert until_finished(client, "b")[-1].data["reason"] == "done"
    sound = pcm(tmp_path / "out.pcm")
    whole = expected("Alert.", SENTENCES[2], *SENTENCES)  # what was cut starts again
    np.testing.assert_array_equal(sound[-len(whole) :], whole)


def test_the_workers_input_error_ends_the_utterance_with_its_code(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        last = list(client.speak("Hi.", language="xx"))[-1]
    assert (last.data["reason"], last.data["code"]) == ("failed", "input.unknown_language")


def test_killing_the_worker_again_and_again_loses_and_repeats_nothing(tmp_path: Path) -> None:
    sentences = [f"Sentence number {number} of ten." for number in range(10)]
    with running(tmp_path, options=["0.03"]) as front, front.client() as client:
        client.send("edge-speak", text="".join(sentences))
        for number in range(5):
            front.wait_ready()
            time.sleep(0.05 + 0.07 * number)
            front.call(front.front.supervisor.kill)
            time.sleep(0.05)
        frames = until_finished(client)
        n_restarts = client.status()["worker"]["restarts"]
    assert frames[-1].data["reason"] == "done"
    assert n_restarts >= 3
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), expected(*sentences))


# CASES S05
def test_a_text_that_kills_every_worker_is_given_up_and_the_next_is_spoken(tmp_path: Path) -> None:
    with running(tmp_path, n_attempts=3) as front, front.client() as client:
        last = list(client.speak("CRASH."))[-1]
        assert (last.data["reason"], last.data["code"]) == ("failed", "service.worker_lost")
        time.sleep(0.3)
        assert list(client.speak("One."))[-1].data["reason"] == "done"
        assert client.status()["counts"]["fallback_tones"] == 1


# CASES A14
def test_a_broken_voice_leaves_a_tone_and_says_so(tmp_path: Path) -> None:
    source = "tone_source:open_never"
    with running(tmp_path, source=source) as front, front.client() as client:
        frames = list(client.speak("One."))
        status = client.status()
    assert frames[1].data["source"] == "tone"
    assert frames[-1].data["reason"] == "failed"
    assert status["worker"]["state"] == "degraded"
    assert "broken" in status["worker"]["fault"]
    assert np.abs(pcm(tmp_path / "out.pcm")).max() > 1000


# CASES A12
def test_an_alert_interrupts_and_the_message_resumes_at_its_segment(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm", speed=4.0)
    with running(tmp_path, output) as front, front.client() as client:
        client.send("edge-speak", text=TEXT, id="message")
        while client.receive().data.get("segment") != 1:
            pass
        client.send("edge-speak", text="Alert.", id="alert", priority="alert")
        frames = until_finished(client, "message")
    order = [(f.data["id"], f.data["reason"]) for f in frames if f.type == "edge-finished"]
    assert order == [("alert", "done"), ("message", "done")]
    marks = [f.data["segment"] for f in frames if f.type == "edge-mark"]
    assert marks == [0, 1, 2]  # the alert's only one, then the message's from where it was cut


# CASES C06
def test_stop_is_answered_at_once_while_the_worker_computes(tmp_path: Path) -> None:
    with running(tmp_path, options=["0.2"]) as front, front.client() as client:
        list(client.speak("Warm."))
        client.send("edge-speak", text="A" * 400, id="long")
        time.sleep(0.3)
        with front.client() as other:
            began_s = time.monotonic()
            stopped = other.ask("edge-stop", "edge-stopped", id="long")
            took_s = time.monotonic() - began_s
        assert stopped.data["utterances"] == 1
        assert until_finished(client)[-1].data["reason"] == "stopped"
        assert took_s < 0.2


def test_pause_and_resume_continue_at_the_sample(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm", speed=2.0)
    with running(tmp_path, output) as front, front.client() as client:
        client.send("edge-speak", text=TEXT)
        while client.receive().type != "edge-started":
            pass
        client.ask("edge-pause", "edge-paused")
        time.sleep(0.2)
        n_before = sum(map(len, output.heard))
        time.sleep(0.3)
        assert sum(map(len, output.heard)) == n_before
        assert client.status()["queue"]["paused"]
        client.send("edge-resume")
        assert until_finished(client)[-1].data["reason"] == "done"
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), expected(*SENTENCES))


# CASES C06
def test_a_vanished_client_ends_its_own_work_and_nothing_else(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm", speed=2.0)
    with running(tmp_path, output) as front, front.client() as watcher:
        watcher.ask("edge-subscribe", "edge-subscribed")
        with front.client() as client:
            client.ask("edge-speak", "edge-accepted", text=TEXT, id="mine")
            client.ask("edge-speak", "edge-accepted", text="Kept.", id="kept", detached=True)
            watcher.ask("edge-speak", "edge-accepted", text="Other.", id="other")
        frames = until_finished(watcher, "other")
    ends = {f.data["id"]: f.data["reason"] for f in frames if f.type == "edge-finished"}
    assert ends == {"mine": "disconnected", "kept": "done", "other": "done"}


def test_sessions_close_with_their_work(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm", speed=2.0)
    with running(tmp_path, output) as front, front.client() as client:
        with pytest.raises(ServiceError) as caught:
            client.ask("edge-speak", "edge-accepted", text="x", session="nav")
        assert caught.value.code == "service.unknown_session"
        client.ask("edge-session-open", "edge-session", session="nav")
        client.ask("edge-speak", "edge-accepted", text=TEXT, session="nav")
        client.send("edge-session-close", session="nav")
        assert until_finished(client)[-1].data["reason"] == "closed"
        usage = [session["session"] for session in client.status()["sessions"]]
        assert "nav" not in usage


def test_a_refused_client_learns_why_even_if_it_speaks_too_late(tmp_path: Path) -> None:
    limits = ConnectionLimits(n_connections=1)
    limited = running(tmp_path, connections=limits)
    with limited as front, front.client(), front.client() as refused:
        time.sleep(0.3)  # the service has answered and closed
        with pytest.raises(ServiceError) as caught:
            refused.send("ping")
    assert caught.value.code == "service.too_many_connections"


def test_every_limit_is_a_typed_error(tmp_path: Path) -> None:
    limits = ConnectionLimits(n_connections=2, n_requests=2, idle_s=0.4)
    output = PacedOutput(tmp_path / "out.pcm", speed=1.0)
    running_front = running(tmp_path, output, connections=limits)
    with running_front as front, front.client() as client, front.client() as idle:
        for name in "ab":
            client.ask("edge-speak", "edge-accepted", text=TEXT, id=name)
        with front.client() as third:
            third_code = refusal(third, "ping")
        codes = [
            refusal(client, "edge-speak", text="c", id="c"),
            refusal(client, "edge-speak", text="a" * 20_001),
            refusal(client, "edge-speak", text=3),
            refusal(idle, "describe-nothing"),
        ]
    assert third_code == "service.too_many_connections"
    assert codes == [
        "service.too_many_requests",
        "input.text_too_long",
        "service.bad_request",
        "service.idle_timeout",
    ]


def refusal(client: Client, kind: str, **fields: Any) -> str:
    with pytest.raises(EdgeTTSError) as caught:
        client.send(kind, **fields)
        while True:
            client.receive()
    return caught.value.code


def test_a_bad_frame_is_answered_before_the_connection_closes(tmp_path: Path) -> None:
    with running(tmp_path) as front, socket.socket(socket.AF_UNIX) as link:
        link.connect(str(front.path))
        link.sendall(b"GET / HTTP/1.1\r\n\r\n")
        link.settimeout(5)
        received = b""
        while True:
            data = link.recv(4096)
            if not data:
                break
            received += data
    assert b'"service.bad_frame"' in received


def test_a_repeated_phrase_comes_from_the_cache_and_sounds_the_same(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        front.wait_ready()
        sources = [list(client.speak(TEXT))[1].data["source"] for _ in range(4)]
    assert sources == ["voice", "voice", "cache", "cache"]
    sound = pcm(tmp_path / "out.pcm").reshape(4, -1)
    np.testing.assert_array_equal(sound, np.tile(expected(*SENTENCES), (4, 1)))


def test_the_socket_is_for_its_group_only_and_a_stale_one_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with running(tmp_path) as front:
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        with pytest.raises(ServiceError) as caught, running(tmp_path):
            pass
        assert caught.value.code == "service.already_running"
        with front.client() as client:
            assert list(client.speak("One."))[-1].data["reason"] == "done"


def test_work_that_is_queued_at_shutdown_is_reported(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm", speed=0.5)
    with running(tmp_path, output, drain_s=0.1) as front, front.client() as client:
        client.ask("edge-speak", "edge-accepted", text=TEXT)
        front.stop()
        assert until_finished(client)[-1].data["reason"] == "shutdown"
        assert front.exit_code == 0


def test_new_work_is_refused_while_memory_is_short(tmp_path: Path) -> None:
    # Any memory at all calls for refusal, and none for more.
    short = Ladder(refuse=0.0, stop_largest=9.0, restart=9.0, exit=9.0)
    with running(tmp_path, ladder=short) as front, front.client() as client:
        deadline_s = time.monotonic() + 10
        while front.front.announcer.refusal is None and time.monotonic() < deadline_s:
            time.sleep(0.02)
        with pytest.raises(BudgetError) as caught:
            client.ask("edge-speak", "edge-accepted", text="x")
        assert caught.value.code == "budget.busy"
        client.send("synthesize", text="x")
        with pytest.raises(BudgetError):
            client.receive()


def test_new_work_is_refused_while_the_service_drains(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm")
    with running(tmp_path, output, drain_s=60.0) as front, front.client() as client:
        client.ask("edge-speak", "edge-accepted", text=TEXT, id="last")
        front.call(front.front.request_stop)
        with pytest.raises(ServiceError) as caught:
            client.ask("edge-speak", "edge-accepted", text="x")
        assert caught.value.code == "service.stopping"
        assert until_finished(client, "last")[-1].data["reason"] == "done"


def test_a_duplicate_id_is_refused(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm")
    with running(tmp_path, output) as front, front.client() as client:
        client.ask("edge-speak", "edge-accepted", text=TEXT, id="x")
        with pytest.raises(ServiceError) as caught:
            client.ask("edge-speak", "edge-accepted", text=TEXT, id="x")
        assert caught.value.code == "service.duplicate_id"


def test_a_late_instruction_expires_behind_a_long_one(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm")
    with running(tmp_path, output) as front, front.client() as client:
        client.ask("edge-speak", "edge-accepted", text=TEXT, id="long")
        client.ask("edge-speak", "edge-accepted", text="Left.", id="late", ttl_s=0.2)
        assert until_finished(client, "late")[-1].data["reason"] == "expired"


def test_announce_waits_or_does_not_and_raises_what_went_wrong(tmp_path: Path) -> None:
    output = PacedOutput(tmp_path / "out.pcm", speed=4.0)
    with running(tmp_path, output) as front, front.client() as watcher:
        watcher.ask("edge-subscribe", "edge-subscribed")
        with front.client() as client:
            assert client.announce("One.") == Ending("done")
            assert client.announce("   ") == Ending("empty")
            with pytest.raises(EdgeTTSError) as caught:
                client.announce("One.", language="xx")
            assert (caught.value.code, caught.value.exit_code) == ("input.unknown_language", 3)
            assert client.announce(TEXT, wait=False, id="kept") == Ending("accepted")
        assert until_finished(watcher, "kept")[-1].data["reason"] == "done"


def test_a_part_that_fails_ends_the_service_instead_of_leaving_it_mute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path, drain_s=0.1) as front, front.client() as client:
        front.wait_ready()

        def broken() -> None:
            raise ZeroDivisionError("a bug in the renderer")

        monkeypatch.setattr(front.front.announcer.renderer, "_next", broken)
        client.send("edge-speak", text="One.", id="a")
        assert until_finished(client)[-1].data["reason"] == "shutdown"
    assert front.exit_code == 1
