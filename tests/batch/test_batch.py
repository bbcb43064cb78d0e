"""Batches: every line ends in the manifest, one bad line stops nothing, a second run goes on."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import re
import sys
import tracemalloc
import wave
from pathlib import Path
from typing import Any, Dict, List

import pytest

from edge_tts import config as configuration
from edge_tts.batch import rendering
from edge_tts.batch.lines import Line, read_lines
from edge_tts.batch.rendering import default_jobs
from edge_tts.batch.subtitles import SubtitleFile
from edge_tts.cli.main import main
from edge_tts.errors import EXIT_INPUT, EXIT_OK, InputError

sys.path.insert(0, str(Path(__file__).parent.parent / "voices"))
from tiny_kokoro import write_voice


@pytest.fixture(autouse=True)
def _voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path / "voices"))
    monkeypatch.setenv("EDGE_TTS_VOICE", "tiny")
    write_voice(tmp_path / "voices" / "tiny")


def results(folder: Path) -> List[Dict[str, Any]]:
    lines = (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_one_bad_line_stops_nothing(tmp_path: Path, jobs: str) -> None:
    source = tmp_path / "texts.jsonl"
    source.write_text(
        '{"id": "first", "text": "Hello."}\n'
        "not json\n"
        '{"text": "你好。", "speaker": "nobody"}\n'
        '{"text": "…"}\n\n'
        '{"id": "../etc", "text": "Hello."}\n'
        '{"id": "first", "text": "Again."}\n'
        '{"id": "last", "text": "<speak>Bye.</speak>", "ssml": true}\n',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    assert main(["batch", str(source), "--out", str(out), "--jobs", jobs]) == EXIT_INPUT
    found = {result["line"]: result for result in results(out)}
    assert {line: result["status"] for line, result in found.items()} == {
        1: "done",
        2: "failed",
        3: "failed",
        4: "empty",
        6: "failed",
        7: "failed",
        8: "done",
    }
    assert found[3]["code"] == "input.unknown_speaker"
    assert sorted(path.name for path in out.iterdir()) == [
        "first.wav",
        "last.wav",
        "manifest.jsonl",
    ]
    with wave.open(str(out / "first.wav")) as read:
        assert read.getnframes() / 24000 == pytest.approx(found[1]["duration_s"], abs=0.001)


def test_a_second_run_does_what_is_missing(tmp_path: Path) -> None:
    source, out = tmp_path / "texts.txt", tmp_path / "out"
    source.write_text("One.\nTwo.\nThree.\n")
    arguments = ["batch", str(source), "--out", str(out), "--jobs", "1"]
    assert main(arguments) == EXIT_OK
    made = {path: path.stat().st_mtime_ns for path in out.glob("*.wav")}
    assert len(made) == 3
    (out / "000002.wav").unlink()
    source.write_text("One.\nTwo.\nThree and four.\n")
    with (out / "manifest.jsonl").open("a") as manifest:
        manifest.write('{"line": 1, "na')  # as a crash leaves it
    assert main(arguments) == EXIT_OK
    assert [result["line"] for result in results(out)] == [1, 2, 3, 2, 3]
    assert (out / "000001.wav").stat().st_mtime_ns == made[out / "000001.wav"]


def test_csv_columns_are_the_fields(tmp_path: Path) -> None:
    source = tmp_path / "texts.csv"
    source.write_text('id,text,speed\na,"Hello, you.",1.5\nb,Hi,fast\n')
    first, second = read_lines(source)
    assert (first.name, first.text, dict(first.delivery)) == ("a", "Hello, you.", {"speed": 1.5})
    assert second.fault is not None


@pytest.mark.parametrize(
    ("name", "contents"),
    [("texts.pdf", b"x"), ("texts.csv", b"id\n1\n"), ("texts.txt", b"\xff\xfe"), ("no.txt", None)],
)
def test_a_file_that_is_none_is_refused(
    tmp_path: Path, name: str, contents: "bytes | None"
) -> None:
    if contents is not None:
        (tmp_path / name).write_bytes(contents)
    with pytest.raises(InputError) as refused:
        list(read_lines(tmp_path / name))
    assert refused.value.code == "input.batch_invalid"


def test_the_budget_and_the_size_of_the_voice_bound_the_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "usable_cpus", lambda: 8)
    config = configuration.load(None, {})
    roomy = dataclasses.replace(config, budget_mib=2500)
    assert default_jobs(roomy) == 6
    assert default_jobs(dataclasses.replace(config, budget_mib=400)) == 1
    manifest = tmp_path / "voices" / "tiny" / "voice.yaml"
    one_gib = re.sub(r"size_bytes: \d+", f"size_bytes: {1 << 30}", manifest.read_text(), count=1)
    manifest.write_text(one_gib)
    assert default_jobs(roomy) == 1


def test_processes_that_die_lose_no_line(tmp_path: Path) -> None:
    lines = [Line(number, f"{number:06d}", "Hello there.") for number in range(1, 16)]
    config = dataclasses.replace(configuration.load(None, {}), threads=1)
    found = rendering.render_in_processes(iter(lines), tmp_path, "wav", config, 2)
    first = next(found)
    for process in multiprocessing.active_children():
        process.kill()
    rest = list(found)
    assert sorted(result.line for result in (first, *rest)) == list(range(1, 16))
    assert {result.code for result in rest if result.status == "failed"} == {"internal"}
    assert rest[-1].status == "done"


def test_a_voice_that_does_not_open_is_what_every_line_says(tmp_path: Path) -> None:
    (tmp_path / "voices" / "tiny" / "source.npy").write_bytes(b"x")
    source = tmp_path / "texts.txt"
    source.write_text("One.\nTwo.\n")
    out = tmp_path / "out"
    assert main(["batch", str(source), "--out", str(out), "--jobs", "2"]) == EXIT_INPUT
    assert {result["code"] for result in results(out)} == {"model.file_truncated"}


@pytest.mark.parametrize("suffix", ["wav", "flac", "opus"])
def test_the_memory_of_a_book_does_not_grow_with_it(tmp_path: Path, suffix: str) -> None:
    if suffix != "wav":
        pytest.importorskip("soundfile")
    peaks = []
    for n_paragraphs in (1, 1, 12):  # the first one fills what is made once
        source, target = tmp_path / "book.txt", tmp_path / f"book.{suffix}"
        source.write_text(n_paragraphs * "The first line is here. The second is there.\n\n")
        tracemalloc.start()
        arguments = ["--one", str(target), "--subtitles", str(tmp_path / "book.vtt")]
        assert main(["batch", str(source), *arguments]) == EXIT_OK
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    n_cues = (tmp_path / "book.vtt").read_text().count("-->")
    assert n_cues >= 12
    assert peaks[2] < peaks[1] + (1 << 20)


@pytest.mark.parametrize("suffix", ["srt", "vtt"])
def test_a_book_is_one_file_with_subtitles(tmp_path: Path, suffix: str) -> None:
    source, sound = tmp_path / "book.txt", tmp_path / "book.wav"
    subtitles = tmp_path / f"book.{suffix}"
    source.write_text("The first line is here.\nThe second line is there.\n")
    arguments = ["batch", str(source), "--one", str(sound), "--subtitles", str(subtitles)]
    assert main(arguments) == EXIT_OK
    text = subtitles.read_text()
    assert "The first line is here." in text
    times = [
        (int(h) * 60 + int(m)) * 60 + float(s.replace(",", "."))
        for h, m, s in re.findall(r"(\d\d):(\d\d):(\d\d[.,]\d{3})", text)
    ]
    assert len(times) == 4
    assert times == sorted(times)
    with wave.open(str(sound)) as read:
        assert times[-1] <= read.getnframes() / 24000


def test_a_book_that_fails_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "book.txt"
    source.write_text("A line.\n[SPKnobody]Another.\n")
    subtitles = tmp_path / "book.srt"
    arguments = ["--one", str(tmp_path / "book.wav"), "--subtitles", str(subtitles)]
    assert main(["batch", str(source), *arguments]) == EXIT_INPUT
    assert not subtitles.exists()
    assert not list(tmp_path.glob("*book.wav*"))


def test_vtt_escapes_what_would_be_a_tag(tmp_path: Path) -> None:
    with SubtitleFile(tmp_path / "a.vtt") as cues:
        cues.add(0.0, 3661.5, "a < b\n\nc")
    expected = "WEBVTT\n\n1\n00:00:00.000 --> 01:01:01.500\na &lt; b c\n\n"
    assert (tmp_path / "a.vtt").read_text() == expected
