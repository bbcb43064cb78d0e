"""Words in a text that steer a voice instead of being read: `[laughter]`, `<strong>`, `<|en|>`.

Some voices know some of them. The others leave them out, and the report says so.
"""

from __future__ import annotations

import re

_SOUNDS = (
    "accent",
    "breath",
    "clucking",
    "cough",
    "hissing",
    "laughter",
    "lipsmack",
    "mn",
    "noise",
    "quick_breath",
    "sigh",
    "vocalized-noise",
)
CONTROL_WORD = re.compile(
    rf"\[(?:{'|'.join(_SOUNDS)})\]|</?(?:strong|laughter)>|<\|[A-Za-z0-9_/.]{{1,20}}\|>"
)

PLACEHOLDER = "\ufffc"
"""Stands for one control word in a text that is being read; Unicode's mark for an object."""
