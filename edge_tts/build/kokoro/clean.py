"""Rewrites that make Kokoro's graph cheaper without changing what it computes.

The published graph is already quantised (ConvInteger, MatMulInteger, DynamicQuantizeLSTM) and its
time goes to convolutions and to the passes over memory around them. Each rewrite here saves such
passes or removes an operator that later tools cannot take. Names are the export's own.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np
import onnx
from onnx import helper

from edge_tts.build.kokoro.graph import Graph

# Attributes that opset 18 and later added and opset 17 rejects.
_NEWER_ATTRIBUTES = {
    "Resize": {"antialias", "keep_aspect_ratio_policy", "axes"},
    "Cast": {"saturate"},
    "Split": {"num_outputs"},
}
_ISTFT = "/decoder/decoder/generator/istft/stft/"
_WINDOW_SUM = "decoder.decoder.generator.stft.istft.stft.window_sum"


def clean(graph: Graph) -> None:
    """Apply every rewrite, in the order they build on each other."""
    lower_opset(graph)
    replace_istft_window(graph)
    fold_instance_norms(graph)
    fold_snakes(graph)
    square_by_multiplication(graph)
    drop_cancelled_biases(graph)


def lower_opset(graph: Graph) -> None:
    """Express opset-20 nodes in opset 17."""
    for node in graph.nodes:
        if node.op_type == "ReduceMean" and len(node.input) > 1:
            axes = graph.initializers[node.input[1]].tolist()
            keep = next((a.i for a in node.attribute if a.name == "keepdims"), 1)
            del node.input[1:]
            _set_attributes(
                node,
                [helper.make_attribute("axes", axes), helper.make_attribute("keepdims", keep)],
            )
        newer = _NEWER_ATTRIBUTES.get(node.op_type)
        if newer:
            _set_attributes(node, [a for a in node.attribute if a.name not in newer])
    graph.prune()


def replace_istft_window(graph: Graph) -> None:
    """Divide by the window sum without NonZero and ScatterND.

    The sum differs from 1 in the first 20 samples only, so slicing them off is exact.
    """
    window_sum = graph.initializers[_WINDOW_SUM].astype(np.float32)
    threshold = float(graph.initializers[_ISTFT + "Constant_9_output_0"])
    edge = len(window_sum)
    scale = 1 / np.where(window_sum > threshold, window_sum, 1).reshape(1, 1, edge)
    zero = graph.constant("istft/zero", [0], np.int64)
    split = graph.constant("istft/edge", [edge], np.int64)
    end = graph.constant("istft/end", [2**31 - 1], np.int64)
    axis = graph.constant("istft/axis", [2], np.int64)
    signal = _ISTFT + "ConvTranspose_output_0"
    head = graph.add("Slice", [signal, zero, split, axis], "istft/head")
    rest = graph.add("Slice", [signal, split, end, axis], "istft/rest")
    scaled = graph.add("Mul", [head, graph.constant("istft/scale", scale)], "istft/scaled")
    result = _ISTFT + "Unsqueeze_3_output_0"
    graph.remove([_made_by(graph, result)])
    graph.add("Concat", [scaled, rest], result, axis=2)
    graph.prune()


def fold_instance_norms(graph: Graph) -> int:
    """Turn `(x - mean) / sd · gain + offset` into `x·a + b` with a, b per channel.

    The variance is taken as E[x²] - E[x]², so that x is read three times instead of six. The two
    statistics stay tensors of their own (`…/mean`, `…/square`): windows of an utterance can be
    given the statistics of the whole.
    """
    gone: List[onnx.NodeProto] = []
    count = 0
    for division in list(graph.nodes):
        found = _match_instance_norm(graph, division)
        if found is None:
            continue
        x, mean, epsilon = found
        name = division.output[0]
        deviation = _add_deviation(graph, name, x, mean, epsilon)
        for product in graph.consumers(name):
            gain = _other_input(product, name)
            (total,) = graph.consumers(product.output[0])
            offset = _other_input(total, product.output[0])
            _add_affine(graph, total.output[0], x, (mean, deviation), (gain, offset))
            gone += [product, total]
        gone.append(division)
        count += 1
    graph.remove(gone)
    graph.prune()
    return count


def _match_instance_norm(
    graph: Graph, division: onnx.NodeProto
) -> Optional[Tuple[str, str, float]]:
    """(x, mean tensor, epsilon) when `division` is the centre of an instance norm over time."""
    if division.op_type != "Div":
        return None
    centred, deviation = (graph.producer(name) for name in division.input)
    if centred is None or deviation is None:
        return None
    if centred.op_type != "Sub" or deviation.op_type != "Sqrt":
        return None
    mean, variance = graph.producer(centred.input[1]), graph.producer(deviation.input[0])
    if mean is None or mean.op_type != "ReduceMean" or variance is None:
        return None
    axes = next((list(a.ints) for a in mean.attribute if a.name == "axes"), [])
    epsilon = [graph.initializers[i] for i in variance.input if i in graph.initializers]
    if axes != [2] or not epsilon:
        return None
    return centred.input[0], mean.output[0], float(epsilon[0])


def _add_deviation(graph: Graph, name: str, x: str, mean: str, epsilon: float) -> str:
    total = graph.add("ReduceSumSquare", [x], f"{name}/total", axes=[2], keepdims=1)
    shape = graph.add("Shape", [x], f"{name}/shape")
    time_axis = graph.constant("norm/time_axis", [2], np.int64)
    length = graph.add("Gather", [shape, time_axis], f"{name}/length", axis=0)
    n_frames = graph.add("Cast", [length], f"{name}/n_frames", to=onnx.TensorProto.FLOAT)
    square = graph.add("Div", [total, n_frames], f"{name}/square")
    mean_squared = graph.add("Mul", [mean, mean], f"{name}/mean_squared")
    difference = graph.add("Sub", [square, mean_squared], f"{name}/difference")
    zero = graph.constant("norm/zero", 0.0)
    variance = graph.add("Max", [difference, zero], f"{name}/variance")
    bound = graph.constant("norm/epsilon", epsilon)
    padded = graph.add("Add", [variance, bound], f"{name}/variance_eps")
    return graph.add("Sqrt", [padded], f"{name}/deviation")


def _add_affine(
    graph: Graph, name: str, x: str, statistics: Tuple[str, str], style: Tuple[str, str]
) -> None:
    mean, deviation = statistics
    gain, offset = style
    scale = graph.add("Div", [gain, deviation], f"{name}/scale")
    centre = graph.add("Mul", [mean, scale], f"{name}/centre")
    shift = graph.add("Sub", [offset, centre], f"{name}/shift")
    scaled = graph.add("Mul", [x, scale], f"{name}/scaled")
    graph.add("Add", [scaled, shift], name)


def fold_snakes(graph: Graph) -> int:
    """Turn `y + sin²(αy)/α`, y an affine norm, into `y + h - h·cos(2αy)` with h = 1/(2α).

    One cosine replaces sine, power and product, and both uses of y come straight from the
    convolution's output: 7 passes over memory instead of 10.
    """
    gone: List[onnx.NodeProto] = []
    count = 0
    for sine in list(graph.nodes):
        found = _match_snake(graph, sine)
        if found is None:
            continue
        alpha_name, affine, result = found
        alpha = graph.initializers[alpha_name].astype(np.float64).reshape(1, -1, 1)
        double = graph.constant(f"{alpha_name}/double", 2 * alpha)
        half = graph.constant(f"{alpha_name}/half", 1 / (2 * alpha))
        _add_snake(graph, affine, result.output[0], double, half)
        gone.append(result)
        count += 1
    graph.remove(gone)
    graph.prune()
    return count


def _match_snake(
    graph: Graph, sine: onnx.NodeProto
) -> Optional[Tuple[str, onnx.NodeProto, onnx.NodeProto]]:
    """(α, the affine norm's final Add, the snake's final Add) when `sine` belongs to a snake."""
    if sine.op_type != "Sin":
        return None
    product = graph.producer(sine.input[0])
    if product is None or product.op_type != "Mul":
        return None
    alphas = [i for i in product.input if i in graph.initializers]
    if len(alphas) != 1 or graph.initializers[alphas[0]].ndim != 3:
        return None
    y = _other_input(product, alphas[0])
    affine = graph.producer(y)
    (square,) = graph.consumers(sine.output[0])
    (weighted,) = graph.consumers(square.output[0])
    (total,) = graph.consumers(weighted.output[0])
    is_snake = total.op_type == "Add" and y in total.input
    if affine is None or not is_snake or not affine.input[1].endswith("/shift"):
        return None
    return alphas[0], affine, total


def _add_snake(graph: Graph, affine: onnx.NodeProto, name: str, double: str, half: str) -> None:
    scaled, shift = affine.input
    x, scale = _made_by(graph, scaled).input
    rate = graph.add("Mul", [scale, double], f"{name}/rate")
    phase = graph.add("Mul", [shift, double], f"{name}/phase")
    lift = graph.add("Add", [shift, half], f"{name}/lift")
    turned = graph.add("Mul", [x, rate], f"{name}/turned")
    angle = graph.add("Add", [turned, phase], f"{name}/angle")
    cosine = graph.add("Cos", [angle], f"{name}/cosine")
    wave = graph.add("Mul", [cosine, half], f"{name}/wave")
    level = graph.add("Mul", [x, scale], f"{name}/level")
    lifted = graph.add("Add", [level, lift], f"{name}/lifted")
    graph.add("Sub", [lifted, wave], name)


def square_by_multiplication(graph: Graph) -> int:
    """Replace `Pow(x, 2)`, which calls the C library's pow per element, by `x · x`."""
    count = 0
    for node in graph.nodes:
        if node.op_type != "Pow":
            continue
        exponent = graph.initializers.get(node.input[1])
        if exponent is not None and exponent.size == 1 and float(exponent.ravel()[0]) == 2.0:
            node.op_type = "Mul"
            node.input[1] = node.input[0]
            count += 1
    graph.prune()
    return count


