"""Measure how well English words that the lexicon lacks are pronounced.

    python scripts/evaluate_english_g2p.py DIR [--cmudict FILE] [--words N]

Hides N words of misaki's gold lexicon (wheel in DIR) from ours, one at a time, pronounces them all
the same way as any unknown word, and prints the phoneme error rate. The network was trained on
CMUdict, so with `--cmudict` the words that CMUdict lacks are also counted on their own.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Callable, FrozenSet, List, NamedTuple, Optional, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_english_lexicon import wheel_file

from edge_tts.text.g2p.english_lexicon import EnglishLexicon, Entry
from edge_tts.text.g2p.english_sounds import unstressed
from edge_tts.text.g2p.english_words import EnglishWords
from edge_tts.text.g2p.letter_to_sound import LetterToSound

SEED = 7
MIN_LETTERS = 4


class Word(NamedTuple):
    """A spelling and what the gold lexicon says it sounds like."""

    spelling: str
    sound: str


class LexiconWithout(EnglishLexicon):
    """The lexicon with some spellings hidden."""

    hidden: FrozenSet[str] = frozenset()

    def find(self, word: str) -> Optional[Entry]:
        """As the lexicon, but None for a hidden spelling."""
        return None if word in self.hidden else super().find(word)


def sample_words(directory: Path, n_words: int) -> List[Word]:
    """Plain words with one reading, drawn with a fixed seed."""
    gold = json.loads(wheel_file(directory, "misaki-*.whl", "misaki/data/us_gold.json"))
    plain = [
        Word(spelling, sound)
        for spelling, sound in sorted(gold.items())
        if isinstance(sound, str) and len(spelling) >= MIN_LETTERS
        if spelling.isascii() and spelling.isalpha() and not spelling.isupper()
    ]
    return random.Random(SEED).sample(plain, n_words)


def distance(first: str, second: str) -> int:
    """Levenshtein distance."""
    previous = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        row = [i]
        for j, b in enumerate(second, start=1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (a != b)))
        previous = row
    return previous[-1]


def report(name: str, words: Sequence[Word], pronounce: Callable[[str], str]) -> None:
    """One line: error rates with and without stress marks, and words right throughout."""
    if not words:
        return
    pairs = [(word.sound, pronounce(word.spelling)) for word in words]
    stressed = sum(distance(*pair) for pair in pairs) / sum(len(sound) for sound, _ in pairs)
    plain = [(unstressed(sound), unstressed(guess)) for sound, guess in pairs]
    sounds = sum(distance(*pair) for pair in plain) / sum(len(sound) for sound, _ in plain)
    exact = sum(sound == guess for sound, guess in pairs) / len(pairs)
    print(
        f"{name:40s} words {len(words):5d}  phonemes {sounds:6.2%}  with stress {stressed:6.2%}  "
        f"exact {exact:5.1%}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheels", type=Path, help="folder with the misaki wheel")
    parser.add_argument("--cmudict", type=Path, help="cmudict.dict")
    parser.add_argument("--words", type=int, default=2000)
    args = parser.parse_args()
    words = sample_words(args.wheels, args.words)
    lexicon, network = LexiconWithout(), LetterToSound()

    def as_unknown(spelling: str) -> str:
        lexicon.hidden = frozenset({spelling, spelling.lower(), spelling.capitalize()})
        return EnglishWords(lexicon, network).entry(spelling).default

    report("unknown-word path", words, as_unknown)
    report("network alone", words, network.pronounce)
    if args.cmudict:
        lines = args.cmudict.read_text(encoding="utf-8").splitlines()
        trained_on = {line.split()[0] for line in lines if line}
        unseen = [word for word in words if word.spelling.lower() not in trained_on]
        report("unknown-word path, not in CMUdict", unseen, as_unknown)
        report("network alone, not in CMUdict", unseen, network.pronounce)


if __name__ == "__main__":
    main()
