"""What half precision does to a part, computed by ONNX Runtime on the CPU.

Every node that an engine would compute in half precision gets rounded inputs, weights and outputs;
its sums are kept in single precision, as tensor cores keep them. It stands in for an engine where
no GPU is at hand. A GPU rounds in other places too, so the board's own gate has the last word.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Dict, List, Sequence, Set

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_tts.build.relayed_engine import RelayedEngine
from edge_tts.build.tensorrt.gate import Trial
from edge_tts.build.tensorrt.half import float_tensors, half_nodes, half_values
from edge_tts.runtime.onnx import OnnxEngine


class HalfPrecisionSimulation(RelayedEngine):
    """The graph of a trial, rounded as its precision says."""

    def __init__(self, trial: Trial) -> None:
        """Raises EngineError when ONNX Runtime cannot run the graph."""
        model = onnx.load(trial.graph)
        half = half_nodes(model, trial.precision, trial.part.keep_fp32)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{trial.part.name}.onnx"
            onnx.save(rounded(model, half, trial.part.half_io if half else ()), str(path))
            super().__init__(OnnxEngine(path))


def rounded(model: onnx.ModelProto, half: Set[str], half_io: Sequence[str]) -> onnx.ModelProto:
    """A copy of `model` that rounds around the nodes named in `half`, and the tensors `half_io`."""
    return _Rounder(model, half, half_io).run()


class _Rounder:
    def __init__(self, model: onnx.ModelProto, half: Set[str], half_io: Sequence[str]) -> None:
        self._model, self._half = model, half
        self._floats = float_tensors(model)
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._half_io = set(half_io)
        self._made: List[onnx.NodeProto] = []
        self._new_weights: Dict[str, onnx.TensorProto] = {}
        self._is_rounded: Set[str] = set()

    def run(self) -> onnx.ModelProto:
        for node in self._model.graph.node:
            self._add(node)
        graph = helper.make_graph(
            self._made,
            self._model.graph.name,
            list(self._model.graph.input),
            list(self._model.graph.output),
            [*self._weights.values(), *self._new_weights.values()],
        )
        return helper.make_model(
            graph, opset_imports=list(self._model.opset_import), ir_version=self._model.ir_version
        )

    def _add(self, node: onnx.NodeProto) -> None:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        is_half = node.name in self._half
        graph_inputs = {item.name for item in self._model.graph.input}
        copy.input[:] = [
            self._rounded(name)
            if name in self._floats and (is_half or name in self._half_io & graph_inputs)
            else name
            for name in node.input
        ]
        wanted = [
            name
            for name in node.output
            if name in self._floats and (is_half or name in self._half_io)
        ]
        copy.output[:] = [f"{name}:raw" if name in wanted else name for name in node.output]
        self._made.append(copy)
        for name in wanted:
            self._round(f"{name}:raw", name)
            self._is_rounded.add(name)

    def _rounded(self, name: str) -> str:
        """The tensor holding `name` rounded, made at its first use."""
        result = f"{name}:rounded"
        if name in self._is_rounded:
            return name
        if name in self._weights:
            values = half_values(numpy_helper.to_array(self._weights[name])).astype(np.float32)
            self._new_weights[result] = numpy_helper.from_array(values, result)
        elif result not in self._is_rounded:
            self._round(name, result)
            self._is_rounded.add(result)
        return result

    def _round(self, source: str, target: str) -> None:
        # The Identity keeps ONNX Runtime from taking the two casts for none.
        steps = [
            ("Cast", source, f"{target}:half", {"to": TensorProto.FLOAT16}),
            ("Identity", f"{target}:half", f"{target}:same", {}),
            ("Cast", f"{target}:same", target, {"to": TensorProto.FLOAT}),
        ]
        for kind, given, made, attributes in steps:
            self._made.append(helper.make_node(kind, [given], [made], f"{made}:node", **attributes))
