"""The outcome of a quantisation as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from pathlib import Path
from typing import Iterable, List, Sequence

import numpy as np

from edge_tts.build.mel_distance import log_mel
from edge_tts.build.quantisation.tool import Outcome, PartOutcome

MIB = 1 << 20
_LOWEST, _HIGHEST = -3.0, 1.5
_MAX_LAYERS = 40
_GOOD_DB = 60.0
_STYLE = """body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right;
border-bottom:1px solid #ccc}td:first-child,th:first-child{text-align:left}
img{width:100%;height:8rem;image-rendering:pixelated}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.bar{background:#48c;height:.7rem}
.layer{display:grid;grid-template-columns:24rem 5rem 1fr;align-items:center;font-size:12px}
.layer span{overflow-wrap:anywhere}"""


def write_page(outcome: Outcome, path: Path) -> None:
    """Write the page to `path`."""
    title = f"{html.escape(outcome.name)}: before and after"
    body = [f"<h1>{title}</h1>", _table(outcome), *_understood(outcome)]
    body += ["<h2>Sound</h2>", *_sounds(outcome)]
    for part in outcome.parts:
        body += _layers(part)
    page = (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title>"
        f"<style>{_STYLE}</style>{''.join(body)}</html>\n"
    )
    path.write_text(page, encoding="utf-8")


def _table(outcome: Outcome) -> str:
    head = ("engine", "kind", "MiB before", "after", "ms before", "after", "signal/error dB")
    return _rows(
        head,
        (
            (
                part.name,
                part.kind,
                *(f"{size / MIB:.1f}" for size in part.size_bytes),
                *(f"{1000 * run_s:.2f}" for run_s in part.run_s),
                f"{part.snr_db:.1f}",
            )
            for part in outcome.parts
        ),
    )


def _understood(outcome: Outcome) -> List[str]:
    if not outcome.understood:
        return []
    rows = (
        (each.lang, str(each.n_sentences), f"{each.before:.3f}", f"{each.after:.3f}")
        for each in outcome.understood
    )
    head = ("language", "sentences", "error rate before", "after")
    return ["<h2>What the judge understood</h2>", _rows(head, rows)]


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _sounds(outcome: Outcome) -> List[str]:
    found = []
    for sentence, before, after in zip(
        outcome.sentences, outcome.before.sounds, outcome.after.sounds
    ):
        pair = "".join(
            f"<figure><img alt='log-mel spectrogram' src='{_image(samples)}'>"
            f"<figcaption>{name}, {len(samples) / outcome.before.sample_rate_hz:.2f} s</figcaption>"
            "</figure>"
            for name, samples in (("before", before), ("after", after))
        )
        found.append(f"<p>{html.escape(sentence.text)}</p><div class='pair'>{pair}</div>")
    return found


def _layers(part: PartOutcome) -> List[str]:
    found = [f"<h2>{html.escape(part.name)}: error of each layer alone, worst first</h2>"]
    if part.search is not None:
        verdict = "reached" if part.search.reached else "not reached in the time given"
        found.append(
            f"<p>{len(part.search.kept)} layers kept in fp32 after {part.search.n_trials} trials; "
            f"the ratio asked for was {verdict}.</p>"
        )
    kept = set(part.search.kept) if part.search else set()
    for error in part.errors[:_MAX_LAYERS]:
        # A longer bar is a larger error.
        width = float(np.clip(100 * (1 - error.snr_db / _GOOD_DB), 0, 100))
        mark = " (kept)" if error.name in kept else ""
        found.append(
            f"<div class='layer'><span>{html.escape(error.name)}{mark}</span>"
            f"<span>{error.snr_db:.1f} dB</span><div class='bar' style='width:{width:.0f}%'></div>"
            "</div>"
        )
    return found


def _image(samples: "np.ndarray") -> str:
    """The log-mel spectrogram as a data URL."""
    level = (log_mel(samples).T[::-1] - _LOWEST) / (_HIGHEST - _LOWEST)
    return data_url(np.clip(255 * level, 0, 255).astype(np.uint8))


def data_url(grey: "np.ndarray") -> str:
    """A grey image uint8 [height, width] as PNG (ISO/IEC 15948) in a data URL."""
    height, width = grey.shape
    rows = b"".join(b"\x00" + row.tobytes() for row in grey)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
