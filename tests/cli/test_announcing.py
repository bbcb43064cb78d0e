"""`edge-tts speak` next to a running service: a real one, with the real voice, into a file."""

import argparse
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.running_service import RunningService
from edge_tts.cli import announcing, speak
from edge_tts.config import Config
from edge_tts.errors import InputError


def arguments(*flags: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    speak.add_parser(parser.add_subparsers())
    return parser.parse_args(["speak", "Hello.", *flags])


@pytest.mark.parametrize(
    "flags", [["-o", "x.wav"], ["--raw"], ["--device", "usb"], ["--no-service"]]
)
def test_the_service_is_left_alone_when_the_sound_goes_elsewhere(flags) -> None:
    assert announcing.is_wanted(arguments())
    assert not announcing.is_wanted(arguments(*flags))


def test_without_a_service_the_text_stays_whole(tmp_path: Path, monkeypatch, caplog) -> None:
    caplog.set_level(logging.INFO)  # as with -v
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("edge_tts.service.sockets.SYSTEM_SOCKET", tmp_path / "none.sock")
    pieces = iter(["one ", "two"])
    assert announcing.announce(pieces, arguments(), Config()) is None
    assert "".join(pieces) == "one two"
    assert "speaking in this process" in caplog.text


def test_a_long_text_goes_in_parts_that_end_with_sentences() -> None:
    sentence = "This is a sentence of a very long text. "
    text = sentence * 1500
    for given in (text, iter([text])):
        sent = list(announcing.parts(given))
        assert "".join(sent) == text
        assert len(sent) > 3
        assert all(len(part) % len(sentence) == 0 for part in sent)


def test_a_text_without_sentences_is_cut_at_the_limit_and_a_short_one_not_at_all() -> None:
    sent = list(announcing.parts(iter(["字" * 50_000])))
    assert "".join(sent) == "字" * 50_000
    assert max(map(len, sent)) <= announcing.LONGEST_TEXT
    assert list(announcing.parts("One. Two.")) == ["One. Two."]
    assert list(announcing.parts(iter(["One. ", "Two."]))) == ["One. Two."]


def test_a_growing_text_is_sent_as_its_sentences_end() -> None:
    read = []

    def pieces():
        for piece in ("The first sentence is here. The sec", "ond one costs 3.", "50 euros. Bye"):
            read.append(piece)
            yield piece
            yield ""  # the writer pauses

    sent = announcing.parts(pieces())
    assert next(sent) == "The first sentence is here. "
    assert len(read) == 1
    assert list(sent) == ["The second one costs 3.50 euros. ", "Bye"]


def test_a_text_that_comes_at_once_is_one_utterance_with_or_without_a_last_line_end() -> None:
    text = "The first sentence is here. The second one follows. And the third."
    for ending in ("", "\n"):
        reader, writer = os.pipe()
        os.write(writer, (text + ending).encode())
        os.close(writer)
        assert list(announcing.parts(speak._decoded(reader))) == [text + ending]
        os.close(reader)


def test_a_writer_that_pauses_has_its_sentences_spoken_meanwhile() -> None:
    reader, writer = os.pipe()
    os.write(writer, "The first sentence is here. The 第".encode()[:-1])  # in mid-character
    sent = announcing.parts(speak._decoded(reader))
    assert next(sent) == "The first sentence is here. "
    os.write(writer, "第".encode()[-1:] + b"2 one follows.")
    os.close(writer)
    assert list(sent) == ["The 第2 one follows."]
    os.close(reader)


def test_nobody_waits_for_a_text_in_parts() -> None:
    with pytest.raises(InputError) as caught:
        announcing._whole(iter(["a" * 15_000, "b" * 15_000]))
    assert caught.value.code == "input.text_too_long"


@pytest.mark.voice
def test_speak_uses_the_service_and_says_how_it_ended(tmp_path: Path) -> None:
    out = tmp_path / "heard.pcm"
    with RunningService(tmp_path, output_file=out) as service:
        config = str(tmp_path / "config.yaml")
        command = [sys.executable, "-m", "edge_tts", "speak", "--config", config]
        spoken = subprocess.run(
            [*command, "Welcome.", "--priority", "navigation"], check=False, timeout=120
        )
        assert spoken.returncode == 0
        empty = subprocess.run([*command, "……"], check=False, timeout=120, capture_output=True)
        assert empty.returncode == 0
        assert b"nothing to speak" in empty.stderr
        lost = subprocess.run(
            [*command, "-"],
            check=False,
            timeout=120,
            capture_output=True,
            input="The first sentence is said. Hello שלום, you.".encode(),
        )
        assert lost.returncode == 0
        assert b"not spoken: 4 of script:Hebrew" in lost.stderr
        queued = subprocess.run([*command, "Later.", "--no-wait"], check=False, timeout=120)
        assert queued.returncode == 0
        with service.client() as client:
            assert client.status()["worker"]["state"] == "ready"
    # The file appears when the service has ended.
    assert out.stat().st_size > 10_000


@pytest.mark.parametrize("ttl", ["-1", "nan", "inf", "soon", "86401"])
def test_a_ttl_that_no_service_takes_is_a_usage_error(ttl: str, capsys) -> None:
    from edge_tts.cli.main import main

    assert main(["speak", "Hello.", f"--ttl={ttl}"]) == 2
    assert "from 0 to 86400" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["-o", "--fallback-file"])
def test_an_empty_file_name_is_a_usage_error(flag: str, capsys) -> None:
    from edge_tts.cli.main import main

    assert main(["speak", "Hello.", flag, ""]) == 2
    assert "the file name is empty" in capsys.readouterr().err


@pytest.mark.voice
def test_marks_are_told_when_they_are_heard_and_piped_text_is_one_utterance(tmp_path: Path) -> None:
    document = (
        '<speak>Leaving now. <mark name="left"/>Turn left. <mark name="a"/><mark name="b"/>'
        "Then go straight on.</speak>"
    )
    with RunningService(tmp_path, output_file=tmp_path / "heard.pcm") as service:
        with service.client() as client:
            frames = list(client.speak(document, ssml=True))
            n_before = client.status()["counts"]["accepted"]
        config = str(tmp_path / "config.yaml")
        spoken = subprocess.run(
            [sys.executable, "-m", "edge_tts", "speak", "--config", config],
            check=False,
            timeout=120,
            input=b"The first sentence is here. The second one follows.",
        )
        with service.client() as client:
            n_accepted = client.status()["counts"]["accepted"] - n_before
    marks = [frame.data for frame in frames if frame.type == "edge-mark"]
    told = [(document[mark["start"] : mark["end"]], mark.get("names", [])) for mark in marks]
    names = [name for _, found in told for name in found]
    assert names == ["left", "a", "b"]
    (turn,) = [text for text, found in told if "left" in found]
    assert "Turn left." in turn
    assert "Leaving" not in turn
    assert (spoken.returncode, n_accepted) == (0, 1)
