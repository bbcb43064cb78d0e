"""What each TensorRT release's ONNX parser takes, from tables that ship with the package."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Dict, Mapping, Tuple

DATA = Path(__file__).with_name("data")
VERSIONS = ("8.5", "8.6", "10")
"""8.5 is JetPack 5, 8.6 JetPack 6.0, 10 stands for 10.3, the oldest 10 on a board (JetPack 6.1)."""

_NATIVE_FROM_86 = ("LayerNormalization", "GroupNormalization")
_OLDEST_10 = (10, 3)


@dataclass(frozen=True)
class Operator:
    """One row of a table."""

    is_supported: bool
    note: str


@dataclass(frozen=True)
class Trap:
    """An operator that the table allows and that must not be used all the same."""

    versions: Tuple[str, ...]
    cause: str


TRAPS: Mapping[str, Trap] = {
    "InstanceNormalization": Trap(
        ("8.5", "8.6"), "is a plugin that loads cuDNN, some 400 MB, whatever the tactic sources"
    ),
    "CumSum": Trap(VERSIONS, "becomes a loop with one iteration per element"),
    "NonZero": Trap(VERSIONS, "has an output whose shape depends on data, which no profile bounds"),
    "Loop": Trap(VERSIONS, "cannot be captured in a CUDA graph"),
    "Scan": Trap(VERSIONS, "cannot be captured in a CUDA graph"),
    "If": Trap(VERSIONS, "keeps both branches in the engine"),
    "RandomNormal": Trap(VERSIONS, "ignores its seed"),
    "RandomNormalLike": Trap(VERSIONS, "ignores its seed"),
    "RandomUniform": Trap(VERSIONS, "ignores its seed"),
    "RandomUniformLike": Trap(VERSIONS, "ignores its seed"),
}

REMEDIES: Mapping[str, str] = {
    "InstanceNormalization": "write it as ReduceMean, Sub, Mul, Sqrt and Div",
    "LayerNormalization": "export at opset 16, or write it as ReduceMean, Sub, Mul, Sqrt and Div",
    "GroupNormalization": "write it as Reshape, ReduceMean, Sub, Mul, Sqrt and Div",
    "CumSum": "multiply by a triangular matrix, or compute it outside the graph",
    "NonZero": "use a mask (Where), or compute the indices outside the graph",
    "Loop": "unroll it, or loop outside the graph",
    "Scan": "unroll it, or loop outside the graph",
    "If": "fold the condition before exporting",
    "STFT": "write it as Conv with windowed DFT rows",
    "DFT": "write it as Conv or MatMul with DFT rows",
    "Gelu": "write it with Erf",
    "Mish": "write it as x · tanh(softplus(x))",
    "Attention": "write it as MatMul and Softmax",
    "ConvInteger": "dequantise the graph; TensorRT 8.5 knows int8 only through Q/DQ pairs",
    "MatMulInteger": "dequantise the graph; TensorRT 8.5 knows int8 only through Q/DQ pairs",
    "DynamicQuantizeLinear": "dequantise the graph",
    "QLinearConv": "dequantise the graph",
    "QLinearMatMul": "dequantise the graph",
}
_RANDOM = "draw the noise outside the graph and make it an input"
_DEFAULT = "express it in operators of edge_tts/build/tensorrt/data/operators_8.5.csv"


def remedy(op_type: str) -> str:
    """What to do about an operator the parser does not take."""
    if op_type.startswith("Random"):
        return _RANDOM
    return REMEDIES.get(op_type, _DEFAULT)


@lru_cache(maxsize=None)
def operators(version: str) -> Mapping[str, Operator]:
    """The table of one of `VERSIONS`."""
    if version == "10":
        return _read("operators_10.csv")
    table = _read("operators_8.5.csv")
    if version == "8.6":
        native = {name: Operator(True, "native from 8.6") for name in _NATIVE_FROM_86}
        table = {**table, **native}
    return table


def _read(name: str) -> Dict[str, Operator]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return {row["op"]: _operator(row) for row in csv.DictReader(file)}


def _operator(row: Mapping[str, str]) -> Operator:
    since = row.get("since") or ""
    is_newer = since[:1].isdigit() and tuple(map(int, since.split("."))) > _OLDEST_10
    note = f"only from {since}" if is_newer else row["note"]
    return Operator(row["supported"] != "no" and not is_newer, note)
