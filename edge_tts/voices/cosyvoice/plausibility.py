"""Can these speech tokens be this text? The language model now and then loops or never stops.

The limits are wide on purpose: a fault costs the listener a second attempt. They were chosen from
how people speak, not measured on a trained model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Sequence

import numpy as np

from edge_tts.text.characters import HAN
from edge_tts.text.control_words import CONTROL_WORD

MIN_TOKENS_PER_ID = 2
MAX_TOKENS_PER_ID = 20
"""The official bounds of speech tokens per text id."""

_SECONDS_PER_CHARACTER = 0.22
_SECONDS_PER_LETTER = 0.07
_SECONDS_PER_CONTROL_WORD = 1.0
_SLOWEST, _FASTEST = 4.0, 0.2
_GRACE_SECONDS = 2.0

_LOOP_SECONDS = 1.5
_MAX_PERIOD_SECONDS = 2.0
_FLAT_SECONDS = 2.0
_MIN_DIFFERENT = 4

_CHARACTER = re.compile(f"[{HAN}]")
_LETTER = re.compile(f"[^\\W_{HAN}]")


def usual_seconds(text: str) -> float:
    """About how long people take to say `text`."""
    words = CONTROL_WORD.sub("", text)
    n_control = len(CONTROL_WORD.findall(text))
    return (
        _SECONDS_PER_CHARACTER * len(_CHARACTER.findall(words))
        + _SECONDS_PER_LETTER * len(_LETTER.findall(words))
        + _SECONDS_PER_CONTROL_WORD * n_control
    )


@dataclass(frozen=True)
class Watch:
    """Looks at the tokens of one segment while they are drawn; limits are numbers of tokens."""

    min_tokens: int
    max_tokens: int
    shortest: int
    token_rate_hz: int
    expected: int = 0
    """What people would usually take; it limits nothing."""

    @classmethod
    def over(cls, text: str, n_ids: int, token_rate_hz: int) -> "Watch":
        """For a text of `n_ids` ids."""
        usual = usual_seconds(text) * token_rate_hz
        low = MIN_TOKENS_PER_ID * n_ids
        longest = int(_SLOWEST * usual + _GRACE_SECONDS * token_rate_hz)
        high = max(low + 1, min(MAX_TOKENS_PER_ID * n_ids, longest))
        return cls(low, high, max(n_ids, int(_FASTEST * usual)), token_rate_hz, int(usual))

    def fault(self, tokens: Sequence[int], is_complete: bool) -> Optional[str]:
        """Why `tokens`, all of them or those so far, cannot be the text; None when they can."""
        if is_complete:
            return self._length_fault(len(tokens))
        period = self._period(tokens)
        if period:
            return f"it repeats {period / self.token_rate_hz:.2f} s of speech"
        if self._is_flat(tokens):
            return f"it hums or is silent for {_FLAT_SECONDS} s"
        return None

    def _length_fault(self, n_tokens: int) -> Optional[str]:
        if n_tokens >= self.max_tokens:
            return f"it did not stop within {self.max_tokens / self.token_rate_hz:.1f} s"
        if n_tokens < self.shortest:
            return f"it stopped after {n_tokens / self.token_rate_hz:.1f} s"
        return None

    def _period(self, tokens: Sequence[int]) -> int:
        """The shortest period that the end of `tokens` repeats, 0 for none.

        It repeats for `_LOOP_SECONDS` at least, and twice at least.
        """
        longest = int(_MAX_PERIOD_SECONDS * self.token_rate_hz)
        repeated = int(_LOOP_SECONDS * self.token_rate_hz)
        tail = np.array(tokens[-3 * longest :])
        before = tail[::-1][1 : longest + 1]
        for period in np.flatnonzero(before == tail[-1:]) + 1:
            n = max(repeated, 2 * int(period))
            if n + period <= len(tail) and np.array_equal(tail[-n:], tail[-n - period : -period]):
                return int(period)
        return 0

    def _is_flat(self, tokens: Sequence[int]) -> bool:
        """Whether a long stretch has hardly two tokens that differ, as silence has."""
        n = int(_FLAT_SECONDS * self.token_rate_hz)
        return len(tokens) >= n and len(set(tokens[-n:])) < _MIN_DIFFERENT
