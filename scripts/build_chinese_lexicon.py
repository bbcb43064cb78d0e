#!/usr/bin/env python3
"""Compile the Chinese lexicon in edge_tts/text/data from its public sources.

    pip install pypinyin==0.55.0 jieba==0.42.1 opencc-python-reimplemented==0.1.7 numpy
    python scripts/build_chinese_lexicon.py

Words and their frequencies come from jieba's dictionary (MIT), readings from pypinyin (MIT) and
from scripts/chinese_readings.tsv (ours, wins over both), simplified forms from OpenCC's character
table (Apache-2.0). The layout of the files is described in edge_tts/text/g2p/zh_lexicon.py.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np
from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
from pypinyin.contrib.tone_convert import to_tone3

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from edge_tts.text.g2p.pinyin import parse_syllable  # noqa: E402
from edge_tts.text.g2p.zh_lexicon import (  # noqa: E402
    BY_CONTEXT,
    CHARACTER,
    MAX_WORD_LENGTH,
    READING_BITS,
    window_keys,
)

READINGS = ROOT / "scripts" / "chinese_readings.tsv"
DATA = ROOT / "edge_tts" / "text" / "data"
MAX_READINGS = BY_CONTEXT
RARE_FREQUENCY = 3  # what jieba's dictionary gives words it never counted
# pypinyin writes out the sandhi of these two in some phrases only; tone_sandhi.py does all.
CITATION = {"一": "yi1", "不": "bu4"}

Reading = Tuple[str, ...]
UNATTESTED = ""  # in a word that no source reads: left to the rules at run time


class Sources(NamedTuple):
    """What the lexicon is compiled from, in tone-number pinyin."""

    frequencies: Dict[str, int]
    phrases: Dict[str, Reading]
    characters: Dict[str, List[str]]
    simplified: Dict[str, str]


def package_file(package: str, name: str) -> Path:
    """Path of a data file inside an installed package, without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{package} is not installed; see the head of this script")
    return Path(spec.submodule_search_locations[0]) / name


def tone_number(marked: str) -> str:
    """`zhōng` -> `zhong1`, `de` -> `de5`."""
    return str(to_tone3(marked, neutral_tone_with_five=True)).replace("v", "ü")


def is_syllable(pinyin: str) -> bool:
    """Whether the phoneme tables know this syllable."""
    try:
        parse_syllable(pinyin)
    except ValueError:
        return False
    return True


def is_hanzi(text: str) -> bool:
    """Whether every character is one the character table knows."""
    return all(ord(char) in PINYIN_DICT for char in text)


def citation(word: str, reading: Sequence[str]) -> Reading:
    """The reading with the sandhi of 一 and 不 undone; a neutral 不 (对不起) stays."""
    return tuple(
        syllable if syllable.endswith("5") else CITATION.get(char, syllable)
        for char, syllable in zip(word, reading)
    )


def read_curated(path: Path) -> Dict[str, Reading]:
    """Our own readings: word, tab, tone-number pinyin."""
    readings: Dict[str, Reading] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        word, _, pinyin = line.partition("\t")
        reading = tuple(pinyin.split())
        if len(reading) != len(word) or not all(map(is_syllable, reading)):
            sys.exit(f"{path}:{number}: {line!r} needs one valid syllable per character")
        if readings.setdefault(word, reading) != reading:
            sys.exit(f"{path}:{number}: {word} has two readings")
    return readings


def read_sources(curated: Dict[str, Reading]) -> Sources:
    """Gather words, readings and simplified forms from the installed packages."""
    frequencies: Dict[str, int] = {}
    for line in package_file("jieba", "dict.txt").read_text(encoding="utf-8").splitlines():
        word, count, _ = line.split(" ")
        if is_hanzi(word) and len(word) <= MAX_WORD_LENGTH:
            frequencies[word] = max(int(count), 1)
    phrases = {
        word: citation(word, [tone_number(choices[0]) for choices in reading])
        for word, reading in PHRASES_DICT.items()
        if is_hanzi(word) and len(word) == len(reading) <= MAX_WORD_LENGTH
    }
    characters = {
        chr(code): list(dict.fromkeys(filter(is_syllable, map(tone_number, marked.split(",")))))
        for code, marked in PINYIN_DICT.items()
    }
    for word, reading in curated.items():
        if len(word) > 1:
            phrases[word] = reading
        else:
            rest = characters.get(word, [])
            characters[word] = list(dict.fromkeys([*reading, *rest]))
    table = package_file("opencc", "dictionary/TSCharacters.txt").read_text(encoding="utf-8")
    pairs = (line.split("\t") for line in table.splitlines() if "\t" in line)
    simplified = {traditional: forms.split(" ")[0] for traditional, forms in pairs}
    return Sources(frequencies, phrases, characters, simplified)


