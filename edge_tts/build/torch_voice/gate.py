"""How far a built voice may be from its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from edge_tts.build.quantisation.kinds import FP16, FP32, INT4, INT8, INT8_WEIGHTS
from edge_tts.build.voice_directory import gate_record
from edge_tts.errors import ModelError
from edge_tts.voices.manifest import Gate

_DIVERGENCE_LIMITS = {FP32: 1e-3, FP16: 1e-2, INT8: 0.1, INT8_WEIGHTS: 0.1, INT4: 0.5}
"""In nats. Set without a trained checkpoint at hand: wide enough for random weights."""


@dataclass(frozen=True)
class Distance:
    """How far a voice is from its checkpoint.

    `sound_db` is the mean log-mel distance for the same codes and `sound_snr_db` the
    signal-to-noise ratio of the samples, where it was measured; `divergence` is the mean
    Kullback-Leibler divergence of the next code's distributions, in nats.
    """

    sound_db: float
    divergence: float
    sound_snr_db: float = 0.0


def accept(distance: Distance, limit_db: float, token_precisions: Iterable[str]) -> Gate:
    """The manifest's record.

    `limit_db` is that of the sound, `token_precisions` those of the parts that yield codes. Raises
    ModelError when such a voice should be closer to its checkpoint than this.
    """
    limit = max(_DIVERGENCE_LIMITS[precision] for precision in token_precisions)
    # Written so that a distance that is not a number is refused as well.
    if not (distance.sound_db <= limit_db and distance.divergence <= limit):
        raise ModelError(
            f"the voice differs from its checkpoint by {distance.sound_db:.2f} dB (at most "
            f"{limit_db}) and {distance.divergence:.4f} nats (at most {limit}); nothing was "
            "written, choose a higher --precision",
            code="model.gate_failed",
        )
    return gate_record(distance.sound_db, limit_db)
