"""Does an engine compute what its graph computes? Asked of every engine before it may speak.

A recorded input of a real utterance is stretched to the least, typical and greatest shape of every
profile; ONNX Runtime's single precision is the reference. Not a number anywhere, too much noise or
too different a sound, and the engine is not accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from edge_tts.build.mel_distance import mel_distance_db
from edge_tts.build.tensorrt.recipe import Limits, PartRecipe, length, shapes
from edge_tts.errors import EngineError
from edge_tts.runtime.engine import Engine
from edge_tts.runtime.engine_manifest import Comparison, GateResult

POINTS = ("least", "typical", "greatest")
SOUND = "audio"
_SILENT_NOISE_DB = 200.0
"""Signal-to-noise ratio of two equal arrays."""
_NO_NUMBER_DB = -999.0

Arrays = Mapping[str, "np.ndarray"]
Dimensions = Mapping[str, Tuple["int | str", ...]]


@dataclass(frozen=True)
class Trial:
    """An engine to be judged, the graph it was built from, and an input recorded for it."""

    graph: str
    plan: str
    recording: str
    precision: str
    part: PartRecipe


def judge(trial: Trial, reference: Engine, candidate: Engine) -> GateResult:
    """Compare at every point of every profile; stops at the first point that fails.

    A candidate that cannot run is a candidate that failed. Raises EngineError only when the
    reference cannot run or the recording is unusable.
    """
    limits = trial.part.limits
    if limits is None:
        raise EngineError(f"the recipe of {trial.part.name} has no limits", code="engine.failed")
    recorded = read_recording(Path(trial.recording))
    dimensions = graph_inputs(Path(trial.graph))
    done: List[Comparison] = []
    for profile in range(len(trial.part.profiles)):
        for point in range(len(POINTS)):
            inputs = fit(recorded, dimensions, trial.part, profile, point)
            wanted = reference.run(inputs)
            try:
                found = candidate.run(inputs)
            except EngineError as error:
                return GateResult(False, f"it cannot run at {_place(profile, point)}: {error}", ())
            comparison = compare(wanted, found, profile, POINTS[point])
            done.append(comparison)
            cause = shortcoming(comparison, limits)
            if cause:
                return GateResult(False, f"{cause} at {_place(profile, point)}", tuple(done))
    return GateResult(True, "within the recipe's limits", tuple(done))


def compare(wanted: Arrays, found: Arrays, profile: int, point: str) -> Comparison:
    """The worst output decides; sound is also compared as it is heard."""
    is_finite = all(np.isfinite(value).all() for value in found.values())
    if not is_finite:
        return Comparison(profile, point, False, _NO_NUMBER_DB)
    snr_db = min(_snr_db(value, found[name]) for name, value in wanted.items())
    distance: Optional[float] = None
    if SOUND in wanted:
        sounds = (np.asarray(arrays[SOUND], np.float64).ravel() for arrays in (wanted, found))
        distance = round(mel_distance_db(*sounds), 3)
    return Comparison(profile, point, True, round(snr_db, 1), distance)


def shortcoming(comparison: Comparison, limits: Limits) -> str:
    """Why a comparison is not good enough; empty when it is."""
    if not comparison.is_finite:
        return "it yields values that are not numbers"
    if comparison.snr_db < limits.min_snr_db:
        return f"its noise is only {comparison.snr_db} dB below the signal"
    distance = comparison.mel_distance_db
    if distance is not None and distance > limits.max_mel_distance_db:
        return f"its sound is {distance} dB of mel away"
    return ""


def fit(
    recorded: Arrays, dimensions: Dimensions, part: PartRecipe, profile: int, point: int
) -> Dict[str, "np.ndarray"]:
    """The recorded input repeated or cut to the shapes of a profile's point."""
    lengths = part.profiles[profile]
    wanted = shapes(dimensions, lengths, point)
    fitted = {}
    for name, shape in wanted.items():
        array = recorded[name]
        for axis, size in enumerate(shape):
            array = _resized(array, axis, size)
        if name in part.below:
            array = np.minimum(array, length(part.below[name], lengths, point) - 1)
        fitted[name] = np.ascontiguousarray(array)
    return fitted


def graph_inputs(graph: Path) -> Dict[str, Tuple["int | str", ...]]:
    """Inputs of an ONNX file with their shapes, symbolic where they vary."""
    import onnx

    model = onnx.load(str(graph), load_external_data=False)
    return {
        item.name: tuple(d.dim_param or d.dim_value for d in item.type.tensor_type.shape.dim)
        for item in model.graph.input
    }


def read_recording(path: Path) -> Dict[str, "np.ndarray"]:
    """Raises EngineError (`engine.failed`)."""
    try:
        with np.load(str(path), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError) as error:
        raise EngineError(
            f"the recorded input {path} cannot be read ({error}); make the graphs again",
            code="engine.failed",
        ) from error


def prove(trial: Trial, reference: Engine, open_candidate: Callable[[Trial], Engine]) -> GateResult:
    """`judge`, with a candidate that cannot even be opened counted as failed."""
    try:
        candidate = open_candidate(trial)
    except EngineError as error:
        return GateResult(False, f"it cannot be opened: {error}", ())
    with candidate:
        return judge(trial, reference, candidate)


def _resized(array: "np.ndarray", axis: int, size: int) -> "np.ndarray":
    if array.shape[axis] == size:
        return array
    if array.shape[axis] == 0:
        shape = (*array.shape[:axis], size, *array.shape[axis + 1 :])
        empty: np.ndarray = np.zeros(shape, array.dtype)
        return empty
    repeated: np.ndarray = np.take(array, np.arange(size) % array.shape[axis], axis=axis)
    return repeated


def _snr_db(wanted: "np.ndarray", found: "np.ndarray") -> float:
    signal = np.asarray(wanted, np.float64)
    if signal.shape != found.shape:
        return _NO_NUMBER_DB
    noise = float(np.square(signal - found).sum())
    power = float(np.square(signal).sum())
    if noise == 0.0:
        return _SILENT_NOISE_DB
    return float(10 * np.log10(max(power, 1e-30) / noise))


def _place(profile: int, point: int) -> str:
    return f"the {POINTS[point]} shape of profile {profile}"
