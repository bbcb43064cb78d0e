"""Start a student from the weights of another, smaller one or one that sees further ahead.

Blocks the other lacks begin as the identity. A convolution that sees less far ahead keeps its taps
in place and lets the last one stand for those beyond it: features change little in 12.5 ms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Optional

import torch
from torch import Tensor, nn

from edge_tts.build.fast_voice.model import Student, StudentConfig


def read_average(checkpoint: Path, device: Optional[torch.device] = None) -> Student:
    """The averaged student of a checkpoint."""
    saved = torch.load(checkpoint, map_location=device or "cpu", weights_only=True)
    student = Student(StudentConfig(**saved["config"])).to(device or "cpu")
    student.load_state_dict(saved["average"])
    return student


def warm_start(student: Student, other: Student) -> None:
    """Give `student` the weights of `other`, which must be as wide.

    Raises ValueError when their widths differ or `other` has more blocks.
    """
    config, given = student.config, other.config
    depths = zip((config.frame_ahead, config.sub_ahead), (given.frame_ahead, given.sub_ahead))
    if any(len(own) < len(theirs) for own, theirs in depths):
        raise ValueError("the student to start from has more blocks")
    weights = dict(other.state_dict())
    weights["input.weight"] = move_taps(
        weights["input.weight"], given.input_ahead, config.input_ahead
    )
    for blocks, theirs, name in (
        (student.frame_blocks, other.frame_blocks, "frame_blocks"),
        (student.sub_blocks, other.sub_blocks, "sub_blocks"),
    ):
        _move_blocks(weights, blocks, theirs, name)
    _check_shapes(student, weights)
    student.load_state_dict(weights, strict=False)


def _check_shapes(student: Student, weights: Dict[str, Tensor]) -> None:
    own = student.state_dict()
    for name, weight in weights.items():
        if weight.shape != own[name].shape:
            raise ValueError(f"{name} is {[*weight.shape]}, wanted {[*own[name].shape]}")


def _move_blocks(
    weights: Dict[str, Tensor], blocks: nn.ModuleList, theirs: nn.ModuleList, name: str
) -> None:
    for i, block in enumerate(blocks):
        if i < len(theirs):
            key = f"{name}.{i}.depthwise.weight"
            weights[key] = move_taps(weights[key], theirs[i].ahead, block.ahead)
        else:
            nn.init.zeros_(block.scale)


def move_taps(weight: Tensor, ahead: int, new_ahead: int) -> Tensor:
    """Weights [..., kernel] that see `ahead` steps ahead → the nearest that see `new_ahead`."""
    kernel = weight.shape[-1]
    moved = torch.zeros_like(weight)
    for tap in range(kernel):
        place = min(kernel - 1, tap + ahead - new_ahead)
        moved[..., place] += weight[..., tap]
    return moved
