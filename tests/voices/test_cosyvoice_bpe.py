"""Byte-pair encoding as GPT-2's and Qwen's tokenizers do it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.errors import ModelError
from edge_tts.voices.cosyvoice.bpe import STYLES, TextTokenizer, byte_letters

BYTES = {bytes([byte]): byte for byte in range(256)}
JOINED = [b"in", b"th", b"the", b"thin", b" t", b"12", b"\xe4\xbd", b"'s"]
TOKENS = {**BYTES, **{token: 256 + number for number, token in enumerate(JOINED)}}
WORDS = {"[laughter]": 300, "<|end|>": 301}
NAMES = {number: token.decode("latin-1") for token, number in TOKENS.items()}


def tokenizer(style="whisper"):
    return TextTokenizer(style, TOKENS, WORDS)


def names(text, style="whisper"):
    return [NAMES.get(number, number) for number in tokenizer(style).encode(text).tolist()]


def test_the_earliest_token_is_joined_first():
    # "in" comes before "thin", which comes after "the": none of these may be taken out of turn.
    assert names("thin") == ["thin"]
    assert names("then") == ["the", "n"]
    assert names("a the") == ["a", " ", "the"]


def test_pieces_are_never_joined_across_their_borders():
    assert names("t12") == ["t", "12"]
    assert names("t12", "qwen") == ["t", "1", "2"]
    assert names("t!h") == ["t", "!", "h"]


def test_contractions_are_pieces_in_small_letters_or_for_qwen_in_any():
    assert names("it's") == ["i", "t", "'s"]
    assert names("'Sin") == ["'", "S", "in"]
    assert names("'Sin", "qwen") == ["'", "S", "in"]


def test_control_words_are_one_id():
    assert names("a[laughter]b<|end|>") == ["a", 300, "b", 301]


def test_qwen_composes_characters_first():
    composed = tokenizer("qwen").encode("é").tolist()
    assert tokenizer("qwen").encode("e\u0301").tolist() == composed
    assert tokenizer("whisper").encode("e\u0301").tolist() != composed


@pytest.mark.parametrize("style", STYLES)
@given(text=st.text(max_size=40))
def test_every_byte_of_a_text_is_encoded(style, text):
    import unicodedata

    ids = TextTokenizer(style, TOKENS, {}).encode(text).tolist()
    wanted = unicodedata.normalize("NFC", text) if style == "qwen" else text
    assert b"".join(NAMES[i].encode("latin-1") for i in ids) == wanted.encode("utf-8", "replace")


def test_it_is_saved_and_read(tmp_path):
    tokenizer("qwen").write(tmp_path / "tokenizer.json")
    read = TextTokenizer.read(tmp_path / "tokenizer.json")
    text = "the thin 12 [laughter] 你好"
    assert read.encode(text).tolist() == tokenizer("qwen").encode(text).tolist()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"style": "x", "tokens": [], "words": {}}'])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(ModelError, match="not a tokenizer"):
        TextTokenizer.read(tmp_path / "tokenizer.json")


def test_every_byte_has_a_letter_of_its_own():
    letters = byte_letters()
    assert sorted(letters.values()) == list(range(256))
    assert letters["!"] == 0x21
    assert letters["Ġ"] == 0x20
