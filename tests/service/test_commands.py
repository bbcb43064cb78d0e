"""The commands that talk to a running service, against one."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any, List

import pytest
from running import PacedOutput, running, until_finished

from edge_tts.errors import ServiceError
from edge_tts.service.status import prometheus

TEXT = "One. Two two. Three three three."


def invoke(folder: Path, *arguments: str) -> int:
    """Run a command as `edge-tts` does, configured for the service in `folder`."""
    config = folder / "config.yaml"
    config.write_text(f"service:\n  socket: {folder / 's.sock'}\n")
    config.chmod(0o600)
    module = import_module(f"edge_tts.cli.{arguments[0]}")
    parser = argparse.ArgumentParser()
    module.add_parser(parser.add_subparsers())
    args = parser.parse_args(list(arguments))
    args.config = str(config)
    result: int = module.run(args)
    return result


def test_status_for_people_programs_and_monitors(tmp_path: Path, capsys: Any) -> None:
    with running(tmp_path) as front, front.client() as client:
        list(client.speak(TEXT))
        assert invoke(tmp_path, "status") == 0
        people = capsys.readouterr().out
        invoke(tmp_path, "status", "--json")
        program = json.loads(capsys.readouterr().out)
        invoke(tmp_path, "status", "--prometheus")
        monitor = capsys.readouterr().out
    assert "voice     tone 1" in people
    assert "finished  1 done" in people
    assert "phrases   0 cached (0.0 MiB), hit rate 0 %" in people
    assert program["prompts"]["cache_hit_rate"] == 0.0
    assert program["counts"]["finished"] == {"done": 1}
    assert program["first_sound"]["voice"]["n"] == 1
    samples = dict(line.rsplit(" ", 1) for line in monitor.splitlines() if line[0] != "#")
    assert samples['edge_tts_finished_total{reason="done"}'] == "1"
    assert samples['edge_tts_first_sound_seconds_bucket{source="voice",le="+Inf"}'] == "1"
    assert TEXT not in people + monitor + json.dumps(program)


def test_the_hit_rate_is_the_share_of_starts_from_the_cache(tmp_path: Path, capsys: Any) -> None:
    with running(tmp_path) as front, front.client() as client:
        front.wait_ready()
        for _ in range(4):
            list(client.speak(TEXT))
        invoke(tmp_path, "status")
        people = capsys.readouterr().out
        invoke(tmp_path, "status", "--prometheus")
        monitor = capsys.readouterr().out
        status = client.status()["prompts"]
    assert (status["starts"], status["cache_hit_rate"]) == ({"voice": 2, "cache": 2}, 0.5)
    assert "hit rate 50 %" in people
    assert "edge_tts_phrase_cache_hit_ratio 0.5\n" in monitor
    assert 'edge_tts_starts_total{source="cache"} 2\n' in monitor


def test_buckets_never_fall(tmp_path: Path, capsys: Any) -> None:
    with running(tmp_path) as front, front.client() as client:
        for number in range(3):
            list(client.speak(f"Number {number}."))
        invoke(tmp_path, "status", "--prometheus")
    counts: List[float] = [
        float(line.rsplit(" ", 1)[1])
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("edge_tts_first_sound_seconds_bucket")
    ]
    assert counts == sorted(counts)
    assert counts[-1] == 3


def test_pause_resume_and_stop(tmp_path: Path, capsys: Any) -> None:
    output = PacedOutput(tmp_path / "out.pcm")
    with running(tmp_path, output) as front, front.client() as client:
        client.ask("edge-speak", "edge-accepted", text=TEXT, id="a", key="k")
        client.ask("edge-speak", "edge-accepted", text=TEXT, id="b")
        invoke(tmp_path, "pause")
        assert client.status()["queue"]["paused"]
        invoke(tmp_path, "resume")
        assert not client.status()["queue"]["paused"]
        invoke(tmp_path, "stop", "--key", "k")
        ended = until_finished(client)[-1].data
        assert (ended["id"], ended["reason"]) == ("a", "stopped")
        invoke(tmp_path, "stop")
        assert until_finished(client, "b")[-1].data["reason"] == "stopped"
    assert capsys.readouterr().out == "1 stopped\n1 stopped\n"


@pytest.mark.parametrize("name", ["status", "stop", "pause", "resume"])
def test_without_a_service_the_error_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(ServiceError) as caught:
        invoke(tmp_path, name)
    assert (caught.value.code, caught.value.exit_code) == ("service.not_running", 7)


def test_a_monitor_gets_every_digit_of_a_counter(tmp_path: Path) -> None:
    with running(tmp_path) as front, front.client() as client:
        status = client.status()
    status["counts"]["accepted"] = 123_456_789
    status["counts"]["spoken_s"] = 1234567.891
    lines = prometheus(status).splitlines()
    assert "edge_tts_accepted_total 123456789" in lines
    assert "edge_tts_spoken_seconds_total 1234567.891" in lines
