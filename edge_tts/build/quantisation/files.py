"""A graph on disk, quantised and made ready for ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Mapping, Optional, Tuple

import onnx

from edge_tts.build.quantisation.half import store_half
from edge_tts.build.quantisation.kinds import FP16, FP32
from edge_tts.build.quantisation.layers import NOTHING, Exclusion, Layer
from edge_tts.build.quantisation.rewrite import Range, quantise_model
from edge_tts.runtime.onnx import optimise, weights_path


def store_quantised(
    source: Path,
    target: Path,
    kind: str,
    exclusion: Exclusion = NOTHING,
    ranges: Optional[Mapping[str, Range]] = None,
) -> Tuple[Layer, ...]:
    """Write the graph at `source` to `target` in `kind`, its weights beside it, ready to map.

    Returns the layers that were rewritten; fp16 storage rewrites none. Raises EngineError when
    ONNX Runtime refuses the result.
    """
    changed: Tuple[Layer, ...] = ()
    if kind in (FP32, FP16):
        optimise(source, target)
    else:
        model = onnx.load(str(source))
        changed = quantise_model(model, kind, exclusion, ranges)
        rewritten = target.with_name(f"{target.stem}.{kind}.onnx")
        try:
            _save(model, rewritten)
            optimise(rewritten, target)
        finally:
            for file in (rewritten, weights_path(rewritten)):
                if file.exists():
                    file.unlink()
    if kind == FP16:
        store_half(target, weights_path(target), exclusion)
    return changed


def _save(model: onnx.ModelProto, path: Path) -> None:
    """Save in one file where it fits: ONNX Runtime 1.19 goes on looking for a second one."""
    if model.ByteSize() < onnx.checker.MAXIMUM_PROTOBUF:
        onnx.save(model, str(path))
    else:
        onnx.save(model, str(path), save_as_external_data=True, location=weights_path(path).name)
