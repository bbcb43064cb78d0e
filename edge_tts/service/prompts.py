"""The prompt store: phrases rendered ahead, on disk, verified, playable without the worker.

A prompt is two files named by the digest of what decides its sound: `<digest>.wav` and
`<digest>.json`, which states the phrase, the division into segments and the SHA-256 of the sound.
Each is written to a temporary name, synced and renamed, the JSON last, so that a prompt exists
whole or not at all. The running service only reads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from edge_tts.errors import ModelError
from edge_tts.service.messages import Manner
from edge_tts.service.phrases import Phrase, PhraseKey, PhraseSegment

_HEADER_BYTES = 44
_MAX_MANIFEST_BYTES = 256 * 1024
MAX_PROMPT_BYTES = 4 * 1024 * 1024
"""Largest sound of one prompt: almost a minute and a half at 24 kHz."""


@dataclass(frozen=True)
class Prompt:
    """What a manifest states. `n_samples` of each segment sum to the length of the sound."""

    key: PhraseKey
    sample_rate_hz: int
    spans: List[List[int]]
    sha256: str
    unspoken: Tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """Length of the sound in seconds."""
        return sum(span[2] for span in self.spans) / self.sample_rate_hz


class PromptStore:
    """The prompts of one directory, which need not exist."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.n_damaged = 0

    def put(self, key: PhraseKey, phrase: Phrase) -> None:
        """Store a phrase under its key."""
        from edge_tts.audio.wav import wav_header

        pcm = b"".join(segment.pcm for segment in phrase.segments)
        spans = [[part.start, part.end, len(part.pcm) // 2] for part in phrase.segments]
        sha256 = hashlib.sha256(pcm).hexdigest()
        prompt = Prompt(key, phrase.sample_rate_hz, spans, sha256, phrase.unspoken)
        self.directory.mkdir(parents=True, exist_ok=True)
        header = wav_header(phrase.sample_rate_hz, len(pcm))
        self._write(f"{key.digest}.wav", header + pcm)
        manifest = json.dumps(dataclasses.asdict(prompt), ensure_ascii=False, indent=1)
        self._write(f"{key.digest}.json", manifest.encode())

    def has(self, key: PhraseKey) -> bool:
        """True when there is a prompt of this key, verified or not."""
        try:
            return (self.directory / f"{key.digest}.json").is_file()
        except OSError:
            return False

    def get(self, key: PhraseKey) -> Optional[Phrase]:
        """The phrase of this key, verified; None when absent, or damaged or closed (counted)."""
        manifest = self.directory / f"{key.digest}.json"
        try:
            return self._load(read_manifest(manifest)) if manifest.is_file() else None
        except (ModelError, OSError):
            self.n_damaged += 1
            return None

    def manifests(self) -> Iterator[Path]:
        """Every manifest in the store, in the order of names."""
        return iter(sorted(self.directory.glob("*.json")))

    def verify(self, manifest: Path) -> Prompt:
        """Check one prompt. Raises ModelError `prompt.invalid`, which names the file."""
        prompt = read_manifest(manifest)
        if prompt.key.digest != manifest.stem:
            raise _invalid(manifest, "its name is not the digest of its phrase")
        self._load(prompt)
        return prompt

    def _load(self, prompt: Prompt) -> Phrase:
        path = self.directory / f"{prompt.key.digest}.wav"
        pcm = _read(path, MAX_PROMPT_BYTES + _HEADER_BYTES)[_HEADER_BYTES:]
        if hashlib.sha256(pcm).hexdigest() != prompt.sha256:
            raise _invalid(path, "its sound does not match the manifest")
        segments: List[PhraseSegment] = []
        position = 0
        for start, end, n_samples in prompt.spans:
            segments.append(PhraseSegment(start, end, pcm[position : position + 2 * n_samples]))
            position += 2 * n_samples
        if position != len(pcm):
            raise _invalid(path, "its segments do not add up to its sound")
        return Phrase(prompt.sample_rate_hz, tuple(segments), prompt.unspoken)

    def _write(self, name: str, data: bytes) -> None:
        temporary = self.directory / f".{name}.{os.getpid()}.part"
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.directory / name)
        except BaseException:
            if temporary.exists():
                temporary.unlink()
            raise


def read_manifest(path: Path) -> Prompt:
    """Read a manifest. Raises ModelError `prompt.invalid`."""
    try:
        fields: Dict[str, Any] = json.loads(_read(path, _MAX_MANIFEST_BYTES).decode())
        key = dict(fields["key"])
        manner = Manner(**key.pop("manner"))
        spans = [[int(number) for number in span] for span in fields["spans"]]
        if any(len(span) != 3 or min(span) < 0 for span in spans):
            raise ValueError("spans")
        rate_hz = int(fields["sample_rate_hz"])
        unspoken = tuple(str(loss) for loss in fields.get("unspoken", ()))
        sha256 = str(fields["sha256"])
        return Prompt(PhraseKey(manner=manner, **key), rate_hz, spans, sha256, unspoken)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _invalid(path, "its manifest cannot be read") from error


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise _invalid(path, error.strerror or "it cannot be read") from error
    if len(data) > limit:
        raise _invalid(path, f"it is larger than {limit} bytes")
    return data


def _invalid(path: Path, reason: str) -> ModelError:
    return ModelError(
        f"prompt {path.name}: {reason}; run 'edge-tts prompts render' again", code="prompt.invalid"
    )
