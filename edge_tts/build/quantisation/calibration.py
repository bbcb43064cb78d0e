"""What passes through the linear layers of a graph: its range, and samples of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Dict, List, Sequence

import numpy as np
import onnx
from onnx import helper

from edge_tts.build.quantisation import kinds
from edge_tts.build.quantisation.comparing import Run, snr_db
from edge_tts.build.quantisation.kinds import BLOCK
from edge_tts.build.quantisation.layers import Exclusion, constants_of, linear_layers, weight_of
from edge_tts.build.quantisation.packing import in_blocks, per_column
from edge_tts.build.quantisation.rewrite import Range, levels_of
from edge_tts.runtime.onnx import OnnxEngine

MAX_ROWS = 64


@dataclass(frozen=True)
class Passage:
    """What one tensor was in all runs: `rows` float32 [at most 64, width] of them."""

    values: Range
    rows: "np.ndarray"


@dataclass(frozen=True)
class LayerError:
    """Signal-to-noise ratio of one layer's product when it alone is quantised."""

    name: str
    snr_db: float
    n_weights: int


def observe(
    model: onnx.ModelProto, runs: Sequence[Run], exclusion: Exclusion
) -> Dict[str, Passage]:
    """Run the graph with the inputs of its linear layers as further outputs."""
    layers = linear_layers(model.graph, exclusion)
    tensors = {model.graph.node[layer.index].input[0] for layer in layers}
    given = {item.name for item in model.graph.input}
    known = {item.name for item in model.graph.output}
    extended = onnx.ModelProto()
    extended.CopyFrom(model)
    for name in sorted(tensors - given - known):
        extended.graph.output.append(helper.make_empty_tensor_value_info(name))
    seen: Dict[str, List[np.ndarray]] = {name: [] for name in tensors}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "observed.onnx"
        onnx.save(extended, str(path), save_as_external_data=True, location="observed.onnx.data")
        with OnnxEngine(path) as engine:
            for run in runs:
                everything = {**run.inputs, **engine.run(run.inputs)}
                for name in tensors:
                    seen[name].append(everything[name])
    return {name: _passage(values) for name, values in seen.items()}


def layer_errors(
    model: onnx.ModelProto, kind: str, passages: Dict[str, Passage], exclusion: Exclusion
) -> List[LayerError]:
    """The error each layer makes by itself, worst first."""
    constants, found = constants_of(model.graph), []
    for layer in linear_layers(model.graph, exclusion):
        node = model.graph.node[layer.index]
        passage = passages[node.input[0]]
        weight = weight_of(node, constants[node.input[1]])
        wanted = passage.rows @ weight
        approximate = _activations(passage, kind) @ _rounded(weight, kind)
        found.append(LayerError(layer.name, snr_db(wanted, approximate), layer.n_weights))
    return sorted(found, key=lambda error: error.snr_db)


def _passage(values: "List[np.ndarray]") -> Passage:
    flat = np.concatenate([value.reshape(-1, value.shape[-1]) for value in values])
    every = -(-len(flat) // MAX_ROWS)
    return Passage((float(flat.min()), float(flat.max())), flat[::every].astype(np.float32))


def _rounded(weight: "np.ndarray", kind: str) -> "np.ndarray":
    """The weights as the kind stores them, as float32 again."""
    if kind in (kinds.INT8, kinds.INT8_STATIC):
        whole, scale = per_column(weight)
        return whole * scale
    if kind == kinds.FP16:
        return weight.astype(np.float16).astype(np.float32)
    bits = 4 if kind == kinds.INT4 else 8
    packed, scales = in_blocks(weight, bits)
    levels = packed
    if bits == 4:
        levels = np.stack([packed & 15, packed >> 4], axis=3).reshape(*packed.shape[:2], BLOCK)
    values = (levels.astype(np.float32) - (1 << (bits - 1))) * scales.reshape(*packed.shape[:2], 1)
    n_inputs, n_outputs = weight.shape
    return values.reshape(n_outputs, -1)[:, :n_inputs].T


def _activations(passage: Passage, kind: str) -> "np.ndarray":
    """The rows as the kind's product sees them."""
    if kind not in (kinds.INT8, kinds.INT8_STATIC):
        return passage.rows
    step, zero = levels_of(passage.values)
    levels = np.clip(np.rint(passage.rows / step) + zero, 0, 255)
    return ((levels - zero) * step).astype(np.float32)
