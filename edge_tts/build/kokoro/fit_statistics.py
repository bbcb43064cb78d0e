"""Fit the map that predicts the generator's statistics, from what the teacher spoke.

    python -m edge_tts.build.fast_voice.teacher DATA --lines 128
    python -m edge_tts.build.kokoro.fit_statistics DATA [--out FILE]

Ridge regression in closed form, of low rank, every group of features weighted alike. Errors of
means are counted in standard deviations of their channel, which is what the norm makes of them.
The regularisation is chosen by leave-one-out; every eighth line is held out for the report, and
then fitted as well. Deterministic: the same data give the same file.
"""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import List, Optional

import numpy as np

from edge_tts.voices.kokoro.generator import Acoustics
from edge_tts.voices.kokoro.statistics import (
    MAX_DEVIATIONS,
    N_SCALARS,
    STATISTICS_FILE,
    StatisticsModel,
    describe,
)

log = logging.getLogger(__name__)

RANK = 64
GROUPS = (256, 512, 512, N_SCALARS)  # style, means, log deviations, scalars
GROUP_WEIGHT = 16.0
PENALTIES = (10.0, 30.0, 100.0, 300.0, 1000.0)
HELD_OUT_EVERY = 8
_FAINTEST_VARIANCE = 1e-7


@dataclass(frozen=True)
class Examples:
    """Utterances as rows: `described` [n, F], `values` [n, 2M] (means, log variances)."""

    described: "np.ndarray"
    values: "np.ndarray"
    speakers: "np.ndarray"
    lines: "np.ndarray"
    channels: "np.ndarray"

    def only(self, chosen: "np.ndarray") -> "Examples":
        """The rows where `chosen` is true."""
        return Examples(
            self.described[chosen],
            self.values[chosen],
            self.speakers[chosen],
            self.lines[chosen],
            self.channels,
        )


def read(folder: Path) -> Examples:
    """Read the teacher's utterances. Raises ValueError when there are none."""
    described: List["np.ndarray"] = []
    values: List["np.ndarray"] = []
    speakers: List[str] = []
    lines: List[int] = []
    channels = np.zeros(0, np.int64)
    for path in sorted(folder.glob("[0-9]*.npz")):
        with np.load(path) as data:
            acoustics = Acoustics(data["x"][None], data["f0"], data["energy"], data["style"])
            means, variances = data["statistics"].astype(np.float64)
            speakers.append(str(data["speaker"]))
            channels = data["channels"]
        described.append(describe(acoustics))
        values.append(np.concatenate([means, np.log(np.maximum(variances, _FAINTEST_VARIANCE))]))
        lines.append(int(path.name[:4]))
    if not described:
        raise ValueError(f"{folder} holds no utterances; run edge_tts.build.fast_voice.teacher")
    return Examples(
        np.array(described), np.array(values), np.array(speakers), np.array(lines), channels
    )


def fit(examples: Examples, rank: int = RANK, penalty: Optional[float] = None) -> StatisticsModel:
    """The map for `examples`; without a `penalty` the best of `PENALTIES` by leave-one-out."""
    weights = np.concatenate([np.full(size, GROUP_WEIGHT / np.sqrt(size)) for size in GROUPS])
    centre = examples.described.mean(axis=0)
    weight = weights / (examples.described.std(axis=0) + 1e-3)
    limit = MAX_DEVIATIONS * weights
    inputs = np.clip((examples.described - centre) * weight, -limit, limit)
    scale, offset = _units(examples.values), examples.values.mean(axis=0)
    targets = (examples.values - offset) / scale
    spectrum, rotation = np.linalg.eigh(inputs @ inputs.T)
    if penalty is None:
        penalty = min(PENALTIES, key=lambda p: _leave_one_out(spectrum, rotation, targets, p))
    basis = np.linalg.svd(targets, full_matrices=False)[2][:rank]
    inverse = rotation / (spectrum + penalty) @ rotation.T
    projection = inputs.T @ (inverse @ (targets @ basis.T))
    return StatisticsModel(
        centre, weight, limit, projection, basis, scale, offset, examples.channels
    )


def _units(values: "np.ndarray") -> "np.ndarray":
    """Means count in standard deviations of their channel, log variances as they are."""
    _, log_variances = np.split(values, 2, axis=1)
    deviations = np.exp(log_variances.mean(axis=0) / 2)
    return np.concatenate([deviations, np.ones(len(deviations))])


def _leave_one_out(
    spectrum: "np.ndarray", rotation: "np.ndarray", targets: "np.ndarray", penalty: float
) -> float:
    """Mean squared error of every row predicted from the others, by the usual identity."""
    shrinkage = spectrum / (spectrum + penalty)
    leverage = rotation**2 @ shrinkage
    fitted = rotation @ (shrinkage[:, None] * (rotation.T @ targets))
    return float(np.mean(((targets - fitted) / (1 - leverage)[:, None]) ** 2))


def errors(model: StatisticsModel, examples: Examples) -> "np.ndarray":
    """Root mean square error [n, 2]: means in deviations of their channel, log variances."""
    standard = np.clip(
        (examples.described - model.centre) * model.weight, -model.limit, model.limit
    )
    missed = standard @ model.projection @ model.basis - (
        (examples.values - model.offset) / model.scale
    )
    means, log_variances = np.split(missed, 2, axis=1)
    return np.sqrt(np.stack([(part**2).mean(axis=1) for part in (means, log_variances)], axis=1))


def save(model: StatisticsModel, path: Path) -> None:
    """Write the map; what is large in half precision."""
    arrays = {item.name: getattr(model, item.name) for item in fields(model)}
    for name, array in arrays.items():
        if name != "channels":
            arrays[name] = array.astype(np.float16 if array.ndim == 2 else np.float32)
    np.savez_compressed(path, **arrays)


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the generator's statistics.")
    parser.add_argument("data", type=Path, help="folder the teacher wrote")
    parser.add_argument("--out", type=Path, default=STATISTICS_FILE)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    examples = read(arguments.data)
    held_out = examples.lines % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
    trial = fit(examples.only(~held_out))
    log.info("%d utterances, %d of them held out", len(examples.lines), held_out.sum())
    for speaker in sorted(set(examples.speakers)):
        rows = examples.only(held_out & (examples.speakers == speaker))
        means, log_variances = errors(trial, rows).mean(axis=0)
        log.info(
            "%s: means off by %.3f deviations, log variances by %.3f",
            speaker,
            means,
            log_variances,
        )
    save(fit(examples), arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
