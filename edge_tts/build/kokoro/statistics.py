"""Let the generator be told the statistics its norms take, so that it can run on windows.

Every adaptive instance norm of the generator normalises each channel over the whole utterance.
`report_statistics` makes a generator that also says what those statistics are, to learn from;
`take_statistics` makes one that takes them as an input and measures nothing, so that any window
of an utterance sounds as it does within the whole.

Statistics are float32 [2, C, 1]: means and variances of all norms' channels, norms in the order of
their names. They are in the units of the convolutions' real outputs, without bias where
`clean.drop_cancelled_biases` left it out, and so do not depend on how a window was quantised.
"""

from __future__ import annotations

from typing import List, Optional, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from edge_tts.build.kokoro.graph import Graph
from edge_tts.build.kokoro.padding import SHARES_INPUT

STATISTICS = "statistics"
CHANNELS = "channels"
_VARIANCE = "/variance"


def norms(generator: Graph) -> List[str]:
    """Names of the norms of a generator that `padding.weigh_padding` has been through, sorted."""
    tensors = [name for node in generator.nodes for name in node.output]
    return sorted(name[: -len(_VARIANCE)] for name in tensors if name.endswith(_VARIANCE))


def report_statistics(generator: Graph) -> int:
    """Add the outputs `statistics` and `channels`, the norms' sizes; return the number of norms."""
    names = norms(generator)
    means, variances = [], []
    for norm in names:
        mean, variance, scale = _mean(norm), norm + _VARIANCE, _scale(generator, norm)
        if scale is not None:
            mean = generator.add("Mul", [mean, scale], f"{norm}/real_mean")
            squared = f"{norm}/scale_squared"
            variance = generator.add("Mul", [variance, squared], f"{norm}/real_variance")
        means.append(mean)
        variances.append(variance)
    generator.add("Concat", means, "statistics/means", axis=1)
    generator.add("Concat", variances, "statistics/variances", axis=1)
    generator.add("Concat", ["statistics/means", "statistics/variances"], STATISTICS, axis=0)
    shapes = [
        generator.add("Shape", [_mean(norm)], f"{norm}/channels", start=1, end=2) for norm in names
    ]
    generator.add("Concat", shapes, CHANNELS, axis=0)
    generator.outputs += [
        helper.make_tensor_value_info(STATISTICS, TensorProto.FLOAT, None),
        helper.make_tensor_value_info(CHANNELS, TensorProto.INT64, [len(names)]),
    ]
    generator.prune()
    return len(names)


def take_statistics(generator: Graph, n_channels: Sequence[int]) -> None:
    """Replace every norm's own statistics by its part of a new input `statistics`.

    `n_channels` are the norms' sizes in the order of `norms`. The input for left-out padding goes:
    given statistics include it. Raises ValueError when the sizes are for another graph.
    """
    names = norms(generator)
    if len(names) != len(n_channels):
        raise ValueError(f"{len(n_channels)} sizes for a generator of {len(names)} norms")
    shape = [2, int(sum(n_channels)), 1]
    generator.inputs.append(helper.make_tensor_value_info(STATISTICS, TensorProto.FLOAT, shape))
    sizes = generator.constant("statistics/sizes", n_channels, np.int64)
    parts = [f"{norm}/statistics" for norm in names]
    generator.nodes.append(
        helper.make_node("Split", [STATISTICS, sizes], parts, "statistics/split", axis=1)
    )
    halves = generator.constant("statistics/halves", [1, 1], np.int64)
    for norm, part in zip(names, parts):
        _give(generator, norm, part, halves)
    generator.inputs = [item for item in generator.inputs if item.name != SHARES_INPUT]
    generator.prune()


def _give(graph: Graph, norm: str, part: str, halves: str) -> None:
    mean, variance = f"{norm}/given_mean", f"{norm}/given_variance"
    split = helper.make_node("Split", [part, halves], [mean, variance], f"{part}/split", axis=0)
    scale = _scale(graph, norm)
    if scale is not None:
        squared = f"{norm}/scale_squared"
        mean = graph.add("Div", [mean, scale], f"{norm}/scaled_mean")
        variance = graph.add("Div", [variance, squared], f"{norm}/scaled_variance")
    for own, given in ((_mean(norm), mean), (norm + _VARIANCE, variance)):
        for reader in graph.consumers(own):
            reader.input[:] = [given if name == own else name for name in reader.input]
    graph.nodes.append(split)


def _mean(norm: str) -> str:
    return f"{norm}/mean_weighted"


def _scale(graph: Graph, norm: str) -> Optional[str]:
    """What the norm's input must be multiplied by to be in real units; None when it is."""
    squared: Optional[onnx.NodeProto] = graph.producer(f"{norm}/scale_squared")
    return None if squared is None else str(squared.input[0])
