"""Which precision each engine of a voice is stored in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Mapping, Tuple

from edge_tts.build.quantisation.kinds import FP16, FP32, INT4, INT8, INT8_WEIGHTS
from edge_tts.build.quantisation.layers import NOTHING, Exclusion
from edge_tts.errors import InputError

TEXT_TABLE = "text_table"
"""The text embedding. It is not an engine, but the largest file of CosyVoice 2."""

_LINEAR = (FP32, FP16, INT8, INT8_WEIGHTS, INT4)
_STORED = (FP32, FP16)
QUANTISABLE: Mapping[str, Tuple[str, ...]] = {
    "text_encoder": _LINEAR,
    "lm": _LINEAR,
    "flow_encoder": _LINEAR,
    "estimator": _LINEAR,
    "f0": _STORED,
    "vocoder": _STORED,
    TEXT_TABLE: _STORED,
}
"""The vocoder's time and size are in convolutions, which are stored in half at the most."""

GROUPS: Mapping[str, Tuple[str, ...]] = {"flow": ("flow_encoder", "estimator")}
"""Names for several engines at once."""

_SMALL = {"lm": INT4, "text_encoder": INT8, "flow_encoder": INT8, TEXT_TABLE: FP16}
PRESETS: Mapping[str, Mapping[str, str]] = {
    "exact": {},
    "balanced": {"lm": INT8, "text_encoder": INT8, TEXT_TABLE: FP16},
    "small": {**_SMALL, "estimator": FP16, "vocoder": FP16},
    "fast": {**_SMALL, "estimator": INT8},
}
"""The estimator runs ten times per chunk and adds up its noise, so it is quantised last."""

_NOT_IN_BITS: Mapping[str, Tuple[str, ...]] = {
    "estimator": ("*/block.0/*", "*/res_conv/*", "/*_blocks.?.2/*", "/final_proj/*")
}
"""Convolutions: a tenth of the estimator's work, but 5 dB of its error where they have 8 bits."""


@dataclass(frozen=True)
class Precision:
    """The precision by engine; engines not named are fp32. `kept` are layers that stay fp32."""

    by_part: Mapping[str, str]
    kept: Exclusion = NOTHING

    @classmethod
    def parse(cls, text: str, kept: Exclusion = NOTHING) -> "Precision":
        """A preset's name, or `lm=int4,flow=fp16`. Raises InputError."""
        if text in PRESETS:
            return cls(PRESETS[text], kept)
        chosen: Dict[str, str] = {}
        for item in text.split(","):
            name, _, kind = item.strip().partition("=")
            for part in GROUPS.get(name, (name,)):
                if kind not in QUANTISABLE.get(part, ()):
                    raise InputError(_unknown(item))
                chosen[part] = kind
        return cls(chosen, kept)

    def of(self, part: str) -> str:
        """The precision of one engine."""
        return self.by_part.get(part, FP32)

    def kept_of(self, part: str) -> Exclusion:
        """The layers of one engine that stay fp32; halves are near enough everywhere."""
        if self.of(part) in _STORED:
            return self.kept
        return Exclusion((*self.kept.names, *_NOT_IN_BITS.get(part, ())), self.kept.types)

    @property
    def name(self) -> str:
        """A short name for a voice's version."""
        for name, by_part in PRESETS.items():
            if dict(by_part) == dict(self.by_part):
                return "fp32" if name == "exact" else name
        return "mixed"


def _unknown(item: str) -> str:
    return (
        f"the precision {item!r} is not understood; give a preset ({', '.join(PRESETS)}) or a list "
        f"such as lm=int4,flow=fp16 of {', '.join((*QUANTISABLE, *GROUPS))} and "
        f"{', '.join(_LINEAR)} ({', '.join(_STORED)} only for f0, vocoder and {TEXT_TABLE})"
    )
