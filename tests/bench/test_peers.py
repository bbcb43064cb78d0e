"""The arithmetic of the peer bench: ratios, verdicts, table and page."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import peer_figures as figures  # noqa: E402
import peer_report as report  # noqa: E402
import peers  # noqa: E402

TEXTS = figures.read_texts()


def a_run(engine: str, factor: float = 1.0, languages: str = "en zh", **changes: float) -> object:
    """A run in which every text takes `factor` seconds, a quarter of it to the first audio."""
    spoken = tuple(
        figures.Spoken(text.id, factor, 2 * factor, factor / 4, factor / 2, 4.0)
        for text in TEXTS
        if text.language in languages.split()
    )
    run = figures.Run(engine, 0.5, 0.25, 300.0, 0.0, spoken)
    return dataclasses.replace(run, **changes)


def runs(ours: float = 0.5, peer: float = 1.0, **changes: float) -> dict:
    return {
        figures.OURS: [a_run(figures.OURS, ours, **changes)],
        figures.PEER: [a_run(figures.PEER, peer)],
        figures.SECOND_PEER: [a_run(figures.SECOND_PEER, 0.2, "en")],
    }


def missed(found: list) -> list:
    return [verdict.name for verdict in found if not verdict.is_met]


def test_texts_are_of_the_lengths_the_limits_speak_of():
    for text in TEXTS:
        if text.kind == "paragraph":
            assert len(text.text) == 100
        elif text.language == "zh":
            assert len(text.text.rstrip("。")) == 15
            assert not set(text.text[:-1]) & set("，、；：。")


def test_texts_hold_nothing_that_engines_read_differently():
    for text in TEXTS:
        allowed = set("，。 .")
        assert all(char.isalpha() or char in allowed for char in text.text)


def test_a_ratio_is_the_median_of_pairs_not_of_engines():
    ours = [a_run("edge-tts", factor) for factor in (1.0, 4.0, 1.0)]
    peer = [a_run("kokoro-onnx", factor) for factor in (2.0, 8.0, 1.0)]
    found = figures.ratio(ours, peer, figures.compute(figures.chosen(TEXTS)))
    assert (found.wall, found.cpu) == (0.5, 0.5)


def test_a_ratio_refuses_rounds_without_a_partner():
    with pytest.raises(ValueError, match="2 rounds of ours against 1"):
        figures.ratio([a_run("a"), a_run("a")], [a_run("b")], figures.load)


def test_quantities_count_the_texts_asked_for_only():
    run = a_run("edge-tts", 3.0)
    zh = figures.chosen(TEXTS, "zh")
    assert figures.compute(zh)(run) == (3.0 * len(zh), 6.0 * len(zh))
    assert figures.real_time_factor(zh)(run) == (0.75, 1.5)
    assert figures.first_audio(zh)(run) == (0.75, 1.5)


def test_limits_are_inclusive():
    assert missed(figures.verdicts(runs(ours=0.25), TEXTS, 150.0)) == []


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"peak_mb": 351.0}, "memory"),
        ({"load_s": 1.01}, "load"),
        ({"idle_percent": 5.0}, "idle"),
    ],
)
def test_each_figure_of_a_run_has_its_verdict(changes, name):
    assert missed(figures.verdicts(runs(ours=0.2, **changes), TEXTS, 90.0)) == [name]


def test_slow_speech_misses_the_ratios():
    found = missed(figures.verdicts(runs(ours=0.9), TEXTS, 151.0))
    assert found == ["compute", "first audio sentence", "paragraph", "help"]


def test_the_worst_round_counts_for_memory():
    several = runs(ours=0.2)
    several["edge-tts"] = [a_run("edge-tts", 0.2, peak_mb=mb) for mb in (300.0, 360.0, 300.0)]
    several["kokoro-onnx"] *= 3
    assert missed(figures.verdicts(several, TEXTS, 90.0)) == ["memory"]


def test_the_table_leaves_out_what_an_engine_cannot_do():
    table = {row.name: row.cells() for row in report.rows(runs(), TEXTS, 90.0)}
    assert table["compute, Chinese, s"] == [
        "compute, Chinese, s", "2.00", "4.00", "–", "0.50", "0.50", ""
    ]  # fmt: skip
    assert table["compute, English, s"][3] == "0.60"
    assert table["`edge-tts --help`, ms"][1:4] == ["90", "–", "–"]


def test_markdown_has_as_many_cells_in_every_line():
    lines = report.markdown(report.rows(runs(), TEXTS, 90.0)).splitlines()
    assert {line.count("|") for line in lines} == {len(report.HEADER) + 1}


def test_the_page_keeps_all_but_the_table(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table -->\nold\n<!-- end of table -->\nafter\n")
    report.write_page(page, "new\n")
    report.write_page(page, "newer\n")
    assert page.read_text() == "before\n<!-- table -->\nnewer\n<!-- end of table -->\nafter\n"


def test_a_page_without_a_place_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(ValueError, match="no place"):
        report.write_page(page, "new\n")


def test_our_page_has_the_place():
    assert report.MARKED.search((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))


def test_what_is_missed_is_named_and_sets_the_exit_status(capsys):
    assert peers.conclude(figures.verdicts(runs(ours=0.25), TEXTS, 90.0)) == 0
    assert capsys.readouterr().out.endswith(" ok\n")
    assert peers.conclude(figures.verdicts(runs(ours=0.9), TEXTS, 90.0)) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "short: compute 0.9x (CPU 0.9x), limit 0.8x"
    assert shown[-1].startswith("peers: ") and shown[-1].endswith(" SHORT")
