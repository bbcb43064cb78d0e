"""From a checkpoint folder to a voice directory, which is there whole or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional

from edge_tts.build.lite import constants, gate
from edge_tts.build.lite.checkpoint import Checkpoint, read_checkpoint
from edge_tts.build.lite.parts import parts
from edge_tts.build.lite.precision import name_of
from edge_tts.build.quantisation.kinds import FP32
from edge_tts.build.torch_voice.export import TorchEngine, export_optimised
from edge_tts.build.torch_voice.parts import Part as EnginePart
from edge_tts.build.voice_directory import (
    check_out,
    described,
    described_engine,
    finish,
    new_voice,
)
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.tokens import Language
from edge_tts.voices.lite.tables import FILES, SMALL_FILE
from edge_tts.voices.manifest import Manifest, Part
from edge_tts.voices.voice import VoiceInfo

Report = Callable[[str], None]

FAMILY = "lite"
TOKENIZER_FILE = "tokenizer.model"


def build(
    source: Path, out: Path, report: Report, *, precision: Optional[Mapping[str, str]] = None
) -> None:
    """Build the voice `out.name` into the directory `out`.

    `precision` is by engine, fp32 where it names none. A voice that is already there stays until
    the new one is complete. Raises InputError for an unusable `out`, ModelError for the checkpoint
    and for a voice too far from it, EngineError when ONNX Runtime refuses a part.
    """
    check_out(out)
    report(f"reading {source}")
    checkpoint = read_checkpoint(source, report)
    with new_voice(out) as new:
        _fill(new, checkpoint, precision or {}, report)
    report(f"built {out.name} in {out}")


def _fill(
    directory: Path, checkpoint: Checkpoint, precision: Mapping[str, str], report: Report
) -> None:
    known, fixed = constants.tables(checkpoint), constants.settings(checkpoint)
    fixed.write(directory / "settings.json")
    known.write(directory)
    shutil.copyfile(checkpoint.vocabulary.path, directory / TOKENIZER_FILE)
    engines = {part.name: part for part in parts(checkpoint)}
    for part in engines.values():
        report(f"exporting the {part.name}")
        export_optimised(part, directory / f"{part.name}.onnx", precision.get(part.name, FP32))
    report("comparing it with the checkpoint")
    distance = gate.measure(
        known,
        fixed,
        lambda name: OnnxEngine(directory / f"{name}.onnx"),
        lambda name: TorchEngine(engines[name]),
    )
    accepted = gate.accept(distance, precision)
    report(f"distance {distance.sound_db:.3f} dB of mel, {distance.divergence:.5f} nats of codes")
    files = tuple(_files(directory, engines, precision))
    manifest = Manifest(_info(directory.name, checkpoint, precision), files, accepted)
    finish(directory, manifest)


def _files(
    directory: Path, engines: Dict[str, EnginePart], precision: Mapping[str, str]
) -> List[Part]:
    files = [
        described(directory / "settings.json", "settings", "json"),
        described(directory / TOKENIZER_FILE, "tokenizer", "sentencepiece"),
        described(directory / SMALL_FILE, "small", "npz"),
    ]
    files += [described(directory / name, f"{key}_table", "npy") for key, name in FILES.items()]
    for name, part in engines.items():
        graph, stored = directory / f"{name}.onnx", precision.get(name, FP32)
        files += described_engine(graph, name, stored, part.input_shapes, part.output_shapes)
    return files


def _info(name: str, checkpoint: Checkpoint, precision: Mapping[str, str]) -> VoiceInfo:
    speakers = tuple(checkpoint.vocabulary.speakers)
    languages = tuple(each for each in Language if each.value in checkpoint.vocabulary.languages)
    return VoiceInfo(
        name=name,
        family=FAMILY,
        version=f"1-{name_of(precision)}",
        languages=languages,
        speakers=speakers,
        default_speakers=(speakers[0],) * len(languages),
        sample_rate_hz=checkpoint.config.codec.sample_rate_hz,
        licence="that of the checkpoint",
        source=f"built from the lite checkpoint {checkpoint.path.resolve().name}",
    )
