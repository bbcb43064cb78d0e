"""Weight files of a checkpoint: flat dictionaries of float32 tensors, loaded without running code.

Names are the official ones, with two freedoms that published files take: the vocoder's may carry
the prefix `generator.`, and weight norm may be spelt the old way or as a parametrisation.
"""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any, Dict, Mapping

import torch
from torch import Tensor

from edge_tts.errors import ModelError
from edge_tts.runtime.integrity import what_instead_of_a_model

Weights = Dict[str, Tensor]

_AGAIN = "download the checkpoint again"
# (magnitude, direction) suffixes of a weight-normed `weight`, newer spelling first.
_NORM_SUFFIXES = (
    (".parametrizations.weight.original0", ".parametrizations.weight.original1"),
    (".weight_g", ".weight_v"),
)
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


def read_pickle(path: Path) -> Any:
    """Whatever plain data a torch file holds. Raises ModelError; executes nothing from the file."""
    if not path.is_file():
        raise ModelError(f"{path} is missing; {_AGAIN}", code="model.file_missing")
    impostor = what_instead_of_a_model(path)
    if impostor:
        raise ModelError(f"{path} is {impostor}; {_AGAIN}", code="model.not_a_model")
    is_zip = zipfile.is_zipfile(path)
    if not is_zip and _starts_as_zip(path):
        raise ModelError(f"{path} is cut off; {_AGAIN}", code="model.file_truncated")
    try:
        return torch.load(str(path), map_location="cpu", weights_only=True, mmap=is_zip)
    except pickle.UnpicklingError as error:
        raise ModelError(
            f"{path} holds more than tensors and is not loaded, because unpacking it would run "
            f"code; get the checkpoint from its publisher",
            code="model.checkpoint_unsafe",
        ) from error
    except (RuntimeError, EOFError, ValueError, KeyError, OSError) as error:
        cause = (str(error).splitlines() or [type(error).__name__])[0]
        raise _invalid(path, f"torch cannot read it ({cause})") from error


def plain_names(weights: Mapping[str, Tensor]) -> Weights:
    """The same weights without `generator.` prefixes and with weight norm folded in."""
    named = {
        name[len(_GENERATOR) :] if name.startswith(_GENERATOR) else name: value
        for name, value in weights.items()
    }
    for magnitude_suffix, direction_suffix in _NORM_SUFFIXES:
        for magnitude_name in [name for name in named if name.endswith(magnitude_suffix)]:
            stem = magnitude_name[: -len(magnitude_suffix)]
            direction = named.pop(stem + direction_suffix, None)
            if direction is None:
                continue  # the key stays and is reported as unknown
            named[f"{stem}.weight"] = _folded(named.pop(magnitude_name), direction)
    return named


def _folded(magnitude: Tensor, direction: Tensor) -> Tensor:
    """w = g · v / ‖v‖ over all but the first axis (Salimans & Kingma 2016)."""
    return direction * (magnitude / torch.norm_except_dim(direction, 2, 0))


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


def _starts_as_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _invalid(path: Path, cause: str) -> ModelError:
    return ModelError(
        f"{path} is not this part of a CosyVoice checkpoint: {cause}; {_AGAIN}",
        code="model.checkpoint_invalid",
    )
