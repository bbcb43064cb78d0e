"""Do all parts of all voices become TensorRT engines?

    python bench/trt_build.py --kokoro kokoro-v1.0.int8.onnx [--quick] [--sm 8.6] [--graphs DIR]

NVIDIA's own parser and builder (tensorrt_rtx, which needs no GPU) make every engine of every recipe
ahead of time, in the recipe's precision, each in a process of its own; before that, the operator
checker goes over each graph for TensorRT 8.5, 8.6 and 10. The engines are built, never executed.
CosyVoice and the lite voice have the published sizes and random weights, and need torch (the lite
voice transformers and encodec as well). `--quick` leaves both out, and Kokoro's slow generator.
Exit status 1 when a part fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Sequence, Tuple

import onnx

from edge_tts.build.tensorrt import builder_api, checker, children, kokoro
from edge_tts.build.tensorrt.builder import profiles
from edge_tts.build.tensorrt.command import export_graphs
from edge_tts.build.tensorrt.engine_process import Job
from edge_tts.build.tensorrt.operators import VERSIONS
from edge_tts.build.tensorrt.recipe import Platform, Recipe, read_platform, read_recipe, recipe_path
from edge_tts.errors import EngineError

SLOW_PARTS = {"stream_generator"}
GENERATIONS = {"cosyvoice-300m": 1, "cosyvoice2-0.5b": 2}
LITE = "lite"


@dataclass(frozen=True)
class Row:
    """How one part went: MB of weights in, MB of plan out."""

    voice: str
    part: str
    precision: str
    n_nodes: int
    verdicts: Tuple[str, ...]
    graph_mb: float
    plan_mb: float
    seconds: float
    error: str

    def __str__(self) -> str:
        checks = " ".join(f"{v}:{said}" for v, said in zip(VERSIONS, self.verdicts))
        result = self.error or f"{self.plan_mb:.1f} MB in {self.seconds:.1f} s"
        return (
            f"{self.voice} {self.part} {self.precision}: {self.n_nodes} nodes, {checks}, "
            f"{self.graph_mb:.1f} MB -> {result}"
        )

    @property
    def is_good(self) -> bool:
        """Built, and taken by every parser."""
        return not self.error and set(self.verdicts) == {"ok"}


def main() -> int:
    args = _arguments()
    print(f"NVIDIA's builder: {builder_api.load(builder_api.AHEAD_OF_TIME).__version__}")
    rows: List[Row] = []
    with tempfile.TemporaryDirectory(prefix="trt_build.") as folder:
        root = args.graphs or Path(folder)
        for voice, names in _graphs(args, root):
            rows += _build_voice(voice, names, root / voice, args)
    good = sum(row.is_good for row in rows)
    plan_mb, seconds = sum(row.plan_mb for row in rows), sum(row.seconds for row in rows)
    print(
        f"{good} of {len(rows)} parts build for SM {args.sm} and pass the checker for "
        f"{', '.join(VERSIONS)}; {plan_mb:.0f} MB of engines in {seconds:.0f} s"
    )
    return 0 if rows and good == len(rows) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kokoro", type=Path, required=True, help="kokoro-v1.0.int8.onnx")
    parser.add_argument("--fast", type=Path, help="folder with fast_generator*.onnx")
    parser.add_argument("--graphs", type=Path, help="keep graphs here, and use those found here")
    parser.add_argument("--sm", default="8.6", help="compute capability (default: %(default)s)")
    parser.add_argument("--voice", action="append", help="only this voice; may be repeated")
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    return parser.parse_args()


def _graphs(args: argparse.Namespace, root: Path) -> Iterator[Tuple[str, Sequence[str]]]:
    """Make the graphs of every voice wanted; yields its name and those of its parts."""
    for voice in args.voice or ["kokoro", *([] if args.quick else [LITE, *GENERATIONS])]:
        folder = root / voice
        folder.mkdir(parents=True, exist_ok=True)
        if voice == "kokoro":
            fast = {"fast_from": args.fast} if args.fast else {}
            names: Sequence[str] = kokoro.write_graphs(args.kokoro, folder, **fast)
        elif any(folder.glob("*.onnx")):
            names = [path.stem for path in sorted(folder.glob("*.onnx"))]
        elif importlib.util.find_spec("torch") is None:
            print(f"SKIPPED {voice}: torch is not installed")
            continue
        else:
            names = _torch_graphs(voice, folder)
        yield voice, [name for name in names if not (args.quick and name in SLOW_PARTS)]


def _torch_graphs(voice: str, folder: Path) -> Sequence[str]:
    """Write a checkpoint of the published sizes with random weights, and its graphs."""
    with tempfile.TemporaryDirectory(prefix="checkpoint.") as temporary:
        source = Path(temporary) / voice
        if voice == LITE:
            import lite_checkpoints

            lite_checkpoints.write(source, lite_checkpoints.FULL, "delay", "official")
        else:
            import cosyvoice_full_checkpoint

            cosyvoice_full_checkpoint.write_checkpoint(source, GENERATIONS[voice])
        export_graphs(source, folder, print)
    return [path.stem for path in sorted(folder.glob("*.onnx"))]


def _build_voice(
    voice: str, names: Sequence[str], graphs: Path, args: argparse.Namespace
) -> List[Row]:
    recipe, platform = read_recipe(recipe_path(voice)), read_platform("generic")
    rows = []
    with tempfile.TemporaryDirectory(prefix="plans.") as plans:
        for name in names:
            row = _build_part(recipe, platform, graphs / f"{name}.onnx", Path(plans), args.sm)
            print(row, flush=True)
            rows.append(row)
    return rows


def _build_part(recipe: Recipe, platform: Platform, graph: Path, plans: Path, sm: str) -> Row:
    part = recipe.part(graph.stem)
    model = onnx.load(str(graph), load_external_data=False)
    findings: Dict[str, int] = {version: len(checker.check(model, version)) for version in VERSIONS}
    plan = plans / f"{part.name}.plan"
    job = Job(
        module=builder_api.AHEAD_OF_TIME,
        graph=str(graph),
        plan=str(plan),
        timing_cache=str(plans / "timing.cache"),
        precision=part.precision,
        keep_fp32=part.keep_fp32,
        profiles=profiles(graph, part),
        workspace_mib=platform.workspace_mib,
        tactic_sources=platform.tactic_sources,
        half_io=part.half_io,
        compute_capabilities=(sm,),
    )
    error, seconds = "", 0.0
    try:
        seconds = children.build(job, plans / f"{part.name}.job.json").seconds
    except EngineError as failure:
        error = f"FAILED: {failure}"
    row = Row(
        voice=recipe.voice,
        part=part.name,
        precision=part.precision,
        n_nodes=len(model.graph.node),
        verdicts=tuple("ok" if not count else f"{count} bad" for count in findings.values()),
        graph_mb=graph.stat().st_size / 1e6,
        plan_mb=plan.stat().st_size / 1e6 if plan.is_file() else 0.0,
        seconds=seconds,
        error=error,
    )
    for leftover in (plan, plan.with_suffix(".typed.onnx")):
        with suppress(FileNotFoundError):
            leftover.unlink()
    return row


if __name__ == "__main__":
    sys.exit(main())
