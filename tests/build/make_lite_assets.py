"""Make the lite voices that tests/voices speaks with: `python tests/build/make_lite_assets.py`.

Builds a tiny checkpoint of each interleaving, packs the voices into tests/voices/data and stores
what torch makes of a sentence beside them, so that the run time can be held to it where there is no
torch. Needs torch and sentencepiece.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Tuple

import numpy as np
from tiny_lite import write_checkpoint

from edge_tts.build.lite import constants
from edge_tts.build.lite.checkpoint import read_checkpoint
from edge_tts.build.lite.parts import parts
from edge_tts.build.lite.prepare import build
from edge_tts.build.torch_voice.export import TorchEngine
from edge_tts.voices.lite.codec import CodecDecoder
from edge_tts.voices.lite.language_model import LanguageModel
from edge_tts.voices.lite.sampling import Sampler

DATA = Path(__file__).resolve().parents[1] / "voices" / "data"
FORMS = {"flat": "official", "delay": "hf"}
TEXT_IDS = np.arange(3, 20)
SEED, N_FRAMES = 5, 30
EVERY = 16
"""Of the sound, every sixteenth sample is kept."""


def main() -> int:
    """Write `lite_flat.tar.xz`, `lite_delay.tar.xz` and `lite_expected.npz`."""
    expected = {}
    with tempfile.TemporaryDirectory() as folder:
        for interleaving, form in FORMS.items():
            name = f"lite_{interleaving}"
            source = Path(folder) / f"checkpoint_{interleaving}"
            checkpoint = write_checkpoint(source, interleaving=interleaving, form=form)
            build(checkpoint, Path(folder) / name, print)
            codes, sound = speak(checkpoint)
            expected[f"{name}.codes"] = codes
            expected[f"{name}.sound"] = sound[::EVERY]
            with tarfile.open(DATA / f"{name}.tar.xz", "w:xz") as archive:
                archive.add(Path(folder) / name, arcname=name)
    np.savez_compressed(DATA / "lite_expected.npz", **expected)
    return 0


def speak(path: Path) -> Tuple[np.ndarray, np.ndarray]:
    """Codes and sound that torch makes of `TEXT_IDS`."""
    checkpoint = read_checkpoint(path, print)
    known, fixed = constants.tables(checkpoint), constants.settings(checkpoint)
    engines = {part.name: TorchEngine(part) for part in parts(checkpoint)}
    model = LanguageModel(engines["encoder"], engines["decoder"], known, fixed)
    uniform = np.random.RandomState(SEED).random_sample
    sampler = Sampler(fixed.sampling, fixed.codec, uniform)
    codes = np.array(list(model.generate(TEXT_IDS, sampler, N_FRAMES, N_FRAMES)))
    codec = CodecDecoder(engines["codec"], known.codebooks, known.codec_state)
    return codes, codec.stream().decode(codes)


if __name__ == "__main__":
    sys.exit(main())
