"""Which engine runs a part: a verified TensorRT plan where there is one, else ONNX Runtime.

A plan is checked before TensorRT reads anything of it. Whatever is wrong with it, or happens to it
later, the part is served by ONNX Runtime, and the reason is kept for status and doctor.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
)

from edge_tts.errors import EngineError
from edge_tts.runtime.cuda import DEVICE_LOST
from edge_tts.runtime.decoding import Cache
from edge_tts.runtime.engine import Engine
from edge_tts.runtime.fallback import FallbackEngine
from edge_tts.runtime.tensorrt_loading import PlanFile, TensorRtEngines
from edge_tts.runtime.threads import default_threads
from edge_tts.runtime.verification import Verdicts, compare, read_manifests

if TYPE_CHECKING:
    import numpy as np

    Tensors = Mapping[str, np.ndarray]

ONNX, TENSORRT = "onnx", "tensorrt"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Model:
    """A part as a voice asks for it: its ONNX file, and the cache it carries, if any."""

    path: Path
    cache: Optional[Cache] = None


class EngineChoice(NamedTuple):
    """What runs a part. `code` and `reason` are those of the error that ruled TensorRT out."""

    part: str
    backend: str
    code: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.backend} ({self.code})" if self.code else self.backend


class Engines:
    """The engines of a voice, by part. TensorRT engines that fail are replaced as they run."""

    def __init__(
        self, voice_directory: Path, models: Mapping[str, Model], n_threads: Optional[int] = None
    ) -> None:
        """Open every part. Raises EngineError when ONNX Runtime refuses one too."""
        self._models = models
        self._n_threads = n_threads
        self._engines: Dict[str, Engine] = {}
        self._choices: Dict[str, EngineChoice] = {}
        self._on_device = self._open_plans(voice_directory)
        try:
            self._engines.update(zip(models, self._opened_together(models)))
        except EngineError:
            self.close()
            raise

    def __getitem__(self, part: str) -> Engine:
        return self._engines[part]

    @property
    def choices(self) -> Tuple[EngineChoice, ...]:
        """What runs each part now."""
        return tuple(self._choices[part] for part in self._models)

    @property
    def device_bytes(self) -> int:
        """Device memory held now, which no process's resident set contains."""
        on_device = self._on_device
        return 0 if on_device is None else sum(on_device.device.memory_bytes.values())

    def observe(self, observer: "Callable[[str, Tensors, Tensors], None]") -> None:
        """Tell `observer` of every run from now on: part, inputs and outputs, as an `Observer`.

        Parts that run on TensorRT are not observed: their caches never leave the device.
        """
        from edge_tts.runtime.onnx import OnnxEngine

        for part, engine in self._engines.items():
            if isinstance(engine, OnnxEngine):
                engine.observer = partial(observer, part)

    def close(self) -> None:
        """Close all. Idempotent."""
        for engine in self._engines.values():
            engine.close()
        if self._on_device is not None:
            self._on_device.close()
            self._on_device = None

    def _open_plans(self, voice_directory: Path) -> Optional[TensorRtEngines]:
        verdicts = read_manifests(voice_directory, self._models)
        on_device = _started(verdicts, voice_directory)
        if on_device is not None:
            files = {
                part: PlanFile(path, self._models[part].cache)
                for part, path in verdicts.plans.items()
            }
            on_device.open(files)
            verdicts.refused.update(on_device.failures)
        for part, error in verdicts.refused.items():
            self._chose_onnx(part, error)
        return on_device if on_device is not None and on_device.engines else None

    def _opened_together(self, parts: Iterable[str]) -> List[Engine]:
        """Every engine; ONNX Runtime packs the weights of several at a time."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._n_threads or default_threads()) as pool:
            return list(pool.map(self._opened, parts))

    def _opened(self, part: str) -> Engine:
        engines = {} if self._on_device is None else self._on_device.engines
        open_second = partial(_open_onnx, self._models[part].path, self._n_threads)
        if part in engines:
            self._choices[part] = EngineChoice(part, TENSORRT)
            return FallbackEngine(engines[part], open_second, partial(self._failed, part))
        self._choices.setdefault(part, EngineChoice(part, ONNX))
        return open_second()

    def _failed(self, part: str, error: EngineError) -> None:
        self._chose_onnx(part, error)
        on_device = self._on_device
        if error.code != DEVICE_LOST or on_device is None:
            return
        # Its memory is needed now, and no other engine on it will ever run again.
        self._on_device = None
        for engine in self._fallback_engines():
            engine.failed(error)
        on_device.close()

    def _fallback_engines(self) -> Iterator[FallbackEngine]:
        return (e for e in self._engines.values() if isinstance(e, FallbackEngine))

    def _chose_onnx(self, part: str, error: EngineError) -> None:
        log.warning("%s runs on ONNX Runtime: [%s] %s", part, error.code, error)
        self._choices[part] = EngineChoice(part, ONNX, error.code, str(error))


def _started(verdicts: Verdicts, voice_directory: Path) -> Optional[TensorRtEngines]:
    """CUDA and TensorRT, if an engine passes every check; else None, and nothing stays open."""
    if not verdicts.manifests:
        return None
    try:
        on_device = TensorRtEngines()
    except EngineError as error:
        verdicts.refused.update(dict.fromkeys(verdicts.manifests, error))
        return None
    compare(verdicts, voice_directory, on_device.machine)
    if not verdicts.plans:
        on_device.close()
        return None
    return on_device


def _open_onnx(path: Path, n_threads: Optional[int]) -> Engine:
    from edge_tts.runtime.onnx import OnnxEngine

    return OnnxEngine(path, n_threads=n_threads)
