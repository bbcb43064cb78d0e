"""Train the student. Resumable at any moment; runs on a GPU where there is one.

    python -m edge_tts.build.fast_voice.train DATA RUN [--steps N] [--minutes M] [--init CHECKPOINT]

RUN/checkpoint.pt holds everything needed to go on; RUN/history.jsonl the curve. The last steps of
`--steps` lower the learning rate; a later call with more steps raises it again and goes on.
"""

from __future__ import annotations

import argparse
import copy
import json
import logging
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np
import torch
from torch import Tensor, nn

from edge_tts.build.fast_voice.dataset import Batch, Dataset, Utterance
from edge_tts.build.fast_voice.losses import LossValues, StudentLoss
from edge_tts.build.fast_voice.model import FRAME_SAMPLES, Student, StudentConfig, gflop_per_second
from edge_tts.build.fast_voice.warm_start import read_average, warm_start

log = logging.getLogger(__name__)

WARM_UP_STEPS = 200
BETAS = (0.8, 0.99)
GRADIENT_CLIP = 5.0
VOICED_HZ = 60.0
UNSEEN_LEFT_FRAMES = 8
RIGHT_EDGE_FRAMES = 2

FEATURE_NOISE, POOL_NOISE = 0.1, 0.3
"""Noise on what the student is given, in standard deviations. Without it, half an hour of speech is
learnt by heart: 2.2 dB from what was trained on and 2.9 from what was held out, at step 5800."""


@dataclass(frozen=True)
class TrainingOptions:
    """Everything that shapes a run. The last `decay_share` of the steps lower the rate to 3 %."""

    steps: int = 60000
    decay_share: float = 0.3
    batch_size: int = 8
    window_frames: int = 64
    learning_rate: float = 1e-3
    ema: float = 0.999
    checkpoint_every: int = 250
    seed: int = 1

    def rate(self, step: int) -> float:
        """Learning rate at `step`: linear warm-up, plateau, linear decay."""
        warm = min(1.0, (step + 1) / WARM_UP_STEPS)
        left = min(1.0, max(0.0, (1 - step / self.steps) / self.decay_share))
        return self.learning_rate * warm * (0.03 + 0.97 * left)


