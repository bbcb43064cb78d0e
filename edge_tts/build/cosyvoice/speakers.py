"""`spk2info.pt`: the speakers a checkpoint brings along."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Mapping, Optional

import torch

from edge_tts.build.cosyvoice.config import MEL_BANDS
from edge_tts.build.torch_voice.weights import read_pickle
from edge_tts.errors import ModelError


@dataclass(frozen=True)
class SpeakerEntry:
    """One speaker: `embedding` float32 [size], and a spoken prompt where the entry has one.

    `prompt_text` and `prompt_tokens` are int64 [n], `prompt_mel` float32 [frames, 80].
    """

    embedding: torch.Tensor
    prompt_text: Optional[torch.Tensor] = None
    prompt_tokens: Optional[torch.Tensor] = None
    prompt_mel: Optional[torch.Tensor] = None


def read_speakers(path: Path, size: int) -> Dict[str, SpeakerEntry]:
    """The speakers of `path`, none when there is no such file.

    Both kinds of entry are read: a bare embedding (CosyVoice-300M-SFT) and the whole zero-shot
    prompt that the official tools save. Raises ModelError for anything else.
    """
    if not path.exists():
        return {}
    found = read_pickle(path)
    if not isinstance(found, dict):
        raise _invalid(path, "it is not a dictionary of speakers")
    return {str(name): _entry(path, str(name), value, size) for name, value in found.items()}


def _entry(path: Path, name: str, value: Any, size: int) -> SpeakerEntry:
    if not isinstance(value, dict):
        raise _invalid(path, f"the speaker {name!r} is not a dictionary")
    embedding = value.get("embedding", value.get("flow_embedding"))
    if not isinstance(embedding, torch.Tensor) or embedding.numel() != size:
        raise _invalid(path, f"the speaker {name!r} has no embedding of {size} numbers")
    mel = _tensor(value, "prompt_speech_feat")
    if mel is not None and mel.shape[-1] != MEL_BANDS:
        raise _invalid(path, f"the prompt of {name!r} has {mel.shape[-1]} bands, not {MEL_BANDS}")
    return SpeakerEntry(
        embedding=embedding.float().flatten(),
        prompt_text=_ids(value, "prompt_text"),
        prompt_tokens=_ids(value, "flow_prompt_speech_token"),
        prompt_mel=None if mel is None else mel.float().reshape(-1, mel.shape[-1]),
    )


def _ids(value: Mapping[str, Any], key: str) -> Optional[torch.Tensor]:
    found = _tensor(value, key)
    return None if found is None else found.long().flatten()


def _tensor(value: Mapping[str, Any], key: str) -> Optional[torch.Tensor]:
    found = value.get(key)
    return found if isinstance(found, torch.Tensor) and found.numel() else None


def _invalid(path: Path, cause: str) -> ModelError:
    return ModelError(
        f"{path} is not CosyVoice's list of speakers: {cause}; download it again",
        code="model.checkpoint_invalid",
    )
