"""Boards as far as published figures describe them. None of this was measured by this project.

Sources: NVIDIA's power mode tables and data sheets (memory clocks, peaks), start-up logs of
TensorRT that users posted (what CUDA and TensorRT take before any weight), and two published
measurements that both reach 42 % of a Jetson's memory bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Tuple

LOW_EFFICIENCY, HIGH_EFFICIENCY = 0.42, 0.55
"""Share of the memory bandwidth that reading weights reaches: measured by others, and hoped for."""
COMPUTE_SHARE = 0.30
"""Share of the peak of the tensor cores, or half of it for FP32, that large products sustain."""
FP32_SHARE = 0.60
SCRATCH_MIB = 100.0
"""Working memory of the largest engine; the board's own figure is `device_memory_size`."""


@dataclass(frozen=True)
class Platform:
    """A board. Figures that nobody has published are None.

    `baseline_mib` is what CUDA and TensorRT take before any weight, lowest and highest figure;
    `has_weight_only_int8` whether TensorRT there multiplies by 8-bit weights without quantising
    activations too.
    """

    title: str
    baseline_mib: Optional[Tuple[float, float]]
    bandwidth_gb_s: Optional[float]
    fp16_tflops: Optional[float]
    fp32_tflops: Optional[float]
    has_weight_only_int8: bool
    remark: str


PLATFORMS: Mapping[str, Platform] = {
    "xavier-nx": Platform(
        "Jetson Xavier NX, 20 W modes, JetPack 5, TensorRT 8.5",
        (250.0, 350.0),
        59.7,
        6.8,
        0.85,
        False,
        "no board was at hand; the 10 and 15 W modes have 51.2 GB/s; 8-bit layers need quantised "
        "activations as well on TensorRT 8.5",
    ),
    "orin": Platform(
        "Jetson AGX Orin, JetPack 6, TensorRT 8.6 or 10",
        (219.0, 302.0),
        204.8,
        None,
        None,
        False,
        "an Orin Nano or NX has half the bandwidth or less; no compute figure was found that "
        "could be trusted",
    ),
    "thor": Platform(
        "Jetson Thor, JetPack 7, TensorRT 10.13 or newer",
        None,
        None,
        None,
        None,
        True,
        "no figure was found for what CUDA and TensorRT take there: run scripts/board_report.sh",
    ),
    "raspberry-pi": Platform(
        "Raspberry Pi 4 or 5, ONNX Runtime on the CPU",
        (65.0, 65.0),
        None,
        None,
        None,
        True,
        "the baseline is Python, numpy and ONNX Runtime as measured on x86; no speed is known",
    ),
}
