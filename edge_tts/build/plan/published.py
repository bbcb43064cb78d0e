"""Sizes of the voices that are planned for boards, from their published checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Tuple

from edge_tts.build.plan.sizes import PartSize, VoiceSize
from edge_tts.build.quantisation.kinds import FP16, FP32, INT8

MILLION = 1_000_000


@dataclass(frozen=True)
class Work:
    """Arithmetic per second of sound in GFLOP, counted on the official modules.

    `lm_gflop` is read-bound and only shown; `flow_gflop` is for ten guided steps.
    """

    lm_gflop: float
    flow_gflop: float
    vocoder_gflop: float
    first_tokens: int
    """Speech tokens before the first chunk of sound, 0 where there is no language model."""
    fp16_flow_fails: bool
    """Whether the flow gives no numbers in FP16, as users report of CosyVoice 1."""


@dataclass(frozen=True)
class Choice:
    """A precision for every part. Of parts named together in `turns` one is loaded at a time."""

    title: str
    by_part: Mapping[str, str]
    turns: Tuple[Tuple[str, ...], ...] = ()

    def of(self, part: str) -> str:
        """The precision of a part, fp16 where nothing is said."""
        return self.by_part.get(part, FP16)


@dataclass(frozen=True)
class PlannedVoice:
    """A voice and the choices worth comparing for it."""

    size: VoiceSize
    work: Work
    choices: Tuple[Choice, ...]


_KOKORO = PlannedVoice(
    VoiceSize("kokoro", (PartSize("kokoro", 82 * MILLION),), 0, 0, 0, 80.0),
    Work(0.0, 7.5, 49.0, 0, False),
    (Choice("fp16", {}),),
)
_FIRST = PlannedVoice(
    VoiceSize(
        "cosyvoice-300m",
        (
            PartSize("text_encoder", int(83.5 * MILLION)),
            PartSize("lm", int(181.7 * MILLION)),
            PartSize("flow_encoder", int(23.0 * MILLION)),
            PartSize("estimator", int(81.9 * MILLION)),
            PartSize("vocoder", int(20.5 * MILLION)),
        ),
        int(26.6 * MILLION),
        4 * 14 * 1024,
        50,
        86.13,
    ),
    Work(19.0, 162.0, 52.0, 120, True),
    (
        Choice("pure fp16", {}),
        Choice("fp16, flow fp32", {"estimator": FP32}),
        Choice("lm int8, flow fp32", {"lm": INT8, "estimator": FP32}),
        Choice(
            "lm int8, flow fp32, text encoder, lm and flow in turns",
            {"lm": INT8, "estimator": FP32},
            (("text_encoder", "lm", "estimator"),),
        ),
    ),
)
_SECOND = PlannedVoice(
    VoiceSize(
        "cosyvoice2-0.5b",
        (
            PartSize("lm", int(363.8 * MILLION)),
            PartSize("flow_encoder", int(41.2 * MILLION)),
            PartSize("estimator", int(71.3 * MILLION)),
            PartSize("vocoder", int(20.8 * MILLION)),
        ),
        int(136.1 * MILLION),
        4 * 24 * 128,
        25,
        50.0,
    ),
    Work(18.0, 155.0, 31.0, 28, False),
    (
        Choice("pure fp16", {}),
        Choice("lm int8", {"lm": INT8}),
        Choice("lm int8, flow int8", {"lm": INT8, "flow_encoder": INT8, "estimator": INT8}),
        Choice("lm int8, lm and flow in turns", {"lm": INT8}, (("lm", "estimator"),)),
    ),
)
VOICES: Tuple[PlannedVoice, ...] = (_KOKORO, _FIRST, _SECOND)


def find(name: str) -> Optional[PlannedVoice]:
    """The planned voice called `name`."""
    return next((voice for voice in VOICES if voice.size.name == name), None)
