"""The loop that both networks are trained in. Resumable at any moment.

RUN/NAME.pt holds everything needed to go on; RUN/NAME.jsonl the curve. SIGTERM and SIGINT finish
the step, save and leave.
"""

from __future__ import annotations

import abc
import copy
import json
import logging
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Optional

import numpy as np
import torch
from torch import Tensor, nn

log = logging.getLogger(__name__)

WARM_UP_STEPS = 100
GRADIENT_CLIP = 1.0
AVERAGE = 0.998
"""Share of the running average that a step keeps; the average is what speaks."""

SEED = 1


class Task(abc.ABC):
    """A network and what it is trained on."""

    name: str
    network: nn.Module
    learning_rate: float

    @abc.abstractmethod
    def loss(self, rng: np.random.Generator) -> Tensor:
        """Loss of the network on a random batch."""

    @abc.abstractmethod
    def held_out(self, network: nn.Module) -> Dict[str, float]:
        """Figures of `network`, the running average, on what is never trained on."""


@dataclass(frozen=True)
class Limits:
    """When a call ends: at a step counted from the run's beginning, or after `minutes`."""

    steps: int
    minutes: Optional[float] = None
    report_every: int = 50


class Trainer:
    """A task, its optimiser and the running average of its network."""

    def __init__(self, task: Task, run: Path) -> None:
        self.task = task
        self.run = run
        self.step = 0
        self.cpu_s = 0.0
        self.average = copy.deepcopy(task.network).eval()
        self._optimizer = torch.optim.AdamW(
            task.network.parameters(), lr=task.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
        )
        if self._path.exists():
            self._resume()

    @property
    def _path(self) -> Path:
        return self.run / f"{self.task.name}.pt"

    def _resume(self) -> None:
        saved = torch.load(self._path, weights_only=True)
        self.task.network.load_state_dict(saved["network"])
        self.average.load_state_dict(saved["average"])
        self._optimizer.load_state_dict(saved["optimizer"])
        self.step, self.cpu_s = saved["step"], saved["cpu_s"]

    def save(self) -> None:
        """Write the checkpoint under a temporary name and rename it."""
        scratch = self._path.with_suffix(".tmp")
        state = {
            "network": self.task.network.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": self.step,
            "cpu_s": self.cpu_s,
        }
        torch.save(state, scratch)
        scratch.replace(self._path)

    def advance(self) -> float:
        """One step of the optimiser; returns the loss."""
        began = time.process_time()
        rate = self.task.learning_rate * min(1.0, (self.step + 1) / WARM_UP_STEPS)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self.task.network.train()
        # Seeded by the step, so that a run that was stopped goes on as if it had not been.
        torch.manual_seed(SEED + self.step)
        loss = self.task.loss(np.random.default_rng(SEED + self.step))
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.task.network.parameters(), GRADIENT_CLIP)
        self._optimizer.step()
        self._update_average()
        self.step += 1
        self.cpu_s += time.process_time() - began
        return float(loss.detach())

    def _update_average(self) -> None:
        keep = min(AVERAGE, (self.step + 1) / (self.step + 10))
        slow, fast = (list(m.parameters()) for m in (self.average, self.task.network))
        with torch.no_grad():
            torch._foreach_lerp_(slow, fast, 1 - keep)

    def report(self, mean_loss: float) -> None:
        """Append a line to the curve and log it."""
        with torch.no_grad():
            figures = self.task.held_out(self.average)
        entry = {"step": self.step, "cpu_s": round(self.cpu_s), "loss": round(mean_loss, 4)}
        entry.update({name: round(value, 4) for name, value in figures.items()})
        with (self.run / f"{self.task.name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        log.info("%s %s", self.task.name, entry)


def train(trainer: Trainer, limits: Limits) -> None:
    """Run until the steps, the time or a signal end it; always leaves a checkpoint."""
    stop = _Stop()
    deadline_s = None if limits.minutes is None else time.monotonic() + 60 * limits.minutes
    losses = []
    while trainer.step < limits.steps and not stop.wanted:
        losses.append(trainer.advance())
        if deadline_s is not None and time.monotonic() > deadline_s:
            stop.wanted = True
        if trainer.step % limits.report_every == 0 or stop.wanted:
            trainer.save()
            trainer.report(float(np.mean(losses)))
            losses.clear()
    trainer.save()


class _Stop:
    """Set by SIGTERM or SIGINT."""

    def __init__(self) -> None:
        self.wanted = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        self.wanted = True
