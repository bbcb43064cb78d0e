"""`edge-tts voices` from the command line."""

import json
import re
import sys
from pathlib import Path

import pytest

from edge_tts.cli.main import main

sys.path.insert(0, str(Path(__file__).parent.parent / "voices"))
from tiny_kokoro import write_voice


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "voices"))
    write_voice(tmp_path / "voices" / "tiny")
    return tmp_path / "voices"


def test_list(store, capsys):
    assert main(["voices", "list"]) == 0
    assert capsys.readouterr().out == "tiny 1 (zh, en): af_heart zf_xiaobei\n"


def test_list_is_what_voices_does_by_itself(store, capsys):
    assert main(["voices"]) == 0
    assert "tiny" in capsys.readouterr().out


def test_list_says_what_to_do_when_there_is_none(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "none"))
    assert main(["voices", "list"]) == 0
    assert "edge-tts voices install kokoro" in capsys.readouterr().out


def test_list_as_json(store, capsys):
    assert main(["voices", "list", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record["name"] == "tiny"
    assert record["languages"] == ["zh", "en"]


def test_show(store, capsys):
    assert main(["voices", "show", "tiny"]) == 0
    shown = capsys.readouterr().out
    assert str(store / "tiny") in shown
    assert "generator.onnx" in shown
    assert "Apache-2.0" in shown
    assert re.search(r"^disk +\d+\.\d MB$", shown, re.MULTILINE)


def test_show_as_json(store, capsys):
    assert main(["voices", "show", "tiny", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert {part["name"] for part in record["parts"]} >= {"encoder", "generator"}
    files = [path for path in (store / "tiny").iterdir() if path.name != "voice.yaml"]
    assert record["size_bytes"] == sum(path.stat().st_size for path in files)


def test_verify_names_every_bad_file_and_exits_4(store, capsys):
    assert main(["voices", "verify"]) == 0
    (store / "tiny" / "encoder.onnx").unlink()
    (store / "tiny" / "source.npy").write_bytes(b"x")
    assert main(["voices", "verify", "tiny"]) == 4
    said = capsys.readouterr().out
    assert "[model.file_missing]" in said
    assert "[model.file_truncated]" in said
    assert main(["voices", "verify", "--json"]) == 4
    assert len(json.loads(capsys.readouterr().out)["tiny"]) == 2


def test_remove(store, capsys):
    assert main(["voices", "remove", "tiny"]) == 0
    assert not (store / "tiny").exists()
    assert main(["voices", "remove", "tiny"]) == 4
    assert "[model.not_installed]" in capsys.readouterr().err


def test_install_from_a_wrong_file_exits_4(store, tmp_path, capsys):
    wrong = tmp_path / "page.onnx"
    wrong.write_text("<html></html>")
    assert main(["voices", "install", "kokoro", "--from", str(wrong)]) == 4
    assert "[model.source_wrong]" in capsys.readouterr().err
    assert not (store / "kokoro").exists()


def test_install_of_an_unknown_voice_exits_3(store, capsys):
    assert main(["voices", "install", "nobody"]) == 3
    assert "[input.unknown_voice]" in capsys.readouterr().err


def test_verify_finds_a_broken_manifest(store, capsys):
    (store / "tiny" / "voice.yaml").write_text("name: [")
    assert main(["voices", "verify"]) == 4
    assert "[model.manifest_invalid]" in capsys.readouterr().out
    assert main(["voices", "verify", "tiny"]) == 4


def test_verify_says_when_there_is_nothing_to_verify(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "none"))
    assert main(["voices", "verify"]) == 0
    assert "no voice is installed" in capsys.readouterr().out
    assert main(["voices", "verify", "tiny"]) == 4


def test_only_what_can_be_installed_is_offered_for_installation(store, capsys):
    assert main(["voices", "show", "nobody"]) == 4
    assert "install nobody" not in capsys.readouterr().err
    assert main(["voices", "show", "kokoro"]) == 4
    assert "run: edge-tts voices install kokoro" in capsys.readouterr().err