class Trainer:
    """A student, its running average, the optimiser and the curve so far."""

    def __init__(self, run: Path, config: StudentConfig, options: TrainingOptions) -> None:
        self.run = run
        self.options = options
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.student = Student(config).to(self.device)
        self.loss = StudentLoss().to(self.device)
        self.optimizer = torch.optim.AdamW(
            self.student.parameters(),
            lr=options.learning_rate,
            betas=BETAS,
            weight_decay=0.01,
            fused=True,
        )
        self.step = 0
        self.average = copy.deepcopy(self.student).eval()

    def resume(self) -> bool:
        """Load RUN/checkpoint.pt when there is one."""
        path = self.run / "checkpoint.pt"
        if not path.exists():
            return False
        saved = torch.load(path, map_location=self.device, weights_only=True)
        self.student.load_state_dict(saved["student"])
        self.average.load_state_dict(saved["average"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.step = saved["step"]
        return True

    def save(self) -> None:
        """Write the checkpoint under a temporary name and rename it."""
        state = {
            "config": asdict(self.student.config),
            "student": self.student.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
        }
        scratch = self.run / "checkpoint.tmp"
        torch.save(state, scratch)
        scratch.replace(self.run / "checkpoint.pt")

    def begin(self, utterances: List[Utterance], init: Optional[Path]) -> None:
        """Start from another run's checkpoint `init`, or from nothing but the data's statistics."""
        if init is None:
            self._standardise(utterances)
        else:
            warm_start(self.student, read_average(init, self.device))
        self.average.load_state_dict(self.student.state_dict())

    def _standardise(self, utterances: List[Utterance]) -> None:
        """Set the input statistics, once, from the first data."""
        x = torch.cat([u.x[:, ::4].float() for u in utterances], 1).T
        columns = {
            "x": x,
            "pool": torch.stack([u.pool for u in utterances]),
            "style": torch.stack([u.style for u in utterances]),
        }
        for name, rows in columns.items():
            getattr(self.student, f"{name}_mean").copy_(rows.mean(0))
            getattr(self.student, f"{name}_std").copy_(rows.std(0) + 1e-3)

    def advance(self, batch: Batch) -> LossValues:
        """One optimiser step."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.rate(self.step)
        self.student.train()
        values = self._losses(Batch(**{k: v.to(self.device) for k, v in vars(batch).items()}))
        self.optimizer.zero_grad()
        values.total.backward()
        nn.utils.clip_grad_norm_(self.student.parameters(), GRADIENT_CLIP)
        self.optimizer.step()
        self.step += 1
        self._update_average()
        return values

    def _losses(self, batch: Batch) -> LossValues:
        student = self.student
        x = batch.x + FEATURE_NOISE * student.x_std[:, None] * torch.randn_like(batch.x)
        pool = batch.pool + POOL_NOISE * student.pool_std * torch.randn_like(batch.pool)
        condition = student.conditioning(batch.style, pool)
        audio, harmonic = student(x, batch.f0_hz, batch.energy, condition, batch.source)
        # The first frames of a window lack the context that running speech has.
        samples = slice(UNSEEN_LEFT_FRAMES * FRAME_SAMPLES, -RIGHT_EDGE_FRAMES * FRAME_SAMPLES)
        up = student.config.upsampling
        frames = slice(UNSEEN_LEFT_FRAMES * up, -RIGHT_EDGE_FRAMES * up)
        f0_hz = batch.f0_hz[:, : -student.config.look_ahead]
        voiced = (f0_hz > VOICED_HZ).float().repeat_interleave(FRAME_SAMPLES, 1)
        spectra = (harmonic[:, frames], student.stft(batch.audio)[:, frames])
        loss: LossValues = self.loss(
            audio[:, samples],
            batch.audio[:, samples],
            student.istft(harmonic)[:, samples],
            spectra,
            voiced[:, samples],
        )
        return loss

    def _update_average(self) -> None:
        keep = min(self.options.ema, self.step / (self.step + 10))
        slow, fast = (list(m.parameters()) for m in (self.average, self.student))
        with torch.no_grad():
            torch._foreach_lerp_(slow, fast, 1 - keep)


def render(student: Student, utterance: Utterance) -> Tensor:
    """The student's audio for a whole utterance, [300 T], on the student's device."""
    device = student.x_mean.device
    ahead = student.config.look_ahead
    with torch.no_grad():
        condition = student.conditioning(
            utterance.style[None].to(device), utterance.pool[None].to(device)
        )
        x, f0_hz, energy = (
            nn.functional.pad(t[None].float().to(device), (0, ahead))
            for t in (utterance.x, utterance.f0_hz, utterance.energy)
        )
        audio, _ = student(x, f0_hz, energy, condition, utterance.source[None].to(device))
    return audio[0].cpu()


def voiced_mel_distance(trainer: Trainer, utterances: List[Utterance]) -> float:
    """Mean absolute log-mel difference in dB over audible frames of held-out speech."""
    distances = []
    for utterance in utterances:
        audio = render(trainer.average, utterance)
        got, want = (
            trainer.loss._log_mel(trainer.loss._magnitude(samples[None].to(trainer.device), 1024))
            for samples in (audio, utterance.audio)
        )
        audible = want.mean(2) > -1.5
        distances.append(20 * float((got - want).abs().mean(2)[audible].mean()))
    return float(np.mean(distances))


class Stop:
    """Set by SIGTERM or SIGINT: finish the step, save, leave."""

    def __init__(self) -> None:
        self.wanted = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        self.wanted = True


def report(
    trainer: Trainer, sums: Dict[str, float], n: int, dataset: Dataset, began: float
) -> None:
    """Append a line to the curve and print it."""
    entry: Dict[str, Any] = {name: round(total / n, 4) for name, total in sums.items()}
    entry["step"] = trainer.step
    entry["validation_mel_db"] = round(voiced_mel_distance(trainer, dataset.held_out[:16]), 3)
    entry["utterances"] = dataset.refresh()
    entry["cpu_seconds_per_step"] = round((time.process_time() - began) / n, 3)
    with (trainer.run / "history.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\n")
    log.info("%s", " ".join(f"{key}={value}" for key, value in entry.items()))


def train(trainer: Trainer, dataset: Dataset, minutes: Optional[float]) -> None:
    """Run until the planned steps, the time or a signal ends it; always leaves a checkpoint."""
    stop = Stop()
    options = trainer.options
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    while trainer.step < options.steps and not stop.wanted:
        batches = dataset.batches(
            trainer.student.config,
            options.batch_size,
            options.window_frames,
            options.seed + trainer.step,
        )
        began, n = time.process_time(), 0
        sums = dict.fromkeys(LossValues.__dataclass_fields__, 0.0)
        for batch in batches:
            values = trainer.advance(batch)
            n += 1
            for name in sums:
                sums[name] += getattr(values, name).item()
            if deadline is not None and time.monotonic() > deadline:
                stop.wanted = True
            if stop.wanted or trainer.step % options.checkpoint_every == 0:
                break
        trainer.save()
        report(trainer, sums, n, dataset, began)


def main() -> int:
    parser = argparse.ArgumentParser(description="Train the fast voice's generator.")
    parser.add_argument("data", type=Path, help="folder of teacher utterances")
    parser.add_argument(
        "run", type=Path, help="folder of this run; resumed when it has a checkpoint"
    )
    parser.add_argument("--steps", type=int, default=TrainingOptions.steps)
    parser.add_argument("--init", type=Path, help="checkpoint of another run to start from")
    parser.add_argument("--minutes", type=float, help="stop after this time, ready to resume")
    parser.add_argument("--threads", type=int, help="CPU threads")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    arguments.run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(TrainingOptions.seed)
    trainer = Trainer(arguments.run, StudentConfig(), TrainingOptions(steps=arguments.steps))
    dataset = Dataset(arguments.data)
    if not trainer.resume():
        trainer.begin(dataset.training, arguments.init)
    n_parameters = sum(p.numel() for p in trainer.student.parameters())
    cost = gflop_per_second(trainer.student.config)
    log.info(
        "%.2f M parameters, %.2f GFLOP per second, step %d", n_parameters / 1e6, cost, trainer.step
    )
    train(trainer, dataset, arguments.minutes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