def drop_cancelled_biases(graph: Graph) -> int:
    """Feed the norm after a residual block's first convolution the raw integer sums.

    Instance norm cancels both the bias and the quantisation scale, so the two passes that apply
    them are needless; epsilon is divided by scale² to keep the result the same.
    """
    count = 0
    for convolution in list(graph.nodes):
        if convolution.op_type != "ConvInteger" or "/convs1" not in convolution.name:
            continue
        chain = _match_bias_and_scale(graph, convolution)
        if chain is not None:
            _bypass(graph, convolution.output[0], *chain)
            count += 1
    graph.prune()
    return count


def _match_bias_and_scale(
    graph: Graph, convolution: onnx.NodeProto
) -> Optional[Tuple[onnx.NodeProto, onnx.NodeProto]]:
    """(Cast, Mul) behind `convolution`, when a bias lies between and only norms read the result."""
    (bias,) = graph.consumers(convolution.output[0])
    if bias.op_type != "Add":
        return None
    (cast,) = graph.consumers(bias.output[0])
    (scaling,) = graph.consumers(cast.output[0])
    readers = graph.consumers(scaling.output[0])
    if not all(_is_part_of_norm(node) for node in readers):
        return None
    return cast, scaling


def _is_part_of_norm(node: onnx.NodeProto) -> bool:
    if node.op_type in {"ReduceMean", "ReduceSumSquare", "Shape"}:
        return True
    if node.op_type != "Mul":
        return False
    factor: str = node.input[1]
    return factor.endswith(("/scale", "/rate"))


