"""Which precision each engine of a voice is stored in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Mapping

from edge_tts.errors import InputError

FP32, INT8, INT4 = "fp32", "int8", "int4"

QUANTISABLE = {
    "text_encoder": (FP32, INT8, INT4),
    "lm": (FP32, INT8, INT4),
    "flow_encoder": (FP32, INT8, INT4),
    "estimator": (FP32, INT8, INT4),
}
"""The engines whose time and size are in linear layers. The vocoder's are in convolutions."""

PRESETS: Mapping[str, Mapping[str, str]] = {
    "exact": {},
    "balanced": {"lm": INT8, "text_encoder": INT8},
    "small": {"lm": INT4, "text_encoder": INT8, "flow_encoder": INT8},
}
"""The estimator runs ten times per chunk and adds up its noise, so it is quantised last."""


@dataclass(frozen=True)
class Precision:
    """The precision by engine; engines not named are fp32."""

    by_part: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> "Precision":
        """A preset's name, or `lm=int4,flow_encoder=int8`. Raises InputError."""
        if text in PRESETS:
            return cls(PRESETS[text])
        chosen: Dict[str, str] = {}
        for item in text.split(","):
            part, _, kind = item.strip().partition("=")
            if kind not in QUANTISABLE.get(part, ()):
                raise InputError(
                    f"the precision {item!r} is not understood; give a preset "
                    f"({', '.join(PRESETS)}) or a list such as lm=int4,flow_encoder=int8 of "
                    f"{', '.join(QUANTISABLE)} and {', '.join((FP32, INT8, INT4))}"
                )
            chosen[part] = kind
        return cls(chosen)

    def of(self, part: str) -> str:
        """The precision of one engine."""
        return self.by_part.get(part, FP32)

    @property
    def name(self) -> str:
        """A short name for a voice's version."""
        for name, by_part in PRESETS.items():
            if dict(by_part) == dict(self.by_part):
                return "fp32" if name == "exact" else name
        return "mixed"
