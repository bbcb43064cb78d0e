"""The ways a layer's weights can be stored and multiplied."""

from __future__ import annotations

FP32 = "fp32"
FP16 = "fp16"
"""Half-precision storage: the weights become float32 again when they are used."""
INT8 = "int8"
"""Weights in 8 bits per output column, activations in 8 bits by the range of each run."""
INT8_STATIC = "int8-static"
"""As `int8`, with the activations' ranges measured once, on texts given for that."""
INT8_WEIGHTS = "int8-weights"
"""Weights in 8 bits per block of 32 inputs, activations untouched. Needs ONNX Runtime 1.22."""
INT4 = "int4"
"""Weights in 4 bits per block of 32 inputs, activations untouched."""

KINDS = (FP32, FP16, INT8, INT8_STATIC, INT8_WEIGHTS, INT4)

BLOCK = 32
"""Inputs that share one scale in the weight-only kinds."""
SCALE_BYTES = 4

BYTES_PER_WEIGHT = {
    FP32: 4.0,
    FP16: 2.0,
    INT8: 1.0,
    INT8_STATIC: 1.0,
    INT8_WEIGHTS: 1.0 + SCALE_BYTES / BLOCK,
    INT4: 0.5 + SCALE_BYTES / BLOCK,
}
