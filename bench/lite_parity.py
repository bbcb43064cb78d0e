"""Does a lite voice compute what `transformers` and the `encodec` package do?

    python bench/lite_parity.py [--quick] [--keep DIR]

Checkpoints with random weights, tiny and (without --quick) of full size, both interleavings,
EnCodec in both published forms. Compared: scores of a prefill and of single steps, greedy codes,
codes sampled with the same random numbers, sound whole and in chunks. Exits 1 if anything misses
its tolerance. Needs torch, transformers, encodec and sentencepiece.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from pathlib import Path
from typing import List, Sequence

import numpy as np
import torch
from lite_checkpoints import FULL, TINY, Size, decode, read_codec, read_t5, write
from lite_reference import Reference

from edge_tts.build.lite.prepare import build
from edge_tts.text.tokens import Language
from edge_tts.voices.lite.cache import SelfCache
from edge_tts.voices.lite.interleaving import frames
from edge_tts.voices.lite.sampling import Sampler
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tokenizer import TextTokenizer
from edge_tts.voices.lite.voice import Stages
from edge_tts.voices.manifest import VoiceDirectory

TEXT = "前方三百米左转，进入长安街。"
SCORES, SOUND, JOINTS = 2e-5, 2e-5, 5e-6
"""Largest difference: of scores relative to the largest, of samples relative to the loudest."""

CHUNKINGS = ([7] + [1] * 12 + [30, 3], [9, 40, 2], [25, 20, 8], [52])
SHORT = (1, 2, 3, 6, 7, 8)


class Table:
    """Prints one line per comparison and counts the misses."""

    def __init__(self) -> None:
        self.n_lines = self.n_misses = 0

    def line(self, name: str, found: float, limit: float) -> None:
        is_miss = not found <= limit
        self.n_lines += 1
        self.n_misses += is_miss
        print(f"  {'MISS' if is_miss else 'ok  '} {name:<46} {found:.2e} (at most {limit:.0e})")


class Comparison:
    """One checkpoint, ours against theirs."""

    def __init__(self, checkpoint: Path, voice: Path, size: Size, table: Table) -> None:
        self._table = table
        directory = VoiceDirectory.read(voice)
        self.settings = Settings.read(directory.file("settings"))
        self.stages = Stages.open(directory, self.settings)
        self.reference = Reference(read_t5(checkpoint), size, self.settings.codec)
        self.their_codec = read_codec(checkpoint, size)
        tokenizer = TextTokenizer.read(directory.file("tokenizer"), self.settings)
        self.text_ids = tokenizer.encode(TEXT, Language.ZH, "first")
        self.random = np.random.RandomState(3)

    def run(self, n_frames: int) -> None:
        """Everything."""
        self.scores(n_frames)
        self.codes("greedy", n_frames, is_greedy=True)
        self.codes("sampled", n_frames, is_greedy=False)
        if self.settings.codec.interleaving == "flat":
            self.generated("greedy", n_frames, is_greedy=True)
            self.generated("sampled", n_frames, is_greedy=False)
        self.sound()
        self.stages.close()

    def scores(self, n_frames: int) -> None:
        layout, model = self.settings.codec, self.stages.model
        n_rows = 1 if layout.interleaving == "flat" else layout.n_codebooks
        rows = self.random.randint(
            0, layout.stop_id, (layout.positions_per_frame * n_frames, n_rows)
        )
        rows[0] = layout.start_row
        wanted = self.reference.teacher_forced(self.text_ids, rows)
        cross, n_prefill = model.read(self.text_ids), len(rows) // 3
        cache = SelfCache(self.settings, len(rows))
        found = [model.step(rows[:n_prefill], cache, cross)]
        found += [model.step(rows[i : i + 1], cache, cross) for i in range(n_prefill, len(rows))]
        worst = np.abs(np.stack(found) - wanted[n_prefill - 1 :]).max() / np.abs(wanted).max()
        self._table.line(
            f"scores: prefill of {n_prefill}, then steps to {len(rows)}", worst, SCORES
        )

    def sampler(self, is_greedy: bool) -> Sampler:
        """Without the guard, which `transformers` does not have."""
        sampling = dataclasses.replace(self.settings.sampling, is_greedy=is_greedy, repeat_window=0)
        return Sampler(sampling, self.settings.codec, iter(self.uniforms()).__next__)

    def uniforms(self) -> np.ndarray:
        return np.random.RandomState(11).random_sample(20_000)

    def codes(self, name: str, n_frames: int, *, is_greedy: bool) -> None:
        """The same loop over their steps and over ours."""
        layout = self.settings.codec
        step = self.reference.stepper(self.text_ids)
        wanted = list(frames(layout, step, self.sampler(is_greedy), n_frames, n_frames))
        self._table.line(f"{name} codes, steps by transformers", self.unequal(wanted, is_greedy), 0)

    def generated(self, name: str, n_frames: int, *, is_greedy: bool) -> None:
        sampling = dataclasses.replace(self.settings.sampling, is_greedy=is_greedy)
        wanted = self.reference.generate(self.text_ids, sampling, self.uniforms(), n_frames)
        self._table.line(
            f"{name} codes, transformers' generate", self.unequal(wanted, is_greedy), 0
        )

    def unequal(self, wanted: Sequence[np.ndarray], is_greedy: bool) -> float:
        """How many of our codes differ."""
        n = len(wanted)
        found = list(self.stages.model.generate(self.text_ids, self.sampler(is_greedy), n, n))
        return float(np.count_nonzero(np.array(found) != np.array(wanted)))

    def sound(self) -> None:
        layout = self.settings.codec
        codes = self.random.randint(0, layout.codebook_size, (52, layout.n_codebooks))
        wanted = decode(self.their_codec, torch.from_numpy(codes)).numpy()
        loudest = np.abs(wanted).max()
        for sizes in CHUNKINGS:
            worst = np.abs(self.streamed(codes, sizes) - wanted).max() / loudest
            self._table.line(f"sound in {len(sizes)} chunks against theirs", worst, SOUND)
            joints = (
                np.abs(self.streamed(codes, sizes) - self.streamed(codes, [52])).max() / loudest
            )
            self._table.line(f"sound in {len(sizes)} chunks against one", joints, JOINTS)
        for n in SHORT:
            wanted = decode(self.their_codec, torch.from_numpy(codes[:n])).numpy()
            worst = np.abs(self.streamed(codes[:n], [n]) - wanted).max() / loudest
            self._table.line(f"sound of {n} frames", worst, SOUND)

    def streamed(self, codes: np.ndarray, sizes: List[int]) -> np.ndarray:
        stream = self.stages.codec.stream()
        parts = np.split(codes, np.cumsum(sizes)[:-1])
        return np.concatenate([stream.decode(part) for part in parts])


def compare(folder: Path, size: Size, interleaving: str, form: str, table: Table) -> None:
    """One checkpoint, built and compared."""
    kind = "tiny" if size is TINY else "full"
    name = f"{kind}_{interleaving}_{form}"
    print(f"{name}:")
    checkpoint = write(folder / name, size, interleaving, form)
    build(checkpoint, folder / f"voice_{name}", lambda line: None)
    Comparison(checkpoint, folder / f"voice_{name}", size, table).run(24 if size is TINY else 12)


def main(arguments: Sequence[str]) -> int:
    """Compare everything; 1 if anything missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny checkpoints only")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the checkpoints there")
    args = parser.parse_args(arguments)
    torch.set_num_threads(2)
    table = Table()
    cases = [(TINY, "flat", "official"), (TINY, "delay", "hugging_face")]
    if not args.quick:
        cases += [(FULL, "flat", "official"), (FULL, "delay", "hugging_face")]
    with tempfile.TemporaryDirectory(dir=args.keep) as temporary:
        for case in cases:
            compare(args.keep or Path(temporary), *case, table)
    print(f"{table.n_lines} comparisons, {table.n_misses} misses")
    return 1 if table.n_misses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
