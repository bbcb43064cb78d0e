"""Text becomes the ids the checkpoints were trained on."""

from __future__ import annotations

import zipfile

import pytest

pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from tiny_cosyvoice import write_checkpoint

from edge_tts.build.cosyvoice.checkpoint import read_checkpoint
from edge_tts.build.cosyvoice.tokenizer import find_ranks, merges_of, text_tokenizer
from edge_tts.errors import ModelError


def test_merges_are_found_from_ranks():
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks.update({b"in": 256, b"th": 257, b"the": 258, b"thin": 259, b"\xe4\xbd": 260})
    vocab, merges = merges_of(ranks)
    assert merges[:4] == [("i", "n"), ("t", "h"), ("th", "e"), ("th", "in")]
    assert vocab["thin"] == 259
    assert len(merges) == 5


def test_a_token_that_no_merge_makes_is_damage():
    ranks = {bytes([byte]): byte for byte in range(256)}
    with pytest.raises(ModelError, match="damaged"):
        merges_of({**ranks, b"abc": 256})


def test_whispers_vocabulary_is_read_from_a_package(tmp_path):
    package = tmp_path / "package.whl"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("whisper/assets/multilingual.tiktoken", b"IQ== 0\n")
    assert find_ranks(tmp_path, package) == b"IQ== 0\n"


def test_a_missing_vocabulary_says_where_to_get_it(tmp_path):
    with pytest.raises(ModelError, match="pip download --no-deps openai-whisper"):
        find_ranks(tmp_path, tmp_path / "none")


@pytest.mark.parametrize("content", ["<html>", "IQ== x\n", "IQ==\n"])
def test_a_damaged_vocabulary_is_refused(tmp_path, content):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", 1)
    (checkpoint / "multilingual.tiktoken").write_text(content)
    with pytest.raises(ModelError, match="damaged"):
        text_tokenizer(read_checkpoint(checkpoint), None)


class TestQwen:
    @pytest.fixture
    def tokenizer(self, tmp_path):
        return text_tokenizer(read_checkpoint(write_checkpoint(tmp_path / "checkpoint", 2)), None)

    def test_bytes_merges_and_control_words(self, tokenizer):
        end_of_vocabulary = 257
        ids = tokenizer.encode("he[laughter]<|endofprompt|>", add_special_tokens=False).ids
        # Three words of Qwen's own come first; then CosyVoice's in their published order.
        assert ids == [256, end_of_vocabulary + 3 + 5, end_of_vocabulary + 3]

    def test_text_is_composed_first(self, tokenizer):
        assert tokenizer.encode("e\u0301").ids == tokenizer.encode("é").ids

    def test_digits_stand_alone(self, tokenizer):
        assert tokenizer.encode("12").tokens == ["1", "2"]


@pytest.mark.parametrize("fault", ["no file", "no json", "lost merge"])
def test_a_damaged_qwen_folder_is_refused(tmp_path, fault):
    checkpoint = write_checkpoint(tmp_path / "checkpoint", 2)
    folder = checkpoint / "CosyVoice-BlankEN"
    if fault == "no file":
        (folder / "merges.txt").unlink()
    elif fault == "no json":
        (folder / "vocab.json").write_text("<html>")
    else:
        (folder / "merges.txt").write_text("x y\n")
    with pytest.raises(ModelError, match="Qwen's tokenizer"):
        text_tokenizer(read_checkpoint(checkpoint), None)
