"""The checkpoint's text tokenizer as one `tokenizer.json`, which the run time reads.

CosyVoice 2 brings Qwen's vocabulary along. CosyVoice 1 uses Whisper's, which its checkpoints do not
contain: it is `multilingual.tiktoken` in OpenAI's package openai-whisper (MIT).
"""

from __future__ import annotations

import base64
import binascii
import importlib.util
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import BPE

from edge_tts.build.cosyvoice.checkpoint import QWEN_FOLDER, Checkpoint, Generation
from edge_tts.errors import ModelError

# The words CosyVoice 2 adds to Qwen's vocabulary, in the order of their ids.
_CONTROL_WORDS = (
    "<|endofprompt|>",
    "[breath]",
    "<strong>",
    "</strong>",
    "[noise]",
    "[laughter]",
    "[cough]",
    "[clucking]",
    "[accent]",
    "[quick_breath]",
    "<laughter>",
    "</laughter>",
    "[hissing]",
    "[sigh]",
    "[vocalized-noise]",
    "[lipsmack]",
    "[mn]",
)
_QWEN_WORDS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

# How each vocabulary cuts a text before merging: GPT-2's and Qwen2's own expressions.
_GPT2_PIECES = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_QWEN_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

RANKS_FILE = "multilingual.tiktoken"

Merges = List[Tuple[str, str]]


def text_tokenizer(checkpoint: Checkpoint, vocabulary: Optional[Path]) -> Tokenizer:
    """The tokenizer of a checkpoint. `vocabulary` says where CosyVoice 1's is; see `find_ranks`.

    Raises ModelError when the vocabulary is missing or damaged.
    """
    if checkpoint.generation is Generation.V2:
        return _qwen(checkpoint.path / QWEN_FOLDER)
    vocab, merges = merges_of(_parse_ranks(find_ranks(checkpoint.path, vocabulary)))
    return _byte_level(vocab, merges, _GPT2_PIECES)


def find_ranks(checkpoint: Path, vocabulary: Optional[Path]) -> bytes:
    """Whisper's vocabulary file: `vocabulary` itself or the openai-whisper package it points to.

    Without `vocabulary`: from the checkpoint folder, or from an installed openai-whisper.
    """
    spec = importlib.util.find_spec("whisper")
    installed = Path(spec.origin).parent / "assets" if spec and spec.origin else checkpoint
    for path in [vocabulary] if vocabulary else [checkpoint, installed]:
        file = path / RANKS_FILE if path.is_dir() else path
        if file.is_file():
            return _member(file)
    raise ModelError(
        f"CosyVoice 1 needs Whisper's vocabulary {RANKS_FILE}, which is not in {checkpoint}; run: "
        "pip download --no-deps openai-whisper, and name the file it fetches with --vocabulary",
        code="model.file_missing",
    )


def merges_of(ranks: Dict[bytes, int]) -> Tuple[Dict[str, int], Merges]:
    """Vocabulary and merge list in byte-level spelling, from a list of tokens by rank.

    A token's last merge joins the two parts that all earlier merges leave of it.
    """
    letters = _byte_letters()
    merges: Merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) > 1:
            left, right = _last_parts(token, ranks, rank)
            merges.append((_spelt(left, letters), _spelt(right, letters)))
    return {_spelt(token, letters): rank for token, rank in ranks.items()}, merges


def _last_parts(token: bytes, ranks: Dict[bytes, int], rank: int) -> Tuple[bytes, bytes]:
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        joined = [ranks.get(a + b, rank) for a, b in zip(parts, parts[1:])]
        best = min(joined)
        if best >= rank:
            break
        at = joined.index(best)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    if len(parts) != 2:
        raise ModelError(
            f"Whisper's vocabulary is damaged: no merge makes {token!r}; fetch it again",
            code="model.checkpoint_invalid",
        )
    return parts[0], parts[1]


def _parse_ranks(content: bytes) -> Dict[bytes, int]:
    try:
        lines = [line.split() for line in content.splitlines() if line.strip()]
        # The published file ends with an empty token, which stands for nothing.
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        return {token: rank for token, rank in ranks.items() if token}
    except (ValueError, binascii.Error) as error:
        raise ModelError(
            f"Whisper's vocabulary is damaged ({error}); fetch it again",
            code="model.checkpoint_invalid",
        ) from error


def _member(path: Path) -> bytes:
    """The vocabulary in a package file, or the file itself."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(RANKS_FILE)]
            return archive.read(names[0]) if names else b"?"
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            names = [name for name in archive.getnames() if name.endswith(RANKS_FILE)]
            member = archive.extractfile(names[0]) if names else None
            return member.read() if member else b"?"
    return path.read_bytes()


def _qwen(folder: Path) -> Tokenizer:
    vocab, merges = _read_qwen(folder)
    tokenizer = _byte_level(vocab, merges, _QWEN_PIECES)
    tokenizer.normalizer = normalizers.NFC()
    words = (*_QWEN_WORDS, *_CONTROL_WORDS)
    tokenizer.add_special_tokens([AddedToken(word, special=True) for word in words])
    return tokenizer


def _read_qwen(folder: Path) -> Tuple[Dict[str, int], Merges]:
    try:
        vocab = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
        pairs = [line.split(" ") for line in lines if line and not line.startswith("#version")]
        merges = [(left, right) for left, right in pairs]
        lost = [left for left, right in merges if not {left, right, left + right} <= vocab.keys()]
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise _qwen_invalid(folder, str(error)) from error
    if lost or not all(isinstance(number, int) for number in vocab.values()):
        raise _qwen_invalid(folder, "its vocabulary and its merges do not belong together")
    return vocab, merges


def _qwen_invalid(folder: Path, cause: str) -> ModelError:
    return ModelError(
        f"{folder} does not hold Qwen's tokenizer ({cause}); download the checkpoint again",
        code="model.checkpoint_invalid",
    )


def _byte_level(vocab: Dict[str, int], merges: Merges, pieces: str) -> Tokenizer:
    tokenizer = Tokenizer(BPE(vocab=vocab, merges=merges))
    cut = pre_tokenizers.Split(Regex(pieces), behavior="isolated")
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cut, spell])
    return tokenizer


def _byte_letters() -> List[str]:
    """The printable letter that stands for each byte in byte-level BPE (GPT-2)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


def _spelt(token: bytes, letters: List[str]) -> str:
    return "".join(letters[byte] for byte in token)
