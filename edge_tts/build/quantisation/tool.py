"""A voice of any family in fewer bits: another voice beside it, and what that cost."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, List, Mapping, Optional, Sequence, Tuple

import onnx

from edge_tts.build.quantisation import kinds
from edge_tts.build.quantisation.calibration import LayerError, layer_errors, observe
from edge_tts.build.quantisation.comparing import Closeness, Run, replay
from edge_tts.build.quantisation.files import store_quantised
from edge_tts.build.quantisation.layers import Exclusion
from edge_tts.build.quantisation.rewrite import Range
from edge_tts.build.quantisation.search import Found, keep_sensitive
from edge_tts.build.quantisation.speaking import Speech, speak
from edge_tts.errors import InputError
from edge_tts.runtime.integrity import sha256_of
from edge_tts.runtime.onnx import OnnxEngine, weights_path
from edge_tts.voices.manifest import FILE_NAME, Manifest, Part, VoiceDirectory, render

Report = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """What is asked for: a kind by part, layers to keep, and a search for more of those."""

    by_part: Mapping[str, str]
    exclusion: Exclusion
    target_db: Optional[float]
    search_s: float


@dataclass(frozen=True)
class PartOutcome:
    """One engine before and after."""

    name: str
    kind: str
    size_bytes: Tuple[int, int]
    run_s: Tuple[float, float]
    snr_db: float
    n_quantised: int
    errors: Tuple[LayerError, ...]
    search: Optional[Found]


@dataclass(frozen=True)
class Outcome:
    """The new voice beside the old."""

    name: str
    texts: Tuple[str, ...]
    parts: Tuple[PartOutcome, ...]
    before: Speech
    after: Speech


def quantise_voice(
    source: Path, out: Path, texts: Sequence[str], wish: Wish, report: Report
) -> Outcome:
    """Write the voice in `source` to `out` with some engines in fewer bits, and compare both.

    `out` appears whole or not at all. Raises InputError for parts the voice does not have or for
    `texts` that do not use them, EngineError when ONNX Runtime refuses a graph.
    """
    directory = VoiceDirectory.read(source)
    if out.exists():
        raise InputError(f"{out} exists; choose another place with --out")
    _check(directory, wish)
    report(f"speaking {len(texts)} texts with {source.name}")
    before = speak(source, texts)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=str(out.parent)) as temporary:
        new = Path(temporary) / out.name
        shutil.copytree(str(source), str(new))
        outcomes = []
        for part in wish.by_part:
            report(f"quantising the {part.replace('_', ' ')}")
            graph = directory.file(part)
            if not before.runs.get(part):
                raise InputError(f"these texts never use the engine {part!r}; give others")
            outcomes.append(_quantise_part(part, graph, new, before.runs[part], wish))
        _describe(directory.manifest, new, wish.by_part)
        new.rename(out)
    report(f"speaking with {out.name}")
    after = speak(out, texts)
    return Outcome(out.name, tuple(texts), tuple(outcomes), before, after)


def _check(directory: VoiceDirectory, wish: Wish) -> None:
    engines = [part.name for part in directory.manifest.parts if part.format == "onnx"]
    for name in wish.by_part:
        if name not in engines:
            raise InputError(f"the voice has no engine {name!r}; it has {', '.join(engines)}")


def _quantise_part(part: str, graph: Path, new: Path, runs: List[Run], wish: Wish) -> PartOutcome:
    kind, model = wish.by_part[part], onnx.load(str(graph))
    passages = observe(model, runs, wish.exclusion)
    errors = tuple(layer_errors(model, kind, passages, wish.exclusion))
    ranges = {name: passage.values for name, passage in passages.items()}
    attempt = _Attempt(graph, new / graph.name, kind, ranges, runs)
    search, exclusion = None, wish.exclusion
    if wish.target_db is not None and kind != kinds.FP32:
        search = keep_sensitive(
            errors,
            lambda kept: attempt.run(wish.exclusion.and_names(kept)).snr_db,
            wish.target_db,
            wish.search_s,
        )
        exclusion = exclusion.and_names(search.kept)
    closeness = attempt.run(exclusion)
    with OnnxEngine(graph) as engine:
        original = replay(engine, runs)
    return PartOutcome(
        name=part,
        kind=kind,
        size_bytes=(_size_bytes(graph), _size_bytes(attempt.target)),
        run_s=(original.run_s, closeness.run_s),
        snr_db=closeness.snr_db,
        n_quantised=attempt.n_quantised,
        errors=errors,
        search=search,
    )


class _Attempt:
    """Writes an engine with some layers kept, and measures it on recorded runs."""

    def __init__(
        self, graph: Path, target: Path, kind: str, ranges: Mapping[str, Range], runs: List[Run]
    ) -> None:
        self._graph, self._kind, self._ranges, self._runs = graph, kind, ranges, runs
        self.target = target
        self.n_quantised = 0

    def run(self, exclusion: Exclusion) -> Closeness:
        """Replace the engine at `target`."""
        for file in (self.target, weights_path(self.target)):
            if file.exists():
                file.unlink()
        changed = store_quantised(self._graph, self.target, self._kind, exclusion, self._ranges)
        self.n_quantised = len(changed)
        with OnnxEngine(self.target) as engine:
            return replay(engine, self._runs)


def _describe(manifest: Manifest, new: Path, by_part: Mapping[str, str]) -> None:
    """Write the manifest of the changed files."""
    kept: List[Part] = []
    for part in manifest.parts:
        path, owner = new / part.file, part.name[: -len("_weights")]
        owner = owner if part.name.endswith("_weights") else part.name
        if owner not in by_part:
            kept.append(part)
        elif path.exists():
            changed = replace(part, sha256=sha256_of(path), size_bytes=path.stat().st_size)
            kept.append(replace(changed, precision=by_part[owner]))
    known = {part.file for part in kept}
    for part in tuple(kept):
        weights = weights_path(new / part.file)
        if part.format == "onnx" and weights.exists() and weights.name not in known:
            kept.append(_weights_part(part, weights))
    version = f"{manifest.info.version}-quantised"
    info = replace(manifest.info, name=new.name, version=version)
    text = render(replace(manifest, info=info, parts=tuple(kept)))
    (new / FILE_NAME).write_text(text, encoding="utf-8")


def _weights_part(part: Part, weights: Path) -> Part:
    return Part(
        name=f"{part.name}_weights",
        file=weights.name,
        sha256=sha256_of(weights),
        size_bytes=weights.stat().st_size,
        format="onnx-data",
        precision=part.precision,
        inputs={},
        outputs={},
    )


def _size_bytes(graph: Path) -> int:
    return sum(file.stat().st_size for file in (graph, weights_path(graph)) if file.exists())
