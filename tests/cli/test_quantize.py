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

import cosyvoice_voices
import lite_voices

from edge_tts.build.quantisation.page import data_url
from edge_tts.cli.main import main
from edge_tts.errors import EXIT_INPUT, EXIT_OK
from edge_tts.voices.manifest import VoiceDirectory

JUDGE = """
import csv, json, sys, wave
table, folder, out = sys.argv[2::2]
seconds = {}
with open(table, encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file, delimiter="\\t", quoting=csv.QUOTE_NONE):
        assert row["text"] and row["spoken"]
        with wave.open(f"{folder}/{row['id']}.wav") as sound:
            length_s = sound.getnframes() / sound.getframerate()
        seconds.setdefault(row["lang"], []).append(length_s)
means = {lang: {"er": sum(each) / 10} for lang, each in seconds.items()}
with open(out, "w") as file:
    json.dump({"means": means, "rows": []}, file)
"""


@pytest.fixture(scope="module")
def voices(tmp_path_factory):
    root = tmp_path_factory.mktemp("voices")
    return cosyvoice_voices.unpack(lite_voices.unpack(root))


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("你好。\nGood <b>morning</b>.\n", encoding="utf-8")
    return path


@pytest.fixture
def judge(tmp_path):
    """A judge that measures what sound it was given: a tenth for each second of a language."""
    folder = tmp_path / "judge"
    folder.mkdir()
    program = folder / "judge"
    program.write_text(f"#!{sys.executable}\n{JUDGE}", encoding="utf-8")
    program.chmod(0o755)
    return folder


def quantize(voices, out, texts, *options, name="cosyvoice2"):
    return main(
        ["quantize", str(voices / name), "--out", str(out), "--texts", str(texts), *options]
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


def test_a_lite_voice_is_quantised_and_speaks(voices, texts, tmp_path, capsys):
    pytest.importorskip("sentencepiece")
    out = tmp_path / "mine"
    texts.write_text("turn left.\n", encoding="utf-8")  # the few letters it has ids for
    options = ("--precision", "encoder=int8-static,decoder=int4,codec=fp16")
    assert quantize(voices, out, texts, *options, name="lite_delay") == EXIT_OK
    directory = VoiceDirectory.read(out)
    assert directory.faults() == []
    assert {part.name: part.precision for part in directory.manifest.parts}["decoder"] == "int4"
    assert re.search(r"decoder: int4, .* dB above its error", capsys.readouterr().out)


def test_a_judge_hears_both_voices(voices, texts, tmp_path, judge, capsys):
    page = tmp_path / "page.html"
    options = ("--precision", "f0=fp16", "--judge", str(judge), "--page", str(page))
    assert quantize(voices, tmp_path / "mine", texts, *options) == EXIT_OK
    said = capsys.readouterr().out
    rates = re.findall(r"(\w+): error rate (\S+) → (\S+) in 1 sentences", said)
    assert [lang for lang, _, _ in rates] == ["en", "zh"]
    assert all(float(rate) > 0 for _, *both in rates for rate in both)
    assert "What the judge understood" in page.read_text(encoding="utf-8")


def test_a_table_tells_the_judge_what_is_said(voices, tmp_path, judge, capsys):
    table = tmp_path / "texts.tsv"
    table.write_text('id\tlang\ttext\tspoken\tx\na1\tzh\t"你好"。\t你好\t-\n', encoding="utf-8")
    options = ("--precision", "f0=fp16", "--judge", str(judge))
    assert quantize(voices, tmp_path / "mine", table, *options) == EXIT_OK
    assert "zh: error rate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (None, "no program"),
        ("import sys; sys.exit('out of ears')", "out of ears"),
        ("pass", "no error rates"),
        ("open(__import__('sys').argv[6], 'w').write('{\"means\": {}}')", "no error rates"),
    ],
)
def test_a_judge_that_fails_is_named_and_the_voice_stays(
    voices, texts, tmp_path, judge, capsys, program, message
):
    path = judge / "judge"
    if program is None:
        path.unlink()
    else:
        path.write_text(f"#!{sys.executable}\n{program}\n", encoding="utf-8")
    options = ("--precision", "f0=fp16", "--judge", str(judge))
    assert quantize(voices, tmp_path / "mine", texts, *options) == EXIT_INPUT
    assert message in capsys.readouterr().err
    assert VoiceDirectory.read(tmp_path / "mine").faults() == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("../x\ten\thello\thello", "not an id"),
        ("a\tfr\thello\thello", "needs"),
        ("a\ten\thello\t", "needs"),
    ],
)
def test_a_table_that_does_not_hold_is_refused(voices, tmp_path, capsys, row, message):
    table = tmp_path / "texts.tsv"
    table.write_text(f"id\tlang\ttext\tspoken\n{row}\n", encoding="utf-8")
    assert quantize(voices, tmp_path / "mine", table, "--precision", "f0=fp16") == EXIT_INPUT
    assert message in capsys.readouterr().err


@pytest.mark.voice
def test_of_the_default_voice_only_what_is_not_in_8_bits_yet_is_quantised(texts, tmp_path, capsys):
    from edge_tts.voices import catalog

    store, out = catalog.find("kokoro").path.parent, tmp_path / "mine"
    assert quantize(store, out, texts, "--precision", "encoder=int4", name="kokoro") == EXIT_INPUT
    assert "no fp32 layer" in capsys.readouterr().err
    assert not out.exists()
    assert quantize(store, out, texts, "--precision", "decoder=fp16", name="kokoro") == EXIT_OK
    assert VoiceDirectory.read(out).faults() == []


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