def word_readings(sources: Sources) -> Iterator[Tuple[str, Reading]]:
    """Every word of two characters and more with its reading."""
    for word in sorted(set(sources.frequencies) | set(sources.phrases)):
        if len(word) < 2:
            continue
        reading = sources.phrases.get(word) or compose(word, sources)
        if all(not syllable or is_syllable(syllable) for syllable in reading):
            yield word, reading


def compose(word: str, sources: Sources) -> Reading:
    """Reading of a word that no source gives: the longest known phrases in it, left to right."""
    reading: List[str] = []
    while len(reading) < len(word):
        start = len(reading)
        for end in range(len(word), start + 1, -1):
            if word[start:end] in sources.phrases:
                reading.extend(sources.phrases[word[start:end]])
                break
        else:
            reading.append(UNATTESTED)
    return tuple(reading)


def character_table(
    sources: Sources, words: Sequence[Tuple[str, Reading]]
) -> Tuple["np.ndarray", "np.ndarray", "np.ndarray", "np.ndarray", Dict[str, List[str]]]:
    """Codes, rows, flat syllable numbers, syllable names; and the readings of each character."""
    readings = {char: list(values) for char, values in sources.characters.items() if values}
    for word, reading in words:
        for char, syllable in zip(word, reading):
            known = readings[char]
            if syllable and syllable not in known and len(known) < MAX_READINGS:
                known.append(syllable)
    names = sorted({syllable for values in readings.values() for syllable in values})
    number = {name: index for index, name in enumerate(names)}
    total = sum(sources.frequencies.values())
    rows, flat = [], []
    for char in sorted(readings):
        values = readings[char][:MAX_READINGS]
        cost = math.log(total / sources.frequencies.get(char, 1))
        simplified = ord(sources.simplified.get(char, char))
        rows.append((simplified, len(flat), len(values), cost))
        flat.extend(number[value] for value in values)
    return (
        np.array([ord(char) for char in sorted(readings)], dtype=np.uint32),
        np.array(rows, dtype=CHARACTER),
        np.array(flat, dtype=np.uint16),
        np.array([name.encode("utf-8") for name in names]),
        readings,
    )


def pack(word: str, reading: Reading, readings: Dict[str, List[str]]) -> int:
    """Which reading each character takes, READING_BITS bits per character from the low end."""
    packed = 0
    for position, (char, syllable) in enumerate(zip(word, reading)):
        index = readings[char].index(syllable) if syllable else BY_CONTEXT
        packed |= index << (READING_BITS * position)
    return packed


def word_key(word: str) -> int:
    """The 64-bit key under which the word is stored."""
    codes = np.array([ord(char) for char in word], dtype=np.uint64)
    return int(window_keys(codes)[len(word) - 1][0])


def build(out: Path) -> None:
    """Write the tables to `out`."""
    sources = read_sources(read_curated(READINGS))
    words = list(word_readings(sources))
    codes, characters, flat, names, readings = character_table(sources, words)
    total = sum(sources.frequencies.values())
    entries = sorted(
        (
            word_key(word),
            pack(word, reading, readings),
            math.log(total / sources.frequencies.get(word, RARE_FREQUENCY)),
        )
        for word, reading in words
    )
    keys = np.array([entry[0] for entry in entries], dtype=np.uint64)
    if np.any(keys[1:] == keys[:-1]):
        sys.exit("two words share a key: change the multipliers in zh_lexicon.py")
    np.save(out / "zh_word_keys.npy", keys)
    np.save(out / "zh_word_readings.npy", np.array([e[1] for e in entries], dtype=np.uint32))
    np.save(out / "zh_word_costs.npy", np.array([e[2] for e in entries], dtype=np.float16))
    np.save(out / "zh_character_codes.npy", codes)
    np.save(out / "zh_characters.npy", characters)
    np.save(out / "zh_character_readings.npy", flat)
    np.save(out / "zh_syllables.npy", names)
    print(f"{len(entries)} words, {len(characters)} characters, {len(names)} syllables -> {out}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=DATA, help="folder to write to")
    build(parser.parse_args().out)
