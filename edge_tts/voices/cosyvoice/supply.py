"""Speech tokens as sound needs them: drawn one by one, watched, and drawn anew when astray."""

from __future__ import annotations

import logging
from typing import Callable, Generator, Iterator, List, Optional, Sequence

import numpy as np

from edge_tts.errors import EngineError
from edge_tts.voices.cosyvoice.progress import NOTHING

Draw = Callable[[int, Sequence[int]], Generator[int, None, None]]
"""Begins a drawing: the number of the attempt and the tokens before it, to the tokens after."""
FaultOf = Callable[[Sequence[int], bool], Optional[str]]
"""Why the tokens so far cannot be the text, the flag being True when they are all; else None."""

log = logging.getLogger(__name__)


class Supply:
    """The tokens of one segment. `len()` is how many are drawn, `n_expected` about how many come.

    When a fault shows, the tokens that no sound was made of yet are taken back, and another attempt
    goes on after the others: what has been heard stays as it was.
    """

    def __init__(self, draw: Draw, fault_of: FaultOf, n_attempts: int, n_expected: int = 0) -> None:
        self.n_expected = n_expected
        self._draw = draw
        self._fault_of = fault_of
        self._n_attempts = n_attempts
        self._n_failed = 0
        self._tokens: List[int] = []
        self._n_taken = 0
        self._is_complete = False
        self._following = draw(0, ())

    @classmethod
    def of(cls, tokens: Sequence[int]) -> "Supply":
        """Tokens that are known already."""
        return cls(
            lambda _, kept: (int(token) for token in tokens), lambda *_: None, 1, len(tokens)
        )

    def __len__(self) -> int:
        return len(self._tokens)

    def drawn_to(self, n: int) -> Iterator["np.ndarray"]:
        """Draw until there are `n` tokens or no more; yields `NOTHING` after each.

        Raises EngineError `engine.implausible_speech` when the last attempt has failed.
        """
        while len(self._tokens) < n and not self._is_complete:
            self._draw_one()
            yield NOTHING

    def drawn_to_the_end(self) -> Iterator["np.ndarray"]:
        """Draw all of them, as `drawn_to` does; the model's cache is then given back."""
        while not self._is_complete:
            self._draw_one()
            yield NOTHING

    def take(self, start: int, end: int) -> "np.ndarray":
        """Tokens `start` to `end`, int32, as far as drawn; those before `end` are kept for good."""
        self._n_taken = max(self._n_taken, min(end, len(self._tokens)))
        return np.array(self._tokens[start:end], np.int32)

    def close(self) -> None:
        """End the drawing. Idempotent."""
        self._following.close()

    def _draw_one(self) -> None:
        token = next(self._following, None)
        if token is None:
            self._is_complete = True
        else:
            self._tokens.append(token)
        fault = self._fault_of(self._tokens, self._is_complete)
        if fault is not None:
            self._draw_anew(fault)

    def _draw_anew(self, fault: str) -> None:
        self._n_failed += 1
        log.warning("attempt %d at a segment failed: %s", self._n_failed, fault)
        self._following.close()
        if self._n_failed >= self._n_attempts:
            raise EngineError(
                f"the voice went astray {self._n_failed} times: {fault}; reword the text or use "
                "another voice",
                code="engine.implausible_speech",
            )
        del self._tokens[self._n_taken :]
        self._is_complete = False
        self._following = self._draw(self._n_failed, tuple(self._tokens))
