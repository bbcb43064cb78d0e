"""An editable view of an ONNX graph: nodes by the tensors they make and use."""

from __future__ import annotations

import collections
from typing import Any, DefaultDict, Deque, Dict, Iterable, List, Optional, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 17  # the newest TensorRT 8.5 reads
IR_VERSION = 8


class Graph:
    """Nodes and initialisers of a model, indexed for pattern rewriting.

    The index is rebuilt by `prune`; between two calls, nodes added by `add` are not in it.
    """

    def __init__(
        self,
        nodes: Iterable[onnx.NodeProto],
        initializers: Dict[str, np.ndarray],
        inputs: Sequence[onnx.ValueInfoProto],
        outputs: Sequence[onnx.ValueInfoProto],
    ) -> None:
        self.nodes = list(nodes)
        self.initializers = initializers
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self._index()

    @classmethod
    def of(cls, model: onnx.ModelProto) -> Graph:
        """Take over the graph of `model`, whose nodes are edited in place."""
        graph = model.graph
        initializers = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        return cls(graph.node, initializers, graph.input, graph.output)

    def producer(self, tensor: str) -> Optional[onnx.NodeProto]:
        """The node that makes `tensor`, or None for an input, an initialiser or no tensor."""
        return self._producers.get(tensor)

    def consumers(self, tensor: str) -> List[onnx.NodeProto]:
        """The nodes that read `tensor`."""
        return self._consumers[tensor]

    def add(self, op_type: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add a one-output node and return the name of its output."""
        node = helper.make_node(op_type, inputs, [output], name=f"{output}/node", **attributes)
        self.nodes.append(node)
        return output

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        """Add an initialiser and return its name."""
        self.initializers[name] = np.asarray(value, dtype=dtype)
        return name

    def remove(self, nodes: Iterable[onnx.NodeProto]) -> None:
        """Take nodes out; whoever read their outputs must have been given another source."""
        gone = {id(node) for node in nodes}
        self.nodes = [node for node in self.nodes if id(node) not in gone]

    def prune(self) -> None:
        """Keep what the outputs need, in execution order, and rebuild the index."""
        self._index()
        live = self._reachable()
        self.nodes = self._sorted([node for node in self.nodes if id(node) in live])
        used = {name for node in self.nodes for name in node.input}
        self.initializers = {k: v for k, v in self.initializers.items() if k in used}
        self._index()

    def to_model(self) -> onnx.ModelProto:
        """Build a self-contained model at opset 17."""
        tensors = [
            numpy_helper.from_array(np.array(value, order="C"), name)
            for name, value in self.initializers.items()
        ]
        graph = helper.make_graph(self.nodes, "kokoro", self.inputs, self.outputs, tensors)
        domains = sorted({node.domain for node in self.nodes if node.domain})
        opsets = [helper.make_opsetid("", OPSET)]
        opsets += [helper.make_opsetid(domain, 1) for domain in domains]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)

    def _index(self) -> None:
        self._producers: Dict[str, onnx.NodeProto] = {}
        self._consumers: DefaultDict[str, List[onnx.NodeProto]] = collections.defaultdict(list)
        for node in self.nodes:
            for name in node.output:
                if name:
                    self._producers[name] = node
            for name in node.input:
                self._consumers[name].append(node)

    def _reachable(self) -> "set[int]":
        outputs = [self._producers.get(output.name) for output in self.outputs]
        pending = [node for node in outputs if node is not None]
        seen = {id(node) for node in pending}
        while pending:
            for name in pending.pop().input:
                node = self._producers.get(name)
                if node is not None and id(node) not in seen:
                    seen.add(id(node))
                    pending.append(node)
        return seen

    def _sorted(self, nodes: Sequence[onnx.NodeProto]) -> List[onnx.NodeProto]:
        waiting: Dict[int, int] = {}
        followers: DefaultDict[int, List[onnx.NodeProto]] = collections.defaultdict(list)
        for node in nodes:
            sources = {id(self._producers[i]) for i in node.input if i in self._producers}
            waiting[id(node)] = len(sources)
            for source in sources:
                followers[source].append(node)
        ready: Deque[onnx.NodeProto] = collections.deque(n for n in nodes if not waiting[id(n)])
        order: List[onnx.NodeProto] = []
        while ready:
            order.append(ready.popleft())
            for node in followers[id(order[-1])]:
                waiting[id(node)] -= 1
                if not waiting[id(node)]:
                    ready.append(node)
        return order
