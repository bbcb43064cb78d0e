"""`edge-tts build --platform` says what is wrong, and builds what it can ahead of time."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "voices"), str(TESTS / "build/tensorrt")]

from tiny_kokoro import write_voice  # noqa: E402
from trt_graphs import normed_convolution, recording  # noqa: E402

from edge_tts.build.tensorrt.builder_api import AHEAD_OF_TIME  # noqa: E402
from edge_tts.cli.main import main  # noqa: E402
from edge_tts.errors import EXIT_MODEL, EXIT_OK, EXIT_USAGE, EngineError  # noqa: E402
from edge_tts.runtime.engine_manifest import EngineManifest, manifest_path  # noqa: E402
from edge_tts.voices.manifest import VoiceDirectory  # noqa: E402

RECIPE = {
    "format": 1,
    "voice": "tiny",
    "family": "kokoro",
    "limits": {"min_snr_db": 30, "max_mel_distance_db": 1.0},
    "keep_fp32": {"operators": ["ReduceMean", "Sqrt"]},
    "parts": [{"name": "decoder", "precision": "fp16", "profiles": [{"T": [4, 20, 50]}]}],
}


@pytest.fixture
def voice(tmp_path, monkeypatch):
    """A voice `tiny`, a recipe for it and a folder with the graph of one part."""
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "voices"))
    write_voice(tmp_path / "voices/tiny")
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(RECIPE), encoding="utf-8")
    (tmp_path / "graphs").mkdir()
    normed_convolution(tmp_path / "graphs/decoder.onnx")
    recording(tmp_path / "graphs/decoder.recording.npz")
    return tmp_path


def build(voice, *options, name="tiny"):
    recipe, graphs = str(voice / "tiny.yaml"), str(voice / "graphs")
    return main(["build", name, "--recipe", recipe, "--graphs", graphs, *options])


def test_an_unknown_platform_lists_the_known_ones(voice, capsys):
    assert build(voice, "--platform", "nano") == EXIT_USAGE
    assert "known: xavier-nx, orin, thor, generic" in capsys.readouterr().err


def test_a_voice_must_be_installed_first(voice, capsys):
    assert build(voice, "--platform", "generic", name="nobody") == EXIT_MODEL
    assert "error[model.not_installed]" in capsys.readouterr().err


def test_an_unknown_part_and_an_empty_folder_are_refused(voice, capsys):
    assert build(voice, "--platform", "generic", "--part", "ear") == EXIT_USAGE
    assert "no graph of ear" in capsys.readouterr().err
    (voice / "graphs/decoder.onnx").unlink()
    assert build(voice, "--platform", "generic") == EXIT_USAGE
    assert "there are: none" in capsys.readouterr().err


def test_a_voice_without_a_recipe_takes_its_familys(voice, capsys):
    graphs = str(voice / "graphs")
    assert main(["build", "tiny", "--platform", "generic", "--graphs", graphs, "--part", "x"]) == (
        EXIT_USAGE
    )
    assert "there are: decoder" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("tensorrt") is not None, reason="TensorRT is here")
def test_without_tensorrt_it_says_how_to_get_it(voice, capfd):
    assert build(voice, "--platform", "generic") == EXIT_MODEL
    said = capfd.readouterr().err
    assert "error[engine.tensorrt_missing]" in said
    assert "python3-libnvinfer" in said
    assert not (voice / "voices/tiny/engines/decoder.json").exists()


def test_an_engine_built_ahead_of_time_is_whole_and_never_used(voice, capfd):
    if importlib.util.find_spec(AHEAD_OF_TIME) is None:
        pytest.skip(f"NOT TESTED: {AHEAD_OF_TIME} is not installed")
    assert build(voice, "--platform", "generic", "--ahead-of-time", "8.6") == EXIT_OK
    directory = voice / "voices/tiny"
    known = EngineManifest.read(manifest_path(directory, "decoder"))
    assert (known.plan.precision, known.target.sm, known.voice) == ("fp16", "8.6", "tiny")
    assert (directory / "engines/decoder.plan").stat().st_size == known.plan.size_bytes
    with pytest.raises(EngineError, match="ahead of time"):
        known.verify(
            directory / "engines",
            platform="generic",
            trt_version=known.target.tensorrt,
            sm="8.6",
            voice_sha256=known.voice_sha256,
        )
    VoiceDirectory.read(directory).check(hashes=True)
    assert "fp16 engine of" in capfd.readouterr().err
