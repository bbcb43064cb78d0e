"""The checkpoint's text tokenizer, from the vocabulary files it was published with.

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
from typing import Dict, Optional, Tuple

from edge_tts.build.cosyvoice.checkpoint import QWEN_FOLDER, Checkpoint, Generation
from edge_tts.errors import ModelError
from edge_tts.voices.cosyvoice.bpe import TextTokenizer, byte_letters

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

# Whisper's words that follow its vocabulary, in the order of their ids: first the languages it
# was trained on, by hours of speech (Radford et al. 2022), Cantonese last.
_WHISPER_LANGUAGES = """
en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr
bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn
yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su
yue
""".split()  # noqa: SIM905
_WHISPER_WORDS = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    *(f"<|{language}|>" for language in _WHISPER_LANGUAGES),
)

RANKS_FILE = "multilingual.tiktoken"
RANKS_FILE_25HZ = "multilingual_zh_ja_yue_char_del.tiktoken"

_MOST_RESERVED = 1674
"""Ids after a vocabulary for control words: 1609 of Whisper's, this many of CosyVoice-300M-25Hz."""


def text_tokenizer(checkpoint: Checkpoint, vocabulary: Optional[Path]) -> TextTokenizer:
    """The tokenizer of a checkpoint. `vocabulary` says where CosyVoice 1's is; see `find_ranks`.

    Raises ModelError when the vocabulary is missing or damaged.
    """
    if checkpoint.generation is Generation.V2:
        return _qwen(checkpoint.path / QWEN_FOLDER)
    ranks, n_ids = _parse_ranks(find_ranks(checkpoint.path, vocabulary))
    known = {word: n_ids + n for n, word in enumerate(_WHISPER_WORDS)}
    n_text = checkpoint.lm_config.n_text_tokens
    if n_text > n_ids + _MOST_RESERVED:
        raise ModelError(
            f"{checkpoint.path} was trained with another vocabulary: it has embeddings for "
            f"{n_text} text ids, and the one at hand has {n_ids}. CosyVoice-300M-25Hz needs "
            f"{RANKS_FILE_25HZ} of the official code; name it with --vocabulary",
            code="model.checkpoint_invalid",
        )
    words = {word: number for word, number in known.items() if number < n_text}
    return TextTokenizer("whisper", ranks, words)


def find_ranks(checkpoint: Path, vocabulary: Optional[Path]) -> bytes:
    """Whisper's vocabulary file: `vocabulary` itself or the openai-whisper package it points to.

    Without `vocabulary`: from the checkpoint folder, or from an installed openai-whisper. The
    vocabulary of CosyVoice-300M-25Hz is found in the checkpoint folder by its own name.
    """
    own = checkpoint / RANKS_FILE_25HZ
    if vocabulary is None and own.is_file():
        return _member(own)
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


def _parse_ranks(content: bytes) -> Tuple[Dict[bytes, int], int]:
    """Ids by token, and the number of ids.

    Whisper's file ends with an empty token, which stands for nothing but takes up an id.
    """
    try:
        lines = [line.split() for line in content.splitlines() if line.strip()]
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        tokens = {token: rank for token, rank in ranks.items() if token}
        _check_bytes(tokens)
    except (ValueError, binascii.Error) as error:
        raise ModelError(
            f"Whisper's vocabulary is damaged ({error}); fetch it again",
            code="model.checkpoint_invalid",
        ) from error
    return tokens, max(ranks.values()) + 1


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


def _qwen(folder: Path) -> TextTokenizer:
    tokens = _read_qwen(folder)
    first = max(tokens.values()) + 1
    words = {word: first + n for n, word in enumerate((*_QWEN_WORDS, *_CONTROL_WORDS))}
    return TextTokenizer("qwen", tokens, words)


def _read_qwen(folder: Path) -> Dict[bytes, int]:
    letters = byte_letters()
    try:
        vocab = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        tokens = {bytes(letters[c] for c in text): int(number) for text, number in vocab.items()}
        _check_bytes(tokens)
        lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
        pairs = [line.split(" ") for line in lines if line and not line.startswith("#version")]
        ranks = [vocab[left + right] for left, right in pairs]
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise _qwen_invalid(folder, repr(error)) from error
    # The run time joins by id, which is the order of the merges in every vocabulary of this family.
    if ranks != sorted(ranks):
        raise _qwen_invalid(folder, "its merges are not in the order of its vocabulary")
    return tokens


def _check_bytes(tokens: Dict[bytes, int]) -> None:
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    if missing:
        raise ValueError(f"no token for the byte {missing[0]}")


def _qwen_invalid(folder: Path, cause: str) -> ModelError:
    return ModelError(
        f"{folder} does not hold Qwen's tokenizer ({cause}); download the checkpoint again",
        code="model.checkpoint_invalid",
    )
