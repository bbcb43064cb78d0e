"""Train one network of the voice on the teacher's sentences.

    python -m edge_tts.build.lite_voice.train {codec,language_model} DATA RUN
        [--steps N] [--minutes M] [--threads N]

Both need only DATA, so they may be trained in any order and by turns. The first call fits RUN's
quantiser and vocabulary, which later calls keep.
"""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import List

import torch

from edge_tts.build.lite_voice.codec import CodecTask
from edge_tts.build.lite_voice.codes import Quantiser
from edge_tts.build.lite_voice.corpus import sentences
from edge_tts.build.lite_voice.language_model import LanguageModelTask
from edge_tts.build.lite_voice.recordings import Coded, coded, quantiser_of, read_folder
from edge_tts.build.lite_voice.training import SEED, Limits, Task, Trainer, train
from edge_tts.build.lite_voice.vocabulary import FILE_NAME, Vocabulary, write_model

CODEC, LANGUAGE_MODEL = "codec", "language_model"
DEFAULT_STEPS = 20_000


@dataclass(frozen=True)
class Run:
    """A run's folder with all that its networks are trained on."""

    folder: Path
    sentences: List[Coded]
    quantiser: Quantiser
    vocabulary: Vocabulary

    @classmethod
    def open(cls, data: Path, folder: Path) -> "Run":
        """Read DATA; fit what RUN lacks. Raises ValueError when DATA holds no sentences."""
        folder.mkdir(parents=True, exist_ok=True)
        recordings = read_folder(data)
        quantiser = quantiser_of(recordings, folder / "quantiser.npz")
        if not (folder / FILE_NAME).exists():
            write_model(sentences(), folder / FILE_NAME)
        return cls(folder, coded(recordings, quantiser), quantiser, Vocabulary(folder / FILE_NAME))

    def trainer(self, network: str) -> Trainer:
        """The trainer of `CODEC` or `LANGUAGE_MODEL` where the run left it."""
        torch.manual_seed(SEED)
        task: Task
        if network == CODEC:
            task = CodecTask(self.sentences, self.quantiser)
        else:
            task = LanguageModelTask(self.sentences, self.vocabulary)
        return Trainer(task, self.folder)


def main() -> int:
    parser = argparse.ArgumentParser(description="Train one network of a lite voice.")
    parser.add_argument("network", choices=(CODEC, LANGUAGE_MODEL))
    parser.add_argument("data", type=Path, help="folder of the teacher's sentences")
    parser.add_argument("run", type=Path, help="folder of this run; goes on where it was left")
    parser.add_argument("--steps", type=int, default=DEFAULT_STEPS)
    parser.add_argument("--minutes", type=float, help="stop after this time, ready to go on")
    parser.add_argument("--threads", type=int, help="CPU threads")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    trainer = Run.open(arguments.data, arguments.run).trainer(arguments.network)
    n_parameters = sum(p.numel() for p in trainer.task.network.parameters())
    logging.info("%.2f M parameters, step %d", n_parameters / 1e6, trainer.step)
    train(trainer, Limits(arguments.steps, arguments.minutes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
