"""Judges one engine in a process of its own, so that its CUDA context goes when it is done.

python -m edge_tts.build.tensorrt.gate_process TRIAL.json
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import List

from edge_tts.build.tensorrt.gate import Trial, prove
from edge_tts.errors import EngineError
from edge_tts.records import read_record
from edge_tts.runtime.engine import Engine
from edge_tts.runtime.engine_manifest import GateResult
from edge_tts.runtime.onnx import OnnxEngine


def result_path(trial_path: Path) -> Path:
    """Where the verdict on a trial is written."""
    return trial_path.with_suffix(".verdict.json")


def open_engine(trial: Trial) -> Engine:
    """The plan of a trial on this machine's GPU. Raises EngineError."""
    from edge_tts.runtime.tensorrt_loading import PlanFile, TensorRtEngines

    loaded = TensorRtEngines()
    loaded.open({trial.part.name: PlanFile(Path(trial.plan))})
    if trial.part.name in loaded.failures:
        raise loaded.failures[trial.part.name]
    return loaded.engines[trial.part.name]


def main(arguments: List[str]) -> int:
    """Judge the trial named on the command line and leave the verdict beside it."""
    path = Path(arguments[0])
    trial = read_record(Trial, json.loads(path.read_text(encoding="utf-8")))
    try:
        with OnnxEngine(Path(trial.graph)) as reference:
            verdict = prove(trial, reference, open_engine)
    except EngineError as error:
        verdict = GateResult(False, f"it could not be judged: {error}", ())
    result_path(path).write_text(json.dumps(asdict(verdict)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
