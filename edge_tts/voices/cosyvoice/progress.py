"""Long computations that let go now and then, so that who waits for them may stop."""

from __future__ import annotations

from typing import Generator, TypeVar

import numpy as np

Result = TypeVar("Result")

NOTHING: "np.ndarray" = np.zeros(0, np.float32)
"""A piece of sound without samples: the chance to stop."""

Progress = Generator["np.ndarray", None, Result]
"""Yields `NOTHING` after every step and returns the result."""


def result_of(progress: "Progress[Result]") -> Result:
    """Go through all steps at once."""
    while True:
        try:
            next(progress)
        except StopIteration as stop:
            result: Result = stop.value
            return result
