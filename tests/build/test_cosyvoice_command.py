"""`edge-tts build` says what is wrong and what to do about it."""

from __future__ import annotations

import importlib.util

import pytest

from edge_tts.cli.main import main
from edge_tts.errors import EXIT_INPUT, EXIT_MODEL, EXIT_OK

has_torch = importlib.util.find_spec("torch") is not None


@pytest.mark.skipif(has_torch, reason="for machines without torch")
def test_without_torch_it_says_what_to_install(tmp_path, capsys):
    assert main(["build", str(tmp_path)]) == EXIT_MODEL
    error = capsys.readouterr().err
    assert "torch" in error
    assert "edge-tts-device[build]" in error


@pytest.mark.skipif(not has_torch, reason="building needs torch")
class TestWithTorch:
    def test_a_folder_that_is_no_checkpoint_is_refused(self, tmp_path, capsys):
        assert main(["build", str(tmp_path), "--out", str(tmp_path / "mine")]) == EXIT_MODEL
        assert "error[model.file_missing]" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_precision_is_refused_before_any_work(self, tmp_path, capsys):
        assert main(["build", str(tmp_path), "--precision", "tiny"]) == EXIT_INPUT
        assert "give a preset" in capsys.readouterr().err

    def test_it_builds_into_the_installed_voices(self, tmp_path, capsys, monkeypatch):
        from tiny_cosyvoice import write_checkpoint

        monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "voices"))
        checkpoint = write_checkpoint(tmp_path / "mine", 1)
        assert main(["build", str(checkpoint)]) == EXIT_OK
        assert (tmp_path / "voices" / "mine" / "voice.yaml").is_file()
        assert "built mine" in capsys.readouterr().err
