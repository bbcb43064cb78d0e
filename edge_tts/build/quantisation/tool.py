"""A voice of any family in fewer bits: another voice beside it, and what that cost."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, List, Mapping, Optional, Sequence, Tuple

import onnx

from edge_tts.build.quantisation import kinds
from edge_tts.build.quantisation.calibration import LayerError, layer_errors, observe
from edge_tts.build.quantisation.comparing import Closeness, Run, replay
from edge_tts.build.quantisation.files import store_quantised
from edge_tts.build.quantisation.judging import Understanding, compare
from edge_tts.build.quantisation.layers import Exclusion, linear_layers
from edge_tts.build.quantisation.rewrite import Range
from edge_tts.build.quantisation.search import Found, keep_sensitive
from edge_tts.build.quantisation.sentences import Sentence
from edge_tts.build.quantisation.speaking import Speech, speak
from edge_tts.build.voice_directory import check_out, described_engine, finish, new_voice
from edge_tts.errors import InputError
from edge_tts.runtime.onnx import OnnxEngine, weights_path
from edge_tts.voices.manifest import Manifest, Part, VoiceDirectory

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

    def line(self) -> str:
        """Size, time and error for people to read."""
        before, after = (size / 2**20 for size in self.size_bytes)
        return (
            f"{self.name}: {self.kind}, {before:.1f} → {after:.1f} MiB, "
            f"{1000 * self.run_s[0]:.2f} → {1000 * self.run_s[1]:.2f} ms a run, "
            f"{self.snr_db:.1f} dB above its error"
        )


@dataclass(frozen=True)
class Outcome:
    """The new voice beside the old. `understood` is empty until a judge has listened."""

    name: str
    sentences: Tuple[Sentence, ...]
    parts: Tuple[PartOutcome, ...]
    before: Speech
    after: Speech
    understood: Tuple[Understanding, ...] = ()

    def judged(self, judge: Path) -> "Outcome":
        """This, with what the speech judge in the folder `judge` understands. Raises InputError."""
        understood = compare(judge, self.sentences, self.before, self.after)
        return replace(self, understood=understood)

    def lines(self) -> List[str]:
        """All of it for people to read."""
        return [part.line() for part in self.parts] + [each.line() for each in self.understood]


def quantise_voice(
    source: Path, out: Path, sentences: Sequence[Sentence], wish: Wish, report: Report
) -> Outcome:
    """Write the voice in `source` to `out` with some engines in fewer bits, and compare both.

    `out` appears whole or not at all. Raises InputError for parts the voice does not have or for
    `sentences` that do not use them, EngineError when ONNX Runtime refuses a graph.
    """
    directory = VoiceDirectory.read(source)
    check_out(out)
    if out.exists():
        raise InputError(f"{out} exists; choose another place with --out")
    _check(directory, wish)
    texts = [sentence.text for sentence in sentences]
    report(f"speaking {len(texts)} texts with {source.name}")
    before = speak(source, texts)
    with new_voice(out) as new:
        for kept in _kept(directory.manifest, wish.by_part):
            shutil.copyfile(str(source / kept.file), str(new / kept.file))
        outcomes = []
        for part in wish.by_part:
            report(f"quantising the {part.replace('_', ' ')}")
            if not before.runs.get(part):
                raise InputError(f"these texts never use the engine {part!r}; give others")
            outcomes.append(
                _quantise_part(part, directory.file(part), new, before.runs[part], wish)
            )
        finish(new, _described(directory.manifest, new, wish.by_part))
    report(f"speaking with {out.name}")
    after = speak(out, texts)
    return Outcome(out.name, tuple(sentences), tuple(outcomes), before, after)


def _check(directory: VoiceDirectory, wish: Wish) -> None:
    engines = [part.name for part in directory.manifest.parts if part.format == "onnx"]
    for name in wish.by_part:
        if name not in engines:
            raise InputError(f"the voice has no engine {name!r}; it has {', '.join(engines)}")


def _quantise_part(part: str, graph: Path, new: Path, runs: List[Run], wish: Wish) -> PartOutcome:
    kind, model = wish.by_part[part], onnx.load(str(graph))
    if kind not in (kinds.FP32, kinds.FP16) and not linear_layers(model.graph, wish.exclusion):
        raise InputError(
            f"the engine {part!r} has no fp32 layer that {kind} could rewrite; choose fp16, which "
            "stores all that is still fp32 in half, or leave it as it is"
        )
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


def _kept(manifest: Manifest, by_part: Mapping[str, str]) -> List[Part]:
    """The files that stay as they are."""
    changed = {*by_part, *(f"{name}_weights" for name in by_part)}
    return [part for part in manifest.parts if part.name not in changed]


def _described(manifest: Manifest, new: Path, by_part: Mapping[str, str]) -> Manifest:
    """The manifest with the changed engines as they are now."""
    parts = _kept(manifest, by_part)
    for name, kind in by_part.items():
        part = manifest.part(name)
        parts += described_engine(new / part.file, name, kind, part.inputs, part.outputs)
    info = replace(manifest.info, name=new.name, version=f"{manifest.info.version}-quantised")
    return replace(manifest, info=info, parts=tuple(parts))


def _size_bytes(graph: Path) -> int:
    return sum(file.stat().st_size for file in (graph, weights_path(graph)) if file.exists())
