"""From an official checkpoint folder to a voice directory, which is there whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple

import numpy as np

from edge_tts.build.cosyvoice import constants, gate
from edge_tts.build.cosyvoice.checkpoint import Checkpoint, Generation, read_checkpoint
from edge_tts.build.cosyvoice.enrolment import copy_networks, find_networks
from edge_tts.build.cosyvoice.parts import parts
from edge_tts.build.cosyvoice.precision import TEXT_TABLE, Precision
from edge_tts.build.cosyvoice.report import REPORT_FILE, BuildReport
from edge_tts.build.cosyvoice.speakers import SpeakerEntry
from edge_tts.build.cosyvoice.tokenizer import text_tokenizer
from edge_tts.build.quantisation.kinds import FP16
from edge_tts.build.torch_voice.export import TorchEngine, export_optimised
from edge_tts.build.torch_voice.parts import Part as EnginePart
from edge_tts.build.voice_directory import (
    check_out,
    described,
    described_engine,
    finish,
    new_voice,
)
from edge_tts.errors import ModelError
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.text.tokens import Language
from edge_tts.voices.cosyvoice.enrolment import NEUTRAL
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.settings import MEL_BANDS
from edge_tts.voices.cosyvoice.speakers import SpeakerPrompt, write_speakers
from edge_tts.voices.cosyvoice.tables import FILES, POSITIONS_FILE, SMALL_FILE, Tables
from edge_tts.voices.cosyvoice.voice import ENROLMENT_PARTS
from edge_tts.voices.manifest import Manifest, Part
from edge_tts.voices.voice import VoiceInfo

Report = Callable[[str], None]

FAMILY = "cosyvoice"
EXACT = Precision({})

_VERSIONS = {Generation.V1: "1", Generation.V2: "2"}
_LANGUAGE_MARKS = {Language.ZH: "中文", Language.EN: "英文"}


def build(
    source: Path,
    out: Path,
    report: Report,
    *,
    precision: Precision = EXACT,
    vocabulary: Optional[Path] = None,
) -> None:
    """Build the voice `out.name` into the directory `out`.

    A voice that is already there stays until the new one is complete. Raises InputError for an
    unusable `out`, ModelError for the checkpoint and for a voice too far from it, EngineError when
    ONNX Runtime refuses a part.
    """
    check_out(out)
    report(f"reading {source}")
    checkpoint = read_checkpoint(source, report)
    networks = find_networks(source)
    speakers = _speakers(checkpoint, can_enrol=bool(networks))
    tokenizer = text_tokenizer(checkpoint, vocabulary)
    with new_voice(out) as new:
        tokenizer.write(new / "tokenizer.json")
        copy_networks(networks, new)
        _fill(new, checkpoint, speakers, precision, report)
    report(f"built {out.name} in {out}")
    if list(speakers) == [NEUTRAL]:
        report("it has no speaker of its own yet; add one with: edge-tts voices enroll")


def _fill(
    directory: Path,
    checkpoint: Checkpoint,
    speakers: Dict[str, SpeakerPrompt],
    precision: Precision,
    report: Report,
) -> None:
    known, fixed = constants.tables(checkpoint), constants.settings(checkpoint)
    if precision.of(TEXT_TABLE) == FP16:
        known = replace(known, text=known.text.astype(np.float16))
    fixed.write(directory / "settings.json")
    known.write(directory)
    write_speakers(directory / "speakers.npz", speakers)
    engines = {part.name: part for part in parts(checkpoint)}
    for part in engines.values():
        report(f"exporting the {part.name.replace('_', ' ')}")
        target = directory / f"{part.name}.onnx"
        export_optimised(part, target, precision.of(part.name), precision.kept_of(part.name))
    report("comparing it with the checkpoint")
    comparison = gate.compare(
        known,
        fixed,
        lambda name: OnnxEngine(directory / f"{name}.onnx"),
        lambda name: TorchEngine(engines[name]),
    )
    accepted = gate.accept(comparison.distance, precision)
    built = BuildReport.of(directory, comparison, precision)
    for line in built.lines():
        report(line)
    built.write(directory / REPORT_FILE)
    info = _info(directory.name, checkpoint, tuple(speakers), precision)
    files = tuple(_files(directory, known, engines, precision))
    finish(directory, Manifest(info, files, accepted))


def _files(
    directory: Path, known: Tables, engines: Dict[str, EnginePart], precision: Precision
) -> List[Part]:
    files = [
        described(directory / "settings.json", "settings", "json"),
        described(directory / "tokenizer.json", "tokenizer", "json"),
        described(directory / "speakers.npz", "speakers", "npz"),
        described(directory / SMALL_FILE, "small", "npz"),
        described(directory / REPORT_FILE, "report", "json"),
    ]
    tables = {**FILES, "positions": POSITIONS_FILE} if known.positions is not None else FILES
    files += [
        described(directory / name, f"{key}_table", "npy", precision.of(f"{key}_table"))
        for key, name in tables.items()
    ]
    files += [
        described(directory / f"{name}.onnx", name, "onnx")
        for name in ENROLMENT_PARTS
        if (directory / f"{name}.onnx").exists()
    ]
    for name, part in engines.items():
        graph, stored = directory / f"{name}.onnx", precision.of(name)
        files += described_engine(graph, name, stored, part.input_shapes, part.output_shapes)
    return files


def _speakers(checkpoint: Checkpoint, *, can_enrol: bool) -> Dict[str, SpeakerPrompt]:
    if not checkpoint.speakers and not can_enrol:
        raise ModelError(
            f"{checkpoint.path} has no speakers and cannot learn any: it holds neither a "
            "spk2info.pt with an entry nor campplus.onnx and speech_tokenizer_v*.onnx; download "
            "the whole checkpoint",
            code="model.file_missing",
        )
    if not checkpoint.speakers:
        size = checkpoint.flow_config.speaker_size
        nobody = np.zeros(size, np.float32)
        return {NEUTRAL: SpeakerPrompt(nobody, np.zeros(0, np.int64), FlowPrompt.empty())}
    return {name: _prompt(entry) for name, entry in checkpoint.speakers.items()}


def _prompt(entry: SpeakerEntry) -> SpeakerPrompt:
    text, tokens, mel = entry.prompt_text, entry.prompt_tokens, entry.prompt_mel
    example = FlowPrompt(
        np.zeros(0, np.int64) if tokens is None else tokens.numpy(),
        np.zeros((0, MEL_BANDS), np.float32) if mel is None else mel.numpy(),
    )
    return SpeakerPrompt(
        entry.embedding.numpy(), np.zeros(0, np.int64) if text is None else text.numpy(), example
    )


def _info(
    name: str, checkpoint: Checkpoint, speakers: Tuple[str, ...], precision: Precision
) -> VoiceInfo:
    defaults = [
        next((who for who in speakers if who.startswith(mark)), speakers[0])
        for mark in _LANGUAGE_MARKS.values()
    ]
    return VoiceInfo(
        name=name,
        family=FAMILY,
        version=f"{_VERSIONS[checkpoint.generation]}-{precision.name}",
        languages=tuple(_LANGUAGE_MARKS),
        speakers=speakers,
        default_speakers=tuple(defaults),
        sample_rate_hz=checkpoint.sample_rate_hz,
        licence="Apache-2.0",
        source=f"built from the CosyVoice checkpoint {checkpoint.path.resolve().name}",
    )
