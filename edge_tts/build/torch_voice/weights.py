"""Files that torch wrote, read without running code, and weight norm folded into plain weights."""

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
        raise ModelError(
            f"{path} is not a file of a checkpoint: torch cannot read it ({cause}); {_AGAIN}",
            code="model.checkpoint_invalid",
        ) from error


def without_weight_norm(weights: Mapping[str, Tensor]) -> Weights:
    """The same weights with each magnitude and direction, of either spelling, as one weight."""
    named = dict(weights)
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


def _starts_as_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"
