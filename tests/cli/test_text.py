"""`edge-tts text`: the listing, the JSON and their agreement with the front end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edge_tts.cli.main import main

TEXT = "Turn left in 200 meters.\n请连接Bluetooth。"


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["text", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_has_stable_keys_and_agrees_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, TEXT)
    assert set(found) == {"segments", "losses"}
    for index, segment in enumerate(found["segments"]):
        assert list(segment) == [
            "index",
            "span",
            "pause_s",
            "spoken",
            "phonemes",
            "runs",
            "tokens",
        ]
        assert segment["index"] == index
        tokens = segment["tokens"]
        assert "".join(token["phonemes"] for token in tokens) == segment["phonemes"]
        assert all(set(run) == {"language", "span", "spoken"} for run in segment["runs"])
        start, end = segment["span"]
        assert all(start <= token["span"][0] <= token["span"][1] <= end for token in tokens)


def test_spans_lead_back_to_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    tokens = as_json(capsys, TEXT)["segments"][0]["tokens"]
    hundred = next(token for token in tokens if token["text"] == "hundred")
    assert TEXT[slice(*hundred["span"])] == "200"


def test_language_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runs = as_json(capsys, TEXT)["segments"][1]["runs"]
    assert [run["language"] for run in runs][:2] == ["zh", "en"]
    assert runs[1]["spoken"].startswith("Bluetooth")


def test_the_language_can_be_forced(capsys: pytest.CaptureFixture[str]) -> None:
    spoken = [
        as_json(capsys, "--lang", language, "42")["segments"][0]["spoken"]
        for language in ("zh", "en")
    ]
    assert spoken[0].startswith("四十二")
    assert spoken[1].startswith("forty")


def test_the_listing_shows_words_phonemes_and_pauses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["text", TEXT]) == 0
    out = capsys.readouterr().out
    assert "segment 1:" in out
    assert "two hundred" in out
    assert "of silence" in out


@pytest.mark.parametrize("text", ["", "😀", "？！"])
def test_a_wordless_text_says_so(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["text", text]) == 0
    assert "no segments" in capsys.readouterr().out
    assert as_json(capsys, text)["segments"] == []


def test_a_lexicon_is_used_and_a_bad_one_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lexicon = tmp_path / "names.yaml"
    lexicon.write_text("en: {Geis: {ipa: ɡˈIs}}", encoding="utf-8")
    found = as_json(capsys, "--lexicon", str(lexicon), "Call Geis now.")
    assert "ɡˈIs" in found["segments"][0]["phonemes"]
    lexicon.write_text("en: {Geis: {ipa: '§'}}", encoding="utf-8")
    assert main(["text", "--lexicon", str(lexicon), "x"]) == 2
    assert "names.yaml, line 1" in capsys.readouterr().err


# CASES T02
@pytest.mark.voice
def test_the_command_the_library_and_the_service_read_alike(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from edge_tts.service.messages import Manner
    from edge_tts.service.voice_source import VoiceSource
    from edge_tts.speaker import Speaker

    text = "Room 1835, 10 of 1,835.\n1835年共1835个。 Version 3.14.15 costs $12.50."
    shown = [segment["phonemes"] for segment in as_json(capsys, text)["segments"]]
    with Speaker() as speaker:
        library = [segment.phonemes for segment in speaker.segments(text)]
        service = [s.phonemes for s in VoiceSource(speaker).segments(text, Manner())]
    assert shown == library == service
