"""Can these speech tokens be this text? The language model now and then loops or never stops."""

from __future__ import annotations

from typing import Optional

import numpy as np

_MAX_PERIOD = 12
_LOOP_SECONDS = 1.5


def implausible(
    tokens: "np.ndarray", n_text: int, max_tokens: int, token_rate_hz: int
) -> Optional[str]:
    """Why int tokens [n] cannot be a text of `n_text` ids, None when they can."""
    if len(tokens) >= max_tokens:
        return f"it did not stop within {max_tokens / token_rate_hz:.1f} s"
    if len(tokens) < n_text:
        return f"it stopped after {len(tokens) / token_rate_hz:.1f} s"
    period = loop_period(tokens, int(_LOOP_SECONDS * token_rate_hz))
    if period:
        return f"it repeats {period / token_rate_hz:.2f} s of speech for {_LOOP_SECONDS} s or more"
    return None


def loop_period(tokens: "np.ndarray", n_repeated: int) -> int:
    """The shortest period in which at least `n_repeated` tokens in a row repeat, 0 for none."""
    for period in range(1, _MAX_PERIOD + 1):
        if _longest_run(tokens[period:] == tokens[:-period]) >= n_repeated:
            return period
    return 0


def _longest_run(flags: "np.ndarray") -> int:
    """Longest stretch of True."""
    ends = np.flatnonzero(~np.concatenate([[False], flags, [False]]))
    return int(np.diff(ends).max()) - 1
