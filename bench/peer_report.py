"""The table and the plot of a peer run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from peer_figures import (
    ENGINES,
    MAX_COMPUTE_RATIO,
    MAX_HELP_MS,
    MAX_IDLE_PERCENT,
    MAX_LOAD_S,
    MAX_PARAGRAPH_RATIO,
    MAX_PEAK_MB,
    MAX_SENTENCE_RATIO,
    OURS,
    PEER,
    BenchText,
    Quantity,
    Ratio,
    Run,
    chosen,
    compute,
    first_audio,
    load,
    ratio,
    real_time_factor,
    typical,
)

HEADER = ("measure", *ENGINES, "ratio, wall", "ratio, CPU", "limit")
MARKED = re.compile(r"(?<=<!-- table -->\n).*(?=<!-- end of table -->)", re.S)


@dataclass(frozen=True)
class Row:
    """A line of the table. `values` by engine are None where an engine cannot do it."""

    name: str
    values: Dict[str, Optional[float]]
    form: str
    ratio: Optional[Ratio] = None
    limit: str = ""

    def cells(self) -> List[str]:
        values = [self.values.get(engine) for engine in ENGINES]
        shown = ["–" if value is None else format(value, self.form) for value in values]
        if self.ratio is None:
            return [self.name, *shown, "", "", self.limit]
        return [
            self.name,
            *shown,
            f"{self.ratio.wall:.2f}",
            f"{self.ratio.cpu:.2f}",
            self.limit,
        ]


def rows(
    runs: Dict[str, List[Run]], texts: Sequence[BenchText], help_ms: Optional[float]
) -> List[Row]:
    """The whole table, times in wall seconds, medians over rounds."""
    zh, en = chosen(texts, "zh"), chosen(texts, "en")
    zh_sentence, zh_paragraph = chosen(texts, "zh", "sentence"), chosen(texts, "zh", "paragraph")
    en_sentence, en_paragraph = chosen(texts, "en", "sentence"), chosen(texts, "en", "paragraph")

    def timed(name: str, quantity: Quantity, limit: str, ids: Sequence[str] = ()) -> Row:
        values = {
            engine: typical(engine_runs, quantity)[0]
            for engine, engine_runs in runs.items()
            if set(ids) <= {spoken.text_id for spoken in engine_runs[0].spoken}
        }
        return Row(name, dict(values), ".2f", ratio(runs[OURS], runs[PEER], quantity), limit)

    peak = {engine: max(run.peak_mb for run in found) for engine, found in runs.items()}
    idle = {engine: max(run.idle_percent for run in found) for engine, found in runs.items()}
    times = f"≤ {MAX_COMPUTE_RATIO:g} ×"
    return [
        Row("peak memory, MB", dict(peak), ".0f", limit=f"≤ {MAX_PEAK_MB:g}"),
        timed("load, s", load, f"≤ {MAX_LOAD_S:g} s"),
        timed("compute, all texts, s", compute([*zh, *en]), times, [*zh, *en]),
        timed("compute, Chinese, s", compute(zh), "", zh),
        timed("compute, English, s", compute(en), "", en),
        timed("real-time factor, Chinese", real_time_factor(zh), "", zh),
        timed("real-time factor, English", real_time_factor(en), "", en),
        timed(
            "first audio, Chinese sentence of 15 characters, s",
            first_audio(zh_sentence),
            f"≤ {MAX_SENTENCE_RATIO:g} ×",
            zh_sentence,
        ),
        timed(
            "first audio, Chinese paragraph of 100 characters, s",
            first_audio(zh_paragraph),
            f"≤ {MAX_PARAGRAPH_RATIO:g} ×",
            zh_paragraph,
        ),
        timed("first audio, English sentence, s", first_audio(en_sentence), "", en_sentence),
        timed(
            "first audio, English paragraph of 100 characters, s",
            first_audio(en_paragraph),
            "",
            en_paragraph,
        ),
        Row("idle CPU, % of one", dict(idle), ".2f", limit=f"≤ {MAX_IDLE_PERCENT:g}"),
        Row("`edge-tts --help`, ms", {OURS: help_ms}, ".0f", limit=f"≤ {MAX_HELP_MS:g}"),
    ]


def markdown(table: Sequence[Row]) -> str:
    """The table as Markdown, ending with a line break."""
    lines = [list(HEADER), ["---", *["---:"] * (len(HEADER) - 1)], *[row.cells() for row in table]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_page(page: Path, content: str) -> None:
    """Put `content` between the page's two marks. Raises ValueError when they are missing."""
    text = page.read_text(encoding="utf-8")
    if not MARKED.search(text):
        raise ValueError(f"{page} has no place for the table")
    page.write_text(MARKED.sub(lambda _: content, text), encoding="utf-8")


def plot(table: Sequence[Row], path: Path) -> None:
    """Bars per engine: time to first audio, real-time factor, peak memory. Writes an SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers", "font.size": 9})
    from matplotlib import pyplot

    panels = {
        "time to first audio, s": "first audio, ",
        "real-time factor": "real-time factor, ",
        "peak memory, MB": "peak memory, MB",
    }
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), width_ratios=[4, 2, 1.2])
    for axis, (title, prefix) in zip(axes, panels.items()):
        _draw_bars(axis, [row for row in table if row.name.startswith(prefix)], prefix)
        axis.set_title(title)
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def _draw_bars(axis: Any, shown: Sequence[Row], prefix: str) -> None:
    for offset, engine in enumerate(ENGINES):
        values = [row.values.get(engine) for row in shown]
        places = [n + 0.27 * (offset - 1) for n in range(len(shown))]
        bars = axis.bar(places, [value or 0.0 for value in values], 0.25, label=engine)
        labels = ["" if v is None else format(v, r.form) for v, r in zip(values, shown)]
        axis.bar_label(bars, labels, fontsize=7)
    names = [row.name[len(prefix) :].split(", s")[0].replace(" of ", "\nof ") for row in shown]
    axis.set_xticks(range(len(shown)), names, fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(y=0.12)
