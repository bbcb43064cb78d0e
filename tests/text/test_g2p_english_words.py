"""Single English words: lexicon, endings, spelling out, compounds, names, the network."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.errors import ModelError
from edge_tts.text.g2p.arpabet import to_kokoro
from edge_tts.text.g2p.english_lexicon import LEXICON_PATH, EnglishLexicon, Entry, WordClass
from edge_tts.text.g2p.english_sounds import (
    SYMBOLS,
    demoted,
    unknown_symbols,
    with_stress,
)
from edge_tts.text.g2p.english_words import EnglishWords
from edge_tts.text.g2p.inflection import add_ed, add_ing, add_s, derive
from edge_tts.text.g2p.letter_to_sound import MAX_CHUNK_LETTERS, LetterToSound, chunks
from edge_tts.text.g2p.pinyin_names import pinyin_name
from edge_tts.text.g2p.vocabulary import fit

LEXICON = EnglishLexicon()
NETWORK = LetterToSound()
WORDS = EnglishWords(LEXICON, NETWORK)


def sound(word: str) -> str:
    return WORDS.entry(word).default


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("hello", "həlˈO"),
        ("Hello", "həlˈO"),
        ("HELLO", "həlˈO"),
        ("button", "bˈʌʔn"),
        ("specified", "spˈɛsəfˌId"),
        ("kiosks", "kˈiˌɑsks"),
        ("boxes", "bˈɑksᵻz"),
        ("Tesla's", "tˈɛsləz"),
        ("drivers'", "dɹˈIvəɹz"),
        ("don’t", "dˈOnt"),
        ("parking", "pˈɑɹkɪŋ"),
        ("started", "stˈɑɹɾᵻd"),
        ("café", "kæfˈA"),
        ("résumé", "ɹˈɛzəmˌA"),
        ("ｃａｒ", "kˈɑɹ"),
        ("that'll", "ðæɾᵊl"),
        ("should've", "ʃˌʊdəv"),
        ("driver'd", "dɹˈIvəɹd"),
        ("what're", "wˌʌɾəɹ"),
        ("usb", "jˌuˌɛsbˈi"),
        ("GPSs", "ʤˌipˌiˈɛsᵻz"),
        ("SUVs", "ˌɛsjˌuvˈiz"),
        ("BYD's", "bˌiwˌIdˈiz"),
        ("CarPlay", "kˈɑɹplˌA"),
        ("SmartKiosk", "smˈɑɹtkˌiɑsk"),
        ("turn-by-turn", "tˈɜɹn bI tˈɜɹn"),
        ("warm-up", "wˈɔɹmˌʌp"),
        ("e-mail", "ˈimˌAl"),
        ("re-sign", "ɹisˈIn"),
        ("O'Brien", "ObɹˈIən"),
        ("touchpanel", "tˈʌʧpˌænᵊl"),
        ("Xi'an", "ʃˌiˈɑn"),
        ("Wangfujing", "wˌɑŋfuʤˈɪŋ"),
        ("bzzt", "bˌizˌizˌitˈi"),
    ],
)
def test_words(word: str, expected: str) -> None:
    assert sound(word) == expected


@pytest.mark.parametrize("word", ["", "😀", "北", "-", "'", "\ud800", "\x00", "ͤ", "５"])
def test_what_has_no_letters_has_no_sound(word: str) -> None:
    assert sound(word) == ""


def test_word_of_ten_thousand_letters_is_spoken_to_its_end() -> None:
    spoken = sound("abcdefghij" * 1000)
    assert len(spoken) > 5000
    assert unknown_symbols(spoken) == ""
    assert spoken.count("ˈ") == 1


@pytest.mark.parametrize("unit", ["x's", "Ab", "a-", "AB", "ꟿ", "é", "Anan"])
def test_long_repetitive_words_are_spoken_or_silent_without_fail(unit: str) -> None:
    assert unknown_symbols(sound(unit * 3000)) == ""


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=60))
def test_chunks_rebuild_the_word(letters: str) -> None:
    pieces = chunks(letters)
    assert "".join(pieces) == letters
    assert all(0 < len(piece) <= MAX_CHUNK_LETTERS for piece in pieces)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20))
def test_every_spelling_has_a_sound(letters: str) -> None:
    assert sound(letters) != ""


def test_every_symbol_is_one_of_the_voice() -> None:
    assert fit("".join(sorted(SYMBOLS))) == ("".join(sorted(SYMBOLS)), "")


def test_every_entry_of_the_lexicon_is_found_and_well_formed() -> None:
    n_words = 0
    for n_words, word in enumerate(LEXICON.words(), start=1):
        if n_words % 23:
            continue
        entry = LEXICON.find(word)
        assert entry is not None, word
        assert entry.default, word
        assert unknown_symbols(entry.default + "".join(entry.variants.values())) == ""
    assert n_words == len(LEXICON)


def test_lexicon_search_at_and_beyond_its_ends() -> None:
    words = list(LEXICON.words())
    assert words == sorted(words)
    assert LEXICON.find(words[0]) is not None
    assert LEXICON.find(words[-1]) is not None
    for absent in ("", "\x00", "zzzzzz", "\U0010ffff", words[0] + "\x00"):
        assert LEXICON.find(absent) is None


def test_variants_of_an_entry() -> None:
    entry = LEXICON.find("record")
    assert entry == Entry("ɹˈɛkəɹd", {WordClass.VERB: "ɹəkˈɔɹd"})


@pytest.mark.parametrize("damage", ["missing", "empty", "foreign", "truncated"])
def test_damaged_lexicon_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "en_lexicon.bin"
    if damage == "truncated":
        path.write_bytes(LEXICON_PATH.read_bytes()[:100_000])
    elif damage != "missing":
        path.write_bytes(b"" if damage == "empty" else b"<html>" * 100)
    with pytest.raises(ModelError, match="en_lexicon"):
        EnglishLexicon(path)


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    shutil.copy(LEXICON_PATH, path)
    with pytest.raises(ModelError, match=r"weights\.npz"):
        LetterToSound(path).pronounce("word")


@pytest.mark.parametrize(
    ("inflect", "stem", "expected"),
    [
        (add_s, "kˈæt", "kˈæts"),
        (add_s, "dˈɔɡ", "dˈɔɡz"),
        (add_s, "bˈʌs", "bˈʌsᵻz"),
        (add_s, "stˈA", "stˈAz"),
        (add_ed, "stˈɑp", "stˈɑpt"),
        (add_ed, "wˈAt", "wˈAɾᵻd"),
        (add_ed, "pɹˈɪnt", "pɹˈɪntᵻd"),
        (add_ed, "nˈid", "nˈidᵻd"),
        (add_ed, "plˈA", "plˈAd"),
        (add_ing, "wˈAt", "wˈAɾɪŋ"),
        (add_ing, "pɹˈɪnt", "pɹˈɪntɪŋ"),
    ],
)
def test_regular_endings(inflect: object, stem: str, expected: str) -> None:
    assert callable(inflect)
    assert inflect(stem) == expected


STEMS = {
    "rate": Entry("ɹˈAt", {}),
    "rat": Entry("ɹˈæt", {}),
    "try": Entry("tɹˈI", {}),
    "use": Entry("jˈuz", {WordClass.NOUN: "jˈus"}),
    "happy": Entry("hˈæpi", {}),
}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("rating", "ɹˈAɾɪŋ"),
        ("ratting", "ɹˈæɾɪŋ"),
        ("tries", "tɹˈIz"),
        ("tried", "tɹˈId"),
        ("ratings", "ɹˈAɾɪŋz"),
        ("happily", "hˈæpəli"),
        ("unhappy", "ˌʌnhˈæpi"),
        ("gas", None),
        ("ed", None),
    ],
)
def test_stems_are_found_through_their_spelling(word: str, expected: Optional[str]) -> None:
    entry = derive(word, STEMS.get)
    assert (entry.default if entry else None) == expected


def test_an_ending_takes_the_reading_it_belongs_to() -> None:
    plural = derive("uses", STEMS.get)
    assert plural == Entry("jˈuzᵻz", {WordClass.NOUN: "jˈusᵻz"})
    possessive = derive("use's", STEMS.get)
    assert possessive == Entry("jˈusᵻz", {})


@pytest.mark.parametrize(
    ("arpabet", "expected"),
    [
        ("W AO1 T ER0", "wˈɔɾəɹ"),
        ("L IH1 T AH0 L", "lˈɪɾᵊl"),
        ("S AH1 D AH0 N", "sˈʌdᵊn"),
        ("B AH1 T AH0 N", "bˈʌtᵊn"),
        ("AH0 N D UW1", "ʌndˈu"),
        ("V IH1 Z IH0 T IH0 D", "vˈɪzəɾᵻd"),
    ],
)
def test_arpabet(arpabet: str, expected: str) -> None:
    assert to_kokoro(arpabet.split()) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Zhongguancun", "ʤˌʊŋɡwɑntswˈʌn"),
        ("Qingdao", "ʧˌɪŋdˈW"),
        ("Chang'an", "ʧˌɑŋˈɑn"),
        ("zhongguancun", None),
        ("Mei", None),
        ("Persian", None),
        ("Nicaragua", None),
        ("Sepulveda", None),
        ("X'", None),
    ],
)
def test_pinyin_names(word: str, expected: Optional[str]) -> None:
    assert pinyin_name(word) == expected


def test_stress_marks() -> None:
    assert demoted("ɹˈWndəbˌWt") == "ɹˌWndəbWt"
    assert with_stress("ðæt", "ˈ") == "ðˈæt"
    assert with_stress("ðˌæt", "ˈ") == "ðˌæt"
    assert with_stress("hmm", "ˈ") == "hmm"
