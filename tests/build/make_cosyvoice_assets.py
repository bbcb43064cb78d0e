"""Make the voices that tests/voices speaks with: `python tests/build/make_cosyvoice_assets.py`.

Builds both tiny checkpoints, packs the voices into tests/voices/data and stores what torch makes of
a sentence beside them, so that the run time can be held to it where there is no torch.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Tuple

import numpy as np
from tiny_cosyvoice import write_checkpoint

from edge_tts.build.cosyvoice import constants
from edge_tts.build.cosyvoice.checkpoint import read_checkpoint
from edge_tts.build.cosyvoice.parts import parts
from edge_tts.build.cosyvoice.prepare import build
from edge_tts.build.torch_voice.export import TorchEngine
from edge_tts.voices.cosyvoice import assembly
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.sampling import Sampler

DATA = Path(__file__).resolve().parents[1] / "voices" / "data"
TEXT_IDS = np.arange(40, 52)
SEED = 5
EVERY = 16
"""Of the sound, every sixteenth sample is kept."""


def main() -> int:
    """Write `cosyvoice1.tar.xz`, `cosyvoice2.tar.xz` and `cosyvoice_expected.npz`."""
    DATA.mkdir(exist_ok=True)
    expected = {}
    with tempfile.TemporaryDirectory() as folder:
        for generation in (1, 2):
            name = f"cosyvoice{generation}"
            checkpoint = write_checkpoint(Path(folder) / f"checkpoint{generation}", generation)
            build(checkpoint, Path(folder) / name, print)
            tokens, sound = speak(checkpoint)
            expected[f"{name}.tokens"] = tokens
            expected[f"{name}.sound"] = sound[::EVERY]
            with tarfile.open(DATA / f"{name}.tar.xz", "w:xz") as archive:
                archive.add(Path(folder) / name, arcname=name)
    np.savez_compressed(DATA / "cosyvoice_expected.npz", **expected)
    return 0


def speak(path: Path) -> Tuple[np.ndarray, np.ndarray]:
    """Speech tokens and sound that torch makes of `TEXT_IDS` with the first speaker."""
    checkpoint = read_checkpoint(path)
    known, fixed = constants.tables(checkpoint), constants.settings(checkpoint)
    engines = {part.name: TorchEngine(part) for part in parts(checkpoint)}
    randomness = Randomness(SEED, len(known.mixer) - 1)
    embedding = next(iter(checkpoint.speakers.values())).embedding.numpy()
    text = assembly.text_model(known, engines.__getitem__)
    model = assembly.language_model(known, fixed, engines.__getitem__)
    prefix = text.prefix(TEXT_IDS, embedding, np.zeros(0, np.int64), model)
    sampler = Sampler(fixed, randomness.uniform)
    n = len(TEXT_IDS)
    tokens = np.array(list(model.generate(prefix, sampler, 2 * n, 20 * n)), np.int32)
    speaker = known.flow_speaker.of_direction(embedding)
    renderer = assembly.renderer(known, fixed, engines.__getitem__)
    return tokens, renderer.whole(tokens, FlowPrompt.empty(), speaker, randomness)


if __name__ == "__main__":
    sys.exit(main())
