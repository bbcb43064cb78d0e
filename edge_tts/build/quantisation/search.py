"""Which layers to keep in fp32 so that an engine stays near enough, found by trying."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Callable, Sequence, Tuple

from edge_tts.build.quantisation.calibration import LayerError


@dataclass(frozen=True)
class Found:
    """The layers kept, what the engine's ratio is with them, and how many were tried."""

    kept: Tuple[str, ...]
    snr_db: float
    n_trials: int
    reached: bool


def keep_sensitive(
    errors: Sequence[LayerError],
    trial: Callable[[Tuple[str, ...]], float],
    target_db: float,
    budget_s: float,
) -> Found:
    """Keep the layers with the largest errors of their own, more of them until `target_db`.

    `trial` measures an engine that keeps the given layers. The number kept doubles until it is
    enough, then is halved back to the fewest that are. Stops after `budget_s` with the best found.
    """
    names = [error.name for error in errors]
    deadline_s = time.monotonic() + budget_s
    tried = {0: trial(())}
    too_few, enough = 0, 0 if tried[0] >= target_db else None
    n_kept = 1
    while enough is None and n_kept <= len(names) and time.monotonic() < deadline_s:
        tried[n_kept] = trial(tuple(names[:n_kept]))
        if tried[n_kept] >= target_db:
            enough = n_kept
        else:
            too_few, n_kept = n_kept, _next(n_kept, len(names))
    while enough is not None and enough - too_few > 1 and time.monotonic() < deadline_s:
        middle = (enough + too_few) // 2
        tried[middle] = trial(tuple(names[:middle]))
        enough, too_few = (middle, too_few) if tried[middle] >= target_db else (enough, middle)
    best = enough if enough is not None else max(tried, key=lambda n: tried[n])
    return Found(tuple(names[:best]), tried[best], len(tried), enough is not None)


def _next(n_kept: int, n_all: int) -> int:
    """Twice as many; all of them before giving up."""
    return n_all if n_kept < n_all < 2 * n_kept else 2 * n_kept