def _bypass(graph: Graph, sums: str, cast: onnx.NodeProto, scaling: onnx.NodeProto) -> None:
    scale = _other_input(scaling, cast.output[0])
    readers = graph.consumers(scaling.output[0])
    (total,) = [node for node in readers if node.op_type == "ReduceSumSquare"]
    norm = total.output[0][: -len("/total")]
    cast.input[0] = sums
    for node in readers:
        for position, name in enumerate(node.input):
            if name == scaling.output[0]:
                node.input[position] = cast.output[0]
    squared = graph.add("Mul", [scale, scale], f"{norm}/scale_squared")
    epsilon = graph.add("Div", ["norm/epsilon", squared], f"{norm}/epsilon")
    _made_by(graph, f"{norm}/variance_eps").input[1] = epsilon


def _made_by(graph: Graph, tensor: str) -> onnx.NodeProto:
    node = graph.producer(tensor)
    if node is None:
        raise KeyError(tensor)
    return node


def _other_input(node: onnx.NodeProto, known: str) -> str:
    (other,) = [name for name in node.input if name != known]
    return str(other)


def _set_attributes(node: onnx.NodeProto, attributes: List[onnx.AttributeProto]) -> None:
    kept = list(attributes)
    del node.attribute[:]
    node.attribute.extend(kept)
