"""The memory ladder: what is given up, in which order, as the tree nears its budget.

A pure state machine: the caller measures, tells the time and carries the steps out.
`docs/service.md` holds the table.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Dict, List, Optional


class Step(enum.IntEnum):
    """Steps of the ladder, the mildest first."""

    NONE = 0
    TRIM = 1
    """Drop caches, ask the worker to give memory back."""
    RECYCLE = 2
    """Replace the worker at the next moment it is idle."""
    REFUSE = 3
    """Take no new work."""
    STOP_LARGEST = 4
    """End everything of the session that holds most."""
    RESTART = 5
    """Replace the worker now; speech goes on from where it stopped."""
    EXIT = 6
    """End the service; the service manager starts a new one."""


@dataclass(frozen=True)
class Ladder:
    """`fractions` of the budget at which each step is taken; `again_s` between repetitions."""

    trim: float = 0.80
    recycle: float = 0.85
    refuse: float = 0.90
    stop_largest: float = 0.94
    restart: float = 0.97
    exit: float = 1.0
    relief: float = 0.03
    """A step is left once the tree has fallen this far below the step's fraction."""
    again_s: float = 30.0

    def fraction(self, step: Step) -> float:
        """Share of the budget at which `step` is taken."""
        fractions = (0.0, self.trim, self.recycle, self.refuse, self.stop_largest, self.restart)
        return self.exit if step is Step.EXIT else fractions[step]


class Budget:
    """Watches one number against the ladder."""

    def __init__(self, budget_mib: float, ladder: Optional[Ladder] = None) -> None:
        self.budget_mib = budget_mib
        self._ladder = ladder or Ladder()
        self.step = Step.NONE
        self.peak_mib = 0.0
        self.taken: Dict[Step, int] = dict.fromkeys(list(Step)[1:], 0)
        """How often each step has been taken."""
        self._taken_at_s: Dict[Step, float] = {}

    def measured(self, used_mib: float, now_s: float) -> List[Step]:
        """Take a measurement; returns the steps to carry out now, the mildest first.

        Steps between the present one and the one called for are all taken. While the tree stays
        above a step's fraction, the step is taken again every `again_s`; EXIT at once.
        """
        self.peak_mib = max(self.peak_mib, used_mib)
        called_for = self._called_for(used_mib / self.budget_mib)
        due = [step for step in list(Step)[1:] if step <= called_for and self._is_due(step, now_s)]
        self.step = called_for
        for step in due:
            self.taken[step] += 1
            self._taken_at_s[step] = now_s
        return due

    @property
    def refuses(self) -> bool:
        """True while no new work should be taken."""
        return self.step >= Step.REFUSE

    def _called_for(self, fraction: float) -> Step:
        reached = [step for step in Step if fraction >= self._ladder.fraction(step)]
        kept = [
            step
            for step in Step
            if step <= self.step and fraction >= self._ladder.fraction(step) - self._ladder.relief
        ]
        return max(reached + kept)

    def _is_due(self, step: Step, now_s: float) -> bool:
        if step > self.step:
            return True
        return now_s - self._taken_at_s.get(step, -self._ladder.again_s) >= self._ladder.again_s
