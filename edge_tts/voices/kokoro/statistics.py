"""Predict the statistics of a whole utterance before its generator has run.

The generator's norms need the mean and variance of each channel over the whole utterance. They
follow closely from what is known beforehand: the style, the decoder's features pooled over time,
and the course of F0 and energy. The map is a ridge regression of low rank, fitted on the voice's
own speech by `edge_tts.build.kokoro.fit_statistics`; it holds for the shipped speakers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Dict

import numpy as np

from edge_tts.errors import ModelError

if TYPE_CHECKING:
    from edge_tts.voices.kokoro.generator import Acoustics

STATISTICS_FILE = Path(__file__).parent / "data" / "streaming_statistics.npz"
N_SCALARS = 14
MAX_DEVIATIONS = 5.0
"""Features are clipped at so many standard deviations: beyond, a line fitted is a guess."""

_VOICED_ABOVE_HZ = 10.0
_LOWEST_HZ = 40.0
_UNVOICED_LOG_F0 = 5.0
_FAINT = 1e-3


def describe(acoustics: "Acoustics") -> "np.ndarray":
    """The regression's input, float64 [1294]: style, features' means and log deviations, scalars.

    The scalars are mean, deviation and three percentiles of log F0 over voiced frames, the voiced
    share, log length, and mean, deviation and five percentiles of energy.
    """
    features: np.ndarray = acoustics.features[0].astype(np.float64)
    return np.concatenate(
        [
            acoustics.style.ravel(),
            features.mean(axis=1),
            np.log(features.std(axis=1) + _FAINT),
            _scalars(acoustics.f0_hz.astype(np.float64), acoustics.energy.astype(np.float64)),
        ]
    )


def _scalars(f0_hz: "np.ndarray", energy: "np.ndarray") -> "np.ndarray":
    voiced = f0_hz > _VOICED_ABOVE_HZ
    log_f0 = np.log(np.maximum(f0_hz[voiced], _LOWEST_HZ))
    if not len(log_f0):
        log_f0 = np.array([_UNVOICED_LOG_F0])
    return np.array(
        [
            log_f0.mean(),
            log_f0.std(),
            voiced.mean(),
            np.log(len(f0_hz)),
            energy.mean(),
            energy.std(),
            *np.percentile(energy, [10, 25, 50, 75, 90]),
            *np.percentile(log_f0, [10, 50, 90]),
        ]
    )


@dataclass(frozen=True)
class StatisticsModel:
    """The fitted map of F features to M means and M log variances, through R directions.

    `centre`, `weight` [F] standardise a feature, `limit` [F] clips it; `projection` [F, R] and
    `basis` [R, 2M] are the map; `scale` and `offset` [2M] give the statistics their units;
    `channels` is how the M divide into norms.
    """

    centre: "np.ndarray"
    weight: "np.ndarray"
    limit: "np.ndarray"
    projection: "np.ndarray"
    basis: "np.ndarray"
    scale: "np.ndarray"
    offset: "np.ndarray"
    channels: "np.ndarray"

    @classmethod
    def read(cls, path: Path = STATISTICS_FILE) -> "StatisticsModel":
        """Read the map that ships with the package. Raises ModelError."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                arrays: Dict[str, "np.ndarray"] = {
                    name: archive[name] for name in cls.__dataclass_fields__
                }
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"{path} cannot be read: {error}; reinstall edge_tts", code="model.file_damaged"
            ) from error
        channels = arrays.pop("channels")
        return cls(channels=channels, **{k: v.astype(np.float32) for k, v in arrays.items()})

    def predict(self, acoustics: "Acoustics") -> "np.ndarray":
        """Means and variances float32 [2, M, 1] of the norms of an utterance."""
        described = describe(acoustics).astype(np.float32)
        standard = np.clip((described - self.centre) * self.weight, -self.limit, self.limit)
        values = standard @ self.projection @ self.basis * self.scale + self.offset
        means, log_variances = values.reshape(2, -1, 1)
        return np.stack([means, np.exp(log_variances)])
