"""Weight files of a checkpoint: flat dictionaries of float32 tensors, loaded without running code.

Names are the official ones, with two freedoms that published files take: the vocoder's may carry
the prefix `generator.`, and weight norm may be spelt the old way or as a parametrisation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Mapping

import torch
from torch import Tensor

from edge_tts.build.torch_voice.weights import Weights, read_pickle, without_weight_norm
from edge_tts.errors import ModelError

_AGAIN = "download the checkpoint again"
_GENERATOR = "generator."


def read_weights(path: Path) -> Weights:
    """The tensors of one file, mapped from disk where its format allows.

    Raises ModelError for a missing, truncated, foreign or hostile file and for anything in it that
    is not a float32 tensor.
    """
    loaded = read_pickle(path)
    if not isinstance(loaded, dict) or not loaded:
        raise _invalid(path, "it is not a dictionary of tensors")
    for name, value in loaded.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise _invalid(path, f"{name!r} is {type(value).__name__}, not a tensor")
        if value.dtype != torch.float32:
            raise _invalid(path, f"{name!r} holds {value.dtype} instead of torch.float32")
    return loaded


def plain_names(weights: Mapping[str, Tensor]) -> Weights:
    """The same weights without `generator.` prefixes and with weight norm folded in."""
    return without_weight_norm(
        {
            name[len(_GENERATOR) :] if name.startswith(_GENERATOR) else name: value
            for name, value in weights.items()
        }
    )


def fill(module: torch.nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Give `module`, made on the meta device, its weights by reference.

    Raises ModelError naming the first missing or unknown name, or the first wrong shape.
    """
    wanted = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    missing = sorted(wanted.keys() - weights.keys())
    unknown = sorted(weights.keys() - wanted.keys())
    if missing or unknown:
        fault = f"lacks {missing[0]!r}" if missing else f"has the unknown {unknown[0]!r}"
        raise _invalid(path, f"it {fault} ({len(missing)} missing, {len(unknown)} unknown tensors)")
    for name, shape in wanted.items():
        if tuple(weights[name].shape) != shape:
            found = tuple(weights[name].shape)
            raise _invalid(path, f"{name!r} has the shape {found} instead of {shape}")
    module.load_state_dict(dict(weights), assign=True)
    module.eval().requires_grad_(False)


def _invalid(path: Path, cause: str) -> ModelError:
    return ModelError(
        f"{path} is not this part of a CosyVoice checkpoint: {cause}; {_AGAIN}",
        code="model.checkpoint_invalid",
    )
