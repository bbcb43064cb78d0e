"""Published vocabularies become the run time's tokenizer, or are refused."""

from __future__ import annotations

import zipfile

import pytest

pytest.importorskip("torch")

from tiny_cosyvoice import write_checkpoint

from edge_tts.build.cosyvoice.checkpoint import read_checkpoint
from edge_tts.build.cosyvoice.tokenizer import _WHISPER_WORDS, find_ranks, text_tokenizer
from edge_tts.errors import ModelError


def test_whispers_vocabulary_is_read_from_a_package(tmp_path):
    package = tmp_path / "package.whl"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("whisper/assets/multilingual.tiktoken", b"IQ== 0\n")
    assert find_ranks(tmp_path, package) == b"IQ== 0\n"


def test_a_missing_vocabulary_says_where_to_get_it(tmp_path):
    with pytest.raises(ModelError, match="pip download --no-deps openai-whisper"):
        find_ranks(tmp_path, tmp_path / "none")


@pytest.mark.parametrize("content", ["<html>", "IQ== x\n", "IQ==\n", "", "IQ== 0\n"])
def test_a_damaged_vocabulary_is_refused(tmp_path, content):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", 1)
    (checkpoint / "multilingual.tiktoken").write_text(content)
    with pytest.raises(ModelError, match="damaged"):
        text_tokenizer(read_checkpoint(checkpoint), None)


def test_cosyvoices_control_words_follow_qwens_own(tmp_path):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", 2)
    tokenizer = text_tokenizer(read_checkpoint(checkpoint), None)
    first = 257  # the tiny vocabulary has 256 bytes and "he"
    ids = tokenizer.encode("he[laughter]<|endofprompt|>").tolist()
    assert ids == [256, first + 3 + 5, first + 3]


@pytest.mark.parametrize("fault", ["no file", "no json", "lost merge", "no bytes"])
def test_a_damaged_qwen_folder_is_refused(tmp_path, fault):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", 2)
    folder = checkpoint / "CosyVoice-BlankEN"
    if fault == "no file":
        (folder / "merges.txt").unlink()
    elif fault == "no json":
        (folder / "vocab.json").write_text("<html>")
    elif fault == "no bytes":
        (folder / "vocab.json").write_text('{"h": 0, "e": 1, "he": 2}')
    else:
        (folder / "merges.txt").write_text("x y\n")
    with pytest.raises(ModelError, match="Qwen's tokenizer"):
        text_tokenizer(read_checkpoint(checkpoint), None)


def test_whispers_control_words_follow_its_vocabulary():
    assert len(_WHISPER_WORDS) == 102
    first = 50257
    ids = {word: first + n for n, word in enumerate(_WHISPER_WORDS)}
    assert ids["<|endoftext|>"] == 50257
    assert ids["<|en|>"] == 50259
    assert ids["<|zh|>"] == 50260
    assert ids["<|yue|>"] == 50358
