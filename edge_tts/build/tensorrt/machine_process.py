"""Says which TensorRT and which GPU this machine has, from a process that leaves no context behind.

python -m edge_tts.build.tensorrt.machine_process TASK.json
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import List

from edge_tts.errors import EngineError
from edge_tts.records import read_record


@dataclass(frozen=True)
class Question:
    """Which module is meant by TensorRT."""

    module: str


@dataclass(frozen=True)
class Machine:
    """What engines are built with and for; `error` is empty when there is both."""

    error: str
    code: str
    tensorrt: str
    sm: str


def answer_path(task_path: Path) -> Path:
    """Where the answer is written."""
    return task_path.with_suffix(".answer.json")


def describe(module: str) -> Machine:
    """Raises EngineError (`engine.tensorrt_missing`, `engine.device_missing`)."""
    from edge_tts.build.tensorrt import board, builder_api

    trt = builder_api.load(module)
    builder_api.is_strongly_typed(trt)
    return Machine("", "", str(trt.__version__), board.compute_capability())


def main(arguments: List[str]) -> int:
    """Answer the question in the task file."""
    path = Path(arguments[0])
    question = read_record(Question, json.loads(path.read_text(encoding="utf-8")))
    try:
        machine = describe(question.module)
    except EngineError as error:
        machine = Machine(str(error), error.code, "", "")
    answer_path(path).write_text(json.dumps(asdict(machine)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
