"""Running the building and the judging process, and telling how they ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Type, TypeVar

from edge_tts.build.tensorrt import engine_process, gate_process, machine_process
from edge_tts.build.tensorrt.engine_process import Job, Outcome
from edge_tts.build.tensorrt.gate import Trial
from edge_tts.build.tensorrt.machine_process import Machine, Question
from edge_tts.errors import BudgetError, EngineError
from edge_tts.records import read_record
from edge_tts.runtime.engine_manifest import GateResult

_TIMEOUT_S = 4 * 3600.0
"""Far above what a whole voice takes: a child that hangs must end at some time."""

_KILLED = (
    "Linux killed the building process, which means that memory ran out; stop the desktop (sudo "
    "systemctl isolate multi-user.target), add swap, and run this again: finished engines are kept"
)

Record = TypeVar("Record")


def build(job: Job, job_path: Path) -> Outcome:
    """Build in a child process.

    Raises EngineError with the code the child ended with, BudgetError when it was killed.
    """
    outcome = _run(
        engine_process.__name__, job_path, job, engine_process.outcome_path(job_path), Outcome
    )
    if outcome.error:
        raise EngineError(outcome.error, code=outcome.code)
    return outcome


def describe(module: str, task_path: Path) -> Machine:
    """TensorRT's version and the GPU's capability. Raises EngineError when either is missing."""
    answer = machine_process.answer_path(task_path)
    machine = _run(machine_process.__name__, task_path, Question(module), answer, Machine)
    if machine.error:
        raise EngineError(machine.error, code=machine.code)
    return machine


def judge(trial: Trial, trial_path: Path) -> GateResult:
    """Judge in a child process. A judge that dies has found the engine unfit."""
    try:
        return _run(
            gate_process.__name__,
            trial_path,
            trial,
            gate_process.result_path(trial_path),
            GateResult,
        )
    except EngineError as error:
        return GateResult(False, f"judging it ended badly: {error}", ())


def _run(module: str, task_path: Path, task: Any, result: Path, kind: Type[Record]) -> Record:
    """Write the task, run `module` on it, read its result. Raises EngineError or BudgetError."""
    task_path.write_text(json.dumps(asdict(task)), encoding="utf-8")
    with suppress(FileNotFoundError):
        result.unlink()
    command = [sys.executable, "-m", module, str(task_path)]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise EngineError(
            f"{module} did not end within {_TIMEOUT_S / 3600:.0f} h", code="engine.build_failed"
        ) from error
    try:
        return read_record(kind, json.loads(result.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        if ended.returncode == -signal.SIGKILL:
            raise BudgetError(_KILLED) from error
        raise EngineError(_cause(ended.returncode), code="engine.build_failed") from error


def _cause(exit_status: int) -> str:
    if exit_status < 0:
        return f"the building process died of {signal.Signals(-exit_status).name}"
    return f"the building process ended with status {exit_status} and left no result"
