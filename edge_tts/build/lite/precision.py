"""Which precision each engine of a lite voice is stored in."""

from __future__ import annotations

from typing import Dict, Mapping

from edge_tts.build.quantisation.kinds import FP16, FP32, INT4, INT8, INT8_WEIGHTS
from edge_tts.errors import InputError

KINDS = (FP32, FP16, INT8, INT8_WEIGHTS, INT4)
QUANTISABLE = ("encoder", "decoder")
"""The engines whose time and size are in linear layers. The codec's are in convolutions."""

PRESETS: Mapping[str, Mapping[str, str]] = {
    "exact": {},
    "balanced": {"encoder": INT8, "decoder": INT8},
    "small": {"encoder": INT8, "decoder": INT4},
}


def parse(text: str) -> Mapping[str, str]:
    """Precision by engine of a preset's name, or of `encoder=int8,decoder=int4`.

    Engines not named are fp32. Raises InputError.
    """
    if text in PRESETS:
        return PRESETS[text]
    chosen: Dict[str, str] = {}
    for item in text.split(","):
        part, _, kind = item.strip().partition("=")
        if part not in QUANTISABLE or kind not in KINDS:
            raise InputError(
                f"the precision {item!r} is not understood; give a preset ({', '.join(PRESETS)}) "
                f"or a list such as decoder=int4,encoder=int8 of {', '.join(QUANTISABLE)} and "
                f"{', '.join(KINDS)}"
            )
        chosen[part] = kind
    return chosen


def name_of(chosen: Mapping[str, str]) -> str:
    """A short name for a voice's version."""
    for name, by_part in PRESETS.items():
        if dict(by_part) == dict(chosen):
            return FP32 if name == "exact" else name
    return "mixed"
