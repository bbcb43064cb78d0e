"""The user lexicon: strict reading, matching by whole words, reloading."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import List

import pytest

from edge_tts.errors import ConfigError
from edge_tts.text.g2p.vocabulary import fit, symbol_ids
from edge_tts.text.lexicon import EMPTY, Lexicon
from edge_tts.text.lexicon_file import MAX_FILE_BYTES, UserLexicon, read_lexicon
from edge_tts.text.normalise import normalise
from edge_tts.text.tokens import Language, Token

GOOD = """\
en:
  Geis: guys
  Xiaomi: {ipa: "ʃˌWmˈi"}
  New York: {ipa: "nˌu jˈɔɹk"}
  New York City: the big apple
  no: nope
zh:
  芝罘: {pinyin: "zhi1 fu2"}
  重庆: 山城
"""


def write(path: Path, text: str) -> Path:
    file = path / "lexicon.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def lexicon(path: Path, text: str = GOOD) -> Lexicon:
    return read_lexicon(write(path, text))


def words(tokens: List[Token]) -> List[str]:
    return [token.text.lower() for token in tokens]


# CASES T14
def test_a_respelling_takes_the_place_and_the_span_of_its_word(tmp_path: Path) -> None:
    text = "Call Geis now"
    applied = lexicon(tmp_path).apply(normalise(text))
    assert words(applied) == ["call", "guys", "now"]
    assert text[slice(*applied[1].span)] == "Geis"


def test_the_longest_phrase_wins(tmp_path: Path) -> None:
    applied = lexicon(tmp_path).apply(normalise("from New York City to New York"))
    assert words(applied) == ["from", "the", "big", "apple", "to", "new", "york"]
    assert "".join(token.phonemes for token in applied).strip() == "nˌu jˈɔɹk"


def test_only_whole_words_match(tmp_path: Path) -> None:
    applied = lexicon(tmp_path).apply(normalise("Geisha and no-one, nothing"))
    assert "guys" not in words(applied)


def test_a_mark_ends_a_phrase(tmp_path: Path) -> None:
    applied = lexicon(tmp_path).apply(normalise("It is new. York is old"))
    assert not any(token.phonemes for token in applied)


def test_yaml_words_that_look_like_booleans_are_words(tmp_path: Path) -> None:
    assert words(lexicon(tmp_path).apply(normalise("no", language=Language.EN))) == ["nope"]


# CASES T14
def test_pinyin_gives_every_character_its_syllable(tmp_path: Path) -> None:
    applied = lexicon(tmp_path).apply(normalise("去芝罘"))
    assert [bool(token.phonemes) for token in applied] == [False, True, True]
    assert applied[1].phonemes == "ꭧɨ→"


def test_a_chinese_respelling(tmp_path: Path) -> None:
    assert "".join(words(lexicon(tmp_path).apply(normalise("重庆站")))) == "山城站"


# CASES T14, C04
def test_every_ipa_symbol_is_fitted_to_the_voice(tmp_path: Path) -> None:
    applied = lexicon(tmp_path, 'en: {go: {ipa: "gɝ"}}').apply(normalise("go"))
    assert applied[0].phonemes == "ɡɜɹ"
    assert set(applied[0].phonemes) <= set(symbol_ids())


def test_without_entries_nothing_changes() -> None:
    tokens = normalise("Hello there.")
    assert EMPTY.apply(tokens) == tokens


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("en:\n  Geis: {ipa: '§'}", 2, "§"),
        ("en:\n  a: b\n  Geis: {sound: x}", 3, "Geis"),
        ("en:\n  Geis: []", 2, "Geis"),
        ("en:\n  Geis: ''", 2, "Geis"),
        ("en:\n  Geis: {ipa: a, pinyin: b}", 2, "Geis"),
        ("en:\n  Geis: {ipa: {}}", 2, "Geis"),
        ("en:\n  '!!': x", 2, "!!"),
        ("en:\n  Geis: guys\n  Geis: gas", 3, "Geis"),
        ("en:\n  [a]: b", 2, "key"),
        ("zh:\n  芝罘: {pinyin: zhi1}", 2, "芝罘"),
        ("zh:\n  芝罘: {pinyin: zhi1 xyz9}", 2, "芝罘"),
        ("fr:\n  oui: we", 1, "fr"),
        ("- Geis", 1, "key: value"),
        ("en: Geis", 1, "'en'"),
    ],
)
def test_a_bad_entry_is_an_error_naming_file_line_and_key(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        lexicon(tmp_path, text)
    message = str(caught.value)
    assert f"lexicon.yaml, line {line}:" in message
    assert said in message


def test_files_that_are_no_lexicon(tmp_path: Path) -> None:
    assert len(lexicon(tmp_path, "")) == 0
    with pytest.raises(ConfigError, match="not YAML") as caught:
        lexicon(tmp_path, "en: [")
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="larger"):
        lexicon(tmp_path, "#" * (MAX_FILE_BYTES + 1))
    with pytest.raises(ConfigError, match="cannot read"):
        read_lexicon(tmp_path / "absent.yaml")
    (tmp_path / "lexicon.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot read"):
        read_lexicon(tmp_path / "lexicon.yaml")


# CASES T04, T14
def test_a_changed_file_is_read_again_and_a_bad_one_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, GOOD)
    user = UserLexicon(path)
    first = user.current()
    assert user.current() is first
    write(tmp_path, "en: {Geis: gas}")
    assert len(user.current()) == 1
    write(tmp_path, "en: {Geis: {}}")
    with caplog.at_level(logging.WARNING):
        kept = [len(user.current()) for _ in range(3)]
    path.unlink()
    with caplog.at_level(logging.WARNING):
        kept.extend(len(user.current()) for _ in range(3))
    assert kept == [1] * 6
    assert len(caplog.records) == 2
    write(tmp_path, GOOD)
    assert len(user.current()) == len(first)


def test_a_change_of_time_alone_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, "en: {Geis: gas}")
    user = UserLexicon(path)
    path.write_text("en: {Geis: guy}")
    os.utime(path, ns=(1, 1))
    assert words(user.current().apply(normalise("Geis"))) == ["guy"]


def test_symbols_without_equivalent_are_returned() -> None:
    assert fit("t͡ʃg§") == ("ʧɡ", "§")
