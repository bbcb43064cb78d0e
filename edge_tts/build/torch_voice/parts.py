"""An engine of a voice as a torch module with named inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Tuple

import numpy as np
import torch
from torch import Tensor, nn

from edge_tts.voices.manifest import Shape


@dataclass(frozen=True)
class TensorSpec:
    """One input or output; a text in `shape` names an axis of any length."""

    name: str
    shape: Shape
    is_integer: bool = False

    def example(self, lengths: Dict[str, int]) -> Tensor:
        """Zeros (ones for integers) of this shape, for tracing."""
        shape = [lengths[axis] if isinstance(axis, str) else axis for axis in self.shape]
        if self.is_integer:
            return torch.ones(shape, dtype=torch.int32)
        return torch.zeros(shape)


@dataclass(frozen=True)
class Part:
    """A module and the tensors of its graph. `lengths` are axis lengths to trace with."""

    name: str
    module: nn.Module
    inputs: Tuple[TensorSpec, ...]
    outputs: Tuple[TensorSpec, ...]
    lengths: Dict[str, int]

    @property
    def input_shapes(self) -> Dict[str, Shape]:
        """Shapes of the inputs by name, as a manifest holds them."""
        return {spec.name: spec.shape for spec in self.inputs}

    @property
    def output_shapes(self) -> Dict[str, Shape]:
        """Shapes of the outputs by name."""
        return {spec.name: spec.shape for spec in self.outputs}

    def run(self, inputs: Dict[str, "np.ndarray"]) -> Dict[str, "np.ndarray"]:
        """Run the module itself on numpy arrays."""
        tensors = [torch.from_numpy(np.ascontiguousarray(inputs[i.name])) for i in self.inputs]
        with torch.no_grad():
            results = self.module(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        return {spec.name: value.numpy() for spec, value in zip(self.outputs, results)}
