"""`edge-tts quantize` makes a voice that speaks, and a page that needs nothing else."""

from __future__ import annotations

import base64
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "voices"))

from cosyvoice_voices import unpack

from edge_tts.build.quantisation.page import data_url
from edge_tts.cli.main import main
from edge_tts.errors import EXIT_INPUT, EXIT_OK
from edge_tts.voices.manifest import VoiceDirectory


@pytest.fixture(scope="module")
def voices(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("voices"))


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("你好。\nGood <b>morning</b>.\n", encoding="utf-8")
    return path


def quantize(voices, out, texts, *options):
    return main(
        ["quantize", str(voices / "cosyvoice2"), "--out", str(out), "--texts", str(texts), *options]
    )


def test_a_quantised_voice_is_whole_and_its_page_stands_alone(voices, texts, tmp_path, capsys):
    out, page = tmp_path / "new" / "mine", tmp_path / "page.html"
    wanted = "lm=int8,estimator=int8-static,vocoder=fp16"
    assert quantize(voices, out, texts, "--precision", wanted, "--page", str(page)) == EXIT_OK
    directory = VoiceDirectory.read(out)
    assert directory.faults() == []
    precisions = {part.name: part.precision for part in directory.manifest.parts}
    assert precisions["estimator"] == precisions["estimator_weights"] == "int8-static"
    assert precisions["f0"] == "fp32"
    assert directory.manifest.info.name == "mine"
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;morning" in text
    assert not re.search(r"(src|href)='(?!data:)", text)
    assert "lm: int8" in capsys.readouterr().out


def test_a_target_keeps_layers_until_it_is_reached(voices, texts, tmp_path, capsys):
    out = tmp_path / "mine"
    options = ("--precision", "lm=int4", "--target-db", "150")
    assert quantize(voices, out, texts, *options) == EXIT_OK
    reached_db = float(re.search(r"([\d.]+) dB above", capsys.readouterr().out).group(1))
    assert reached_db >= 150


@pytest.mark.parametrize(
    ("precision", "message"),
    [
        ("lm=int2", "not understood"),
        ("lm", "not understood"),
        ("decoder=int8", "it has lm"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    voices, texts, tmp_path, capsys, precision, message
):
    out = tmp_path / "out" / "mine"
    assert quantize(voices, out, texts, "--precision", precision) == EXIT_INPUT
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_an_image_holds_its_pixels():
    grey = np.arange(6, dtype=np.uint8).reshape(2, 3)
    png = base64.b64decode(data_url(grey).split(",", 1)[1])
    start = png.index(b"IDAT") + 4
    length = int.from_bytes(png[start - 8 : start - 4], "big")
    rows = np.frombuffer(zlib.decompress(png[start : start + length]), np.uint8).reshape(2, 4)
    assert np.array_equal(rows[:, 1:], grey)
