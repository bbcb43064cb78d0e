"""Make the English data files from their published sources.

    pip download --no-deps --dest DIR misaki==0.9.4 g2p-en==2.1.0
    python scripts/build_english_lexicon.py DIR

Writes edge_tts/text/data/en_lexicon.bin (misaki's gold and silver US lexicons plus
scripts/english_supplement.tsv, less the entries that the rules of inflection give anyway) and
en_letter_to_sound.npz (the g2p-en network as float16).
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from edge_tts.text.g2p.english_lexicon import (
    BLOCK_ENTRIES,
    HEADER,
    LEXICON_PATH,
    MAGIC,
    OFFSET,
    VARIANT_BASE,
    WORD_CLASSES,
    Entry,
    WordClass,
)
from edge_tts.text.g2p.english_sounds import SYMBOLS, unknown_symbols
from edge_tts.text.g2p.inflection import derive
from edge_tts.text.g2p.letter_to_sound import WEIGHTS_PATH

SUPPLEMENT_PATH = Path(__file__).parent / "english_supplement.tsv"
TAGS = {
    "NOUN": WordClass.NOUN,
    "VERB": WordClass.VERB,
    "ADJ": WordClass.ADJECTIVE,
    "ADV": WordClass.ADVERB,
    "VBD": WordClass.PAST,
    "VBN": WordClass.PAST,
    "DT": WordClass.DETERMINER,
    "None": WordClass.FINAL,
}
# misaki's VBP reading of "read" and "wound" repeats the past; the present is the default here.
IGNORED_TAGS = frozenset({"DEFAULT", "VBP"})
Lexicon = Dict[str, Entry]


def wheel_file(directory: Path, pattern: str, member: str) -> bytes:
    """One file out of the single wheel that matches `pattern`."""
    wheels = sorted(directory.glob(pattern))
    if len(wheels) != 1:
        raise SystemExit(f"expected one {pattern} in {directory}, found {len(wheels)}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        return wheel.read(member)


def gold_entry(value: object) -> Entry:
    """A value of misaki's gold lexicon: a pronunciation, or one per part of speech."""
    if isinstance(value, str):
        return Entry(value, {})
    if not isinstance(value, dict):
        raise SystemExit(f"unexpected lexicon value {value!r}")
    variants = {}
    for tag, phonemes in value.items():
        if phonemes is None:
            variants[WordClass.SPELLED] = ""
        elif tag not in IGNORED_TAGS and phonemes != value["DEFAULT"]:
            variants[TAGS[tag]] = phonemes
    return Entry(value["DEFAULT"], variants)


def read_supplement(path: Path) -> Lexicon:
    """Lines `word TAB phonemes [TAB CLASS=phonemes]...`; `#` starts a comment line."""
    entries = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        word, default, *variants = line.split("\t")
        pairs = (variant.split("=") for variant in variants)
        entries[word] = Entry(default, {WordClass[name]: phonemes for name, phonemes in pairs})
    return entries


def read_sources(directory: Path) -> Lexicon:
    """All entries, the later sources winning: silver, gold, supplement."""
    silver = json.loads(wheel_file(directory, "misaki-*.whl", "misaki/data/us_silver.json"))
    gold = json.loads(wheel_file(directory, "misaki-*.whl", "misaki/data/us_gold.json"))
    entries = {word: Entry(phonemes, {}) for word, phonemes in silver.items()}
    entries.update((word, gold_entry(value)) for word, value in gold.items())
    entries.update(read_supplement(SUPPLEMENT_PATH))
    for word, entry in entries.items():
        unknown = unknown_symbols(entry.default + "".join(entry.variants.values()))
        if unknown or not entry.default:
            raise SystemExit(f"{word}: no reading, or symbols {unknown!r} outside the notation")
    return entries


def prune(entries: Lexicon) -> Lexicon:
    """Leave out what inflection gives anyway; stems are decided before words made from them."""
    kept: Lexicon = {}
    for word in sorted(entries, key=lambda word: (len(word), word)):
        if word != word.lower() or derive(word, kept.get) != entries[word]:
            kept[word] = entries[word]
    # Entries kept later can shadow a stem used earlier: put words back until nothing is lost.
    while True:
        lost = [w for w in entries if w not in kept and derive(w, kept.get) != entries[w]]
        if not lost:
            return kept
        kept.update((word, entries[word]) for word in lost)


def encode(entries: Lexicon) -> bytes:
    """The lexicon file; its layout is described in edge_tts.text.g2p.english_lexicon."""
    symbols = "".join(sorted(SYMBOLS))
    rows: List[Tuple[bytes, bytes]] = sorted(
        (word.encode("utf-8"), encode_entry(entry, symbols)) for word, entry in entries.items()
    )
    body, offsets, previous = bytearray(), [], b""
    for i, (key, pronunciation) in enumerate(rows):
        if i % BLOCK_ENTRIES == 0:
            offsets.append(OFFSET.pack(len(body)))
            previous = b""
        n_shared = shared_prefix(previous, key)
        suffix = key[n_shared:]
        body += bytes([n_shared, len(suffix)]) + suffix + bytes([len(pronunciation)])
        body += pronunciation
        previous = key
    table = symbols.encode("utf-8")
    header = HEADER.pack(MAGIC, len(rows), len(offsets), len(table), len(body))
    return header + table + b"".join(offsets) + bytes(body)


def encode_entry(entry: Entry, symbols: str) -> bytes:
    """Symbol indices of the default reading, then each variant behind its class byte."""
    encoded = bytearray(symbols.index(symbol) for symbol in entry.default)
    for word_class, phonemes in entry.variants.items():
        encoded.append(VARIANT_BASE + WORD_CLASSES.index(word_class))
        encoded.extend(symbols.index(symbol) for symbol in phonemes)
    return bytes(encoded)


def shared_prefix(first: bytes, second: bytes) -> int:
    """Length of the longest common prefix."""
    n_shared = 0
    while n_shared < min(len(first), len(second)) and first[n_shared] == second[n_shared]:
        n_shared += 1
    return n_shared


def write_weights(directory: Path) -> None:
    """The g2p-en checkpoint, rounded to float16."""
    import numpy as np

    source = wheel_file(directory, "g2p_en-*.whl", "g2p_en/checkpoint20.npz")
    with np.load(io.BytesIO(source)) as archive:
        weights = {name: archive[name].astype(np.float16) for name in archive.files}
    np.savez_compressed(WEIGHTS_PATH, **weights)


def main() -> None:
    """Read the wheels, write both files, print their sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheels", type=Path, help="folder with the misaki and g2p-en wheels")
    directory = parser.parse_args().wheels
    entries = read_sources(directory)
    kept = prune(entries)
    LEXICON_PATH.write_bytes(encode(kept))
    write_weights(directory)
    print(f"{len(entries)} entries, {len(kept)} after pruning")
    for path in (LEXICON_PATH, WEIGHTS_PATH):
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
