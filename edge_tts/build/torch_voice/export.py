"""Parts as ONNX graphs that ONNX Runtime runs and TensorRT 8.5 takes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Dict

import numpy as np
import torch

from edge_tts.build.quantisation.files import store_quantised
from edge_tts.build.quantisation.kinds import FP32
from edge_tts.build.quantisation.layers import NOTHING, Exclusion
from edge_tts.build.torch_voice.parts import Part
from edge_tts.runtime.engine import Engine

OPSET = 16
"""The newest opset that still writes layer norms as operators TensorRT 8.5 knows."""


def export_part(part: Part, path: Path) -> None:
    """Write the plain graph of `part` to `path`."""
    axes = {
        spec.name: {axis: name for axis, name in enumerate(spec.shape) if isinstance(name, str)}
        for spec in (*part.inputs, *part.outputs)
    }
    with warnings.catch_warnings(), torch.no_grad():
        # The tracing exporter announces its successor, and warns of constants that are constants.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            part.module,
            tuple(spec.example(part.lengths) for spec in part.inputs),
            str(path),
            dynamo=False,
            opset_version=OPSET,
            input_names=[spec.name for spec in part.inputs],
            output_names=[spec.name for spec in part.outputs],
            dynamic_axes=axes,
        )


def export_optimised(
    part: Part, path: Path, precision: str = FP32, exclusion: Exclusion = NOTHING
) -> None:
    """Write `part` fused for ONNX Runtime, with its weights beside it, ready to map."""
    plain = path.with_name(f"{path.stem}.plain.onnx")
    try:
        export_part(part, plain)
        store_quantised(plain, path, precision, exclusion)
    finally:
        for leftover in path.parent.glob(f"{path.stem}.plain.onnx*"):
            leftover.unlink()


class TorchEngine(Engine):
    """A part run by torch, to compare the exported graph with."""

    def __init__(self, part: Part) -> None:
        self._part = part

    @property
    def inputs(self) -> tuple:
        """Names of the part's inputs."""
        return tuple(spec.name for spec in self._part.inputs)

    @property
    def outputs(self) -> tuple:
        """Names of the part's outputs."""
        return tuple(spec.name for spec in self._part.outputs)

    @property
    def memory_bytes(self) -> int:
        """Size of the weights."""
        return sum(value.nbytes for value in self._part.module.state_dict().values())

    def run(self, inputs: "Dict[str, np.ndarray]") -> "Dict[str, np.ndarray]":
        """Run the module."""
        return self._part.run(inputs)

    def close(self) -> None:
        """Nothing to release."""
