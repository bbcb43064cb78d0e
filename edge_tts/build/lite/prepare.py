"""From a checkpoint folder to a voice directory, which is there whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional

from edge_tts.build.cosyvoice.export import TorchEngine, export_optimised
from edge_tts.build.cosyvoice.parts import Part as EnginePart
from edge_tts.build.lite import constants, gate
from edge_tts.build.lite.checkpoint import Checkpoint, read_checkpoint
from edge_tts.build.lite.parts import parts
from edge_tts.build.lite.precision import name_of
from edge_tts.build.quantisation.kinds import FP32
from edge_tts.errors import InputError, ModelError
from edge_tts.runtime.integrity import sha256_of
from edge_tts.runtime.onnx import OnnxEngine, weights_path
from edge_tts.text.tokens import Language
from edge_tts.voices.lite.tables import FILES, SMALL_FILE
from edge_tts.voices.manifest import FILE_NAME, Manifest, Part, VoiceDirectory, render
from edge_tts.voices.voice import VoiceInfo

Report = Callable[[str], None]

FAMILY = "lite"
TOKENIZER_FILE = "tokenizer.model"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def build(
    source: Path, out: Path, report: Report, *, precision: Optional[Mapping[str, str]] = None
) -> None:
    """Build the voice `out.name` into the directory `out`.

    `precision` is by engine, fp32 where it names none. A voice that is already there stays until
    the new one is complete. Raises InputError for an unusable `out`, ModelError for the checkpoint
    and for a voice too far from it, EngineError when ONNX Runtime refuses a part.
    """
    _check_out(out)
    report(f"reading {source}")
    checkpoint = read_checkpoint(source, report)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=str(out.parent)) as temporary:
            new = Path(temporary) / out.name
            new.mkdir(mode=0o755)
            _fill(new, checkpoint, precision or {}, report)
            if out.exists():
                out.rename(Path(temporary) / "previous")
            new.rename(out)
    except OSError as error:
        raise ModelError(
            f"cannot write the voice to {error.filename or out}: {error.strerror}; free space, or "
            "choose another place with --out",
            code="model.unwritable",
        ) from error
    report(f"built {out.name} in {out}")


def _check_out(out: Path) -> None:
    if not _NAME.fullmatch(out.name):
        raise InputError(
            f"{out.name!r} cannot be a voice's name: use letters, digits, '.', '_' and '-'"
        )
    if out.exists() and not (out / FILE_NAME).is_file():
        raise InputError(f"{out} exists and is not a voice; choose another place with --out")


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
    (directory / FILE_NAME).write_text(render(manifest), encoding="utf-8")
    for path in (*directory.iterdir(), directory):
        _sync(path)
    VoiceDirectory.read(directory).check(hashes=False)


def _files(
    directory: Path, engines: Dict[str, EnginePart], precision: Mapping[str, str]
) -> List[Part]:
    files = [
        _file(directory / "settings.json", "settings", "json"),
        _file(directory / TOKENIZER_FILE, "tokenizer", "sentencepiece"),
        _file(directory / SMALL_FILE, "small", "npz"),
    ]
    files += [_file(directory / name, f"{key}_table", "npy") for key, name in FILES.items()]
    for name, part in engines.items():
        graph, stored = directory / f"{name}.onnx", precision.get(name, FP32)
        files.append(_file(graph, name, "onnx", stored, part))
        if weights_path(graph).exists():
            files.append(_file(weights_path(graph), f"{name}_weights", "onnx-data", stored))
    return files


def _file(
    path: Path, name: str, form: str, precision: str = FP32, part: Optional[EnginePart] = None
) -> Part:
    path.chmod(0o644)
    return Part(
        name=name,
        file=path.name,
        sha256=sha256_of(path),
        size_bytes=path.stat().st_size,
        format=form,
        precision=precision,
        inputs={spec.name: spec.shape for spec in part.inputs} if part else {},
        outputs={spec.name: spec.shape for spec in part.outputs} if part else {},
    )


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


def _sync(path: Path) -> None:
    descriptor = os.open(str(path), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
