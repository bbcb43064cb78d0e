"""What `edge-tts build --platform` and `--graphs` do, without the command line's words."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Optional, Tuple

import numpy as np

from edge_tts.build.tensorrt import board, builder_api
from edge_tts.build.tensorrt.builder import EngineBuilder, Request
from edge_tts.build.tensorrt.recipe import read_platform, read_recipe, recipe_path
from edge_tts.build.tensorrt.recording import record_kokoro
from edge_tts.errors import ConfigError, InputError, ModelError
from edge_tts.runtime.engine_manifest import EngineManifest
from edge_tts.voices import catalog
from edge_tts.voices.manifest import VoiceDirectory

Report = Callable[[str], None]


@dataclass(frozen=True)
class Order:
    """What was asked for. `source` is Kokoro's model or the folder of its packages."""

    voice: str
    platform: str
    source: Optional[Path] = None
    graphs: Optional[Path] = None
    recipe: Optional[Path] = None
    parts: Tuple[str, ...] = ()
    ahead_of_time_sm: str = ""


def build_engines(order: Order, report: Report) -> List[EngineManifest]:
    """Build the engines of an installed voice into its directory.

    Raises ConfigError, InputError, ModelError, EngineError or BudgetError; what is finished stays.
    """
    platform = read_platform(order.platform)
    directory = catalog.find(order.voice)
    family = directory.manifest.info.family
    recipe = read_recipe(order.recipe or recipe_path(order.voice, family))
    try:
        with tempfile.TemporaryDirectory(prefix=".graphs.", dir=str(directory.path)) as temporary:
            graphs = order.graphs or Path(temporary)
            if order.graphs is None:
                _make_graphs(directory, order.source, graphs, report)
            request = Request(
                voice=directory.path,
                graphs=graphs,
                recipe=recipe,
                platform=platform,
                module=builder_api.AHEAD_OF_TIME if order.ahead_of_time_sm else builder_api.BOARD,
                board=board.board_name(),
                power_mode=board.power_mode(),
                compute_capabilities=_capabilities(order),
            )
            names = _chosen(tuple(part.name for part in recipe.parts), graphs, order.parts)
            return EngineBuilder(request, report).run(names)
    except OSError as error:
        raise ModelError(
            f"cannot write engines to {error.filename or directory.path}: {error.strerror}; free "
            "space, or run this as the owner of the voice",
            code="model.unwritable",
        ) from error


def export_graphs(checkpoint: Path, folder: Path, report: Report) -> None:
    """Write the graphs of a CosyVoice or lite checkpoint, with recorded inputs, for a board.

    Needs torch. Raises ModelError for the checkpoint, EngineError for a graph no parser takes.
    """
    from edge_tts.build.lite.recognition import is_lite_checkpoint

    folder.mkdir(parents=True, exist_ok=True)
    written = (
        _export_lite(checkpoint, folder, report)
        if is_lite_checkpoint(checkpoint)
        else _export_cosyvoice(checkpoint, folder, report)
    )
    for path in written:
        report(f"wrote {path}")


def _export_cosyvoice(checkpoint: Path, folder: Path, report: Report) -> List[Path]:
    from edge_tts.build.cosyvoice.checkpoint import read_checkpoint
    from edge_tts.build.tensorrt.cosyvoice import write_graphs
    from edge_tts.build.tensorrt.cosyvoice_recording import record

    known = read_checkpoint(checkpoint, report)
    written: List[Path] = write_graphs(known, folder)
    record(known, folder)
    return written


def _export_lite(checkpoint: Path, folder: Path, report: Report) -> List[Path]:
    from edge_tts.build.lite.checkpoint import read_checkpoint
    from edge_tts.build.tensorrt.lite import write_graphs

    return write_graphs(read_checkpoint(checkpoint, report), folder)


def _make_graphs(
    directory: VoiceDirectory, source: Optional[Path], folder: Path, report: Report
) -> None:
    from edge_tts.build.kokoro import fetch
    from edge_tts.build.tensorrt.kokoro import write_graphs

    family = directory.manifest.info.family
    if family != "kokoro":
        raise InputError(
            f"the graphs of a voice of the family {family!r} are made on a workstation: run "
            "edge-tts build CHECKPOINT_DIR --graphs FOLDER there, and give FOLDER with --graphs"
        )
    joined = folder / "model.onnx"
    if source is not None:
        model = fetch.from_path(source, joined, report)
    else:
        model = fetch.join(fetch.download(folder, report), joined, report)
    report("making the graphs")
    write_graphs(model, folder)
    report("recording what the engines will be compared on")
    record_kokoro(folder, np.load(str(directory.file("source")), allow_pickle=False))


def _chosen(known: Tuple[str, ...], graphs: Path, wanted: Tuple[str, ...]) -> Tuple[str, ...]:
    """Parts of the recipe that have a graph, or those asked for."""
    there = tuple(name for name in known if (graphs / f"{name}.onnx").is_file())
    missing = [name for name in wanted if name not in there]
    if missing or not there:
        raise ConfigError(
            f"there is no graph of {missing[0] if missing else 'any part'} in {graphs}; "
            f"there are: {', '.join(there) or 'none'}"
        )
    return wanted or there


def _capabilities(order: Order) -> Tuple[str, ...]:
    return (order.ahead_of_time_sm,) if order.ahead_of_time_sm else ()
