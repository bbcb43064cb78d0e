"""Weight files of a Hugging Face folder, as float32 tensors that are each used exactly once."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor

from edge_tts.build.lite.json_file import JsonFile
from edge_tts.build.torch_voice.weights import read_pickle
from edge_tts.errors import ModelError
from edge_tts.runtime.integrity import what_instead_of_a_model

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_SINGLE = ("model.safetensors", "pytorch_model.bin")


class Weights:
    """Named tensors of one model. What is not taken by the end is an error."""

    def __init__(self, tensors: Dict[str, Tensor], path: Path) -> None:
        self._tensors = tensors
        self._path = path

    @property
    def path(self) -> Path:
        """The folder or file they come from."""
        return self._path

    @property
    def names(self) -> List[str]:
        """Names not taken yet."""
        return list(self._tensors)

    def has(self, name: str) -> bool:
        """Whether the tensor is there and not taken yet."""
        return name in self._tensors

    def shape(self, name: str) -> Tuple[int, ...]:
        """Shape of a tensor. Raises ModelError when there is none."""
        return tuple(self._find(name).shape)

    def take(self, name: str, *shape: int) -> Tensor:
        """The tensor as float32. Raises ModelError when it is missing or has another shape."""
        tensor = self._find(name)
        if tuple(tensor.shape) != shape:
            raise self.fault(f"{name!r} has the shape {tuple(tensor.shape)} instead of {shape}")
        if tensor.dtype not in _FLOATS:
            raise self.fault(f"{name!r} holds {tensor.dtype}")
        value = self._tensors.pop(name).float()
        if not torch.isfinite(value).all():
            raise self.fault(f"{name!r} holds values that are not numbers")
        return value

    def take_all(self) -> Dict[str, Tensor]:
        """Every tensor that is left, as it is."""
        rest, self._tensors = self._tensors, {}
        return rest

    def drop(self, prefix: str) -> None:
        """Forget tensors that the voice does not need."""
        for name in [name for name in self._tensors if name.startswith(prefix)]:
            del self._tensors[name]

    def finish(self) -> None:
        """Raises ModelError when a tensor has not been taken."""
        if self._tensors:
            raise self.fault(
                f"it has the unknown {next(iter(self._tensors))!r} ({len(self._tensors)} unknown "
                "tensors)"
            )

    def fault(self, cause: str) -> ModelError:
        """The error for these weights."""
        return ModelError(
            f"{self._path} does not hold this model: {cause}; download the checkpoint again",
            code="model.checkpoint_invalid",
        )

    def _find(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise self.fault(f"it lacks {name!r}")
        return self._tensors[name]


def read_folder(folder: Path) -> Weights:
    """The weights of a folder: one file or shards with an index. Raises ModelError."""
    for name in _SINGLE:
        if (folder / name).is_file():
            return Weights(read_file(folder / name), folder / name)
        index = folder / f"{name}.index.json"
        if index.is_file():
            return Weights(_read_shards(index), index)
    raise ModelError(
        f"{folder} holds no weights; it needs {' or '.join(_SINGLE)}", code="model.file_missing"
    )


def read_file(path: Path) -> Dict[str, Tensor]:
    """Tensors of a `.safetensors` or of a torch file; nothing in it is executed."""
    tensors = _read_safetensors(path) if path.suffix == ".safetensors" else read_pickle(path)
    if not isinstance(tensors, dict) or not all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in tensors.items()
    ):
        raise ModelError(
            f"{path} is not a dictionary of tensors; download the checkpoint again",
            code="model.checkpoint_invalid",
        )
    return dict(tensors)


def _read_shards(index: Path) -> Dict[str, Tensor]:
    shards = JsonFile.read(index).section("weight_map")
    tensors: Dict[str, Tensor] = {}
    names = sorted({shards.text(key) for key in shards.names()})
    for name in names:
        if Path(name).name != name:
            raise shards.fault(name, "lies outside the folder")
        tensors.update(read_file(index.parent / name))
    return tensors


def _read_safetensors(path: Path) -> Dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    impostor: Optional[str] = None
    try:
        impostor = what_instead_of_a_model(path)
        if impostor is None:
            return load_file(str(path))
    except (OSError, SafetensorError, ValueError) as error:
        raise ModelError(
            f"{path} is not a safetensors file or is cut off ({error}); download the checkpoint "
            "again",
            code="model.checkpoint_invalid",
        ) from error
    raise ModelError(f"{path} is {impostor}; download it again", code="model.not_a_model")
