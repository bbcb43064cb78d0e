"""Published vocabularies become the run time's tokenizer, or are refused."""

from __future__ import annotations

import base64
import dataclasses
import zipfile

import pytest

pytest.importorskip("torch")

from tiny_cosyvoice import write_checkpoint

from edge_tts.build.cosyvoice.checkpoint import read_checkpoint
from edge_tts.build.cosyvoice.tokenizer import find_ranks, text_tokenizer
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


def test_whispers_control_words_follow_its_vocabulary(tmp_path):
    """Its file ends with an empty token, whose id no word takes."""
    checkpoint = write_checkpoint(tmp_path / "checkpoint", 1)
    ranks = checkpoint / "multilingual.tiktoken"
    lines = ranks.read_text().splitlines()
    ranks.write_text("\n".join([*lines, f"= {len(lines)}"]) + "\n")
    tiny = read_checkpoint(checkpoint)
    config = dataclasses.replace(tiny.lm_config, n_text_tokens=400)
    encode = text_tokenizer(dataclasses.replace(tiny, lm_config=config), None).encode
    assert list(encode("<|endoftext|>")) == [257]
    assert list(encode("<|en|>")) == [259]
    assert list(encode("<|zh|>")) == [260]
    assert list(encode("<|yue|>")) == [358]


class TestTheVocabularyOf25Hz:
    """CosyVoice-300M-25Hz was trained with a vocabulary of its own, of more ids than Whisper's."""

    @pytest.fixture
    def checkpoint(self, tmp_path):
        checkpoint = read_checkpoint(write_checkpoint(tmp_path / "checkpoint", 1))
        config = dataclasses.replace(checkpoint.lm_config, n_text_tokens=10_000)
        return dataclasses.replace(checkpoint, lm_config=config)

    def test_whispers_is_not_taken_for_it(self, checkpoint):
        with pytest.raises(ModelError, match="trained with another vocabulary"):
            text_tokenizer(checkpoint, None)

    def test_it_is_found_by_its_name(self, checkpoint):
        names = [base64.b64encode(bytes([byte])).decode() for byte in range(256)]
        names += [base64.b64encode(b"zh" + n.to_bytes(2, "big")).decode() for n in range(9000)]
        lines = (f"{name} {rank}" for rank, name in enumerate(names))
        own = checkpoint.path / "multilingual_zh_ja_yue_char_del.tiktoken"
        own.write_text("\n".join(lines) + "\n")
        assert list(text_tokenizer(checkpoint, None).encode("<|zh|>")) == [256 + 9000 + 3]
