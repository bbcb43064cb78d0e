"""A voice that is being built: its directory, there whole or not at all, and what describes it."""

from __future__ import annotations

import platform
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, List, Mapping, Optional

from edge_tts.build.quantisation.kinds import FP32
from edge_tts.errors import InputError, ModelError
from edge_tts.runtime.integrity import sha256_of
from edge_tts.runtime.onnx import runtime_version, weights_path
from edge_tts.voices.installation import seal
from edge_tts.voices.manifest import FILE_NAME, Gate, Manifest, Part, Shape, VoiceDirectory

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def check_out(out: Path) -> None:
    """Raises InputError unless a voice can be built at `out`, anew or in place of another."""
    if not _NAME.fullmatch(out.name):
        raise InputError(
            f"{out.name!r} cannot be a voice's name: use letters, digits, '.', '_' and '-'"
        )
    if out.exists() and not (out / FILE_NAME).is_file():
        raise InputError(f"{out} exists and is not a voice; choose another place with --out")


@contextmanager
def new_voice(out: Path) -> Iterator[Path]:
    """An empty directory to fill, which becomes `out` when the block ends.

    A voice that is already there stays until then; after an exception nothing has changed. Raises
    ModelError `model.unwritable`.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=str(out.parent)) as temporary:
            new = Path(temporary) / out.name
            new.mkdir(mode=0o755)
            yield new
            if out.exists():
                out.rename(Path(temporary) / "previous")
            new.rename(out)
    except OSError as error:
        raise ModelError(
            f"cannot write the voice to {error.filename or out}: {error.strerror}; free space, or "
            "choose another place with --out",
            code="model.unwritable",
        ) from error


def finish(directory: Path, manifest: Manifest) -> None:
    """Write the manifest last, force everything to the disk, and read it as a user will."""
    seal(directory, manifest)
    VoiceDirectory.read(directory).check(hashes=False)


def described(
    path: Path,
    name: str,
    form: str,
    precision: str = FP32,
    inputs: Optional[Mapping[str, Shape]] = None,
    outputs: Optional[Mapping[str, Shape]] = None,
) -> Part:
    """A finished file as the manifest lists it."""
    return Part(
        name=name,
        file=path.name,
        sha256=sha256_of(path),
        size_bytes=path.stat().st_size,
        format=form,
        precision=precision,
        inputs=inputs or {},
        outputs=outputs or {},
    )


def described_engine(
    graph: Path,
    name: str,
    precision: str,
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, Shape],
) -> List[Part]:
    """The engine in `graph`, and its weights where they lie outside."""
    parts = [described(graph, name, "onnx", precision, inputs, outputs)]
    weights = weights_path(graph)
    # Small graphs have no tensor worth a file of its own.
    if weights.exists():
        parts.append(described(weights, f"{name}_weights", "onnx-data", precision))
    return parts


def gate_record(mel_distance_db: float, limit_db: float) -> Gate:
    """That a voice has passed its gate, here and now."""
    return Gate(
        mel_distance_db=round(mel_distance_db, 4),
        limit_db=limit_db,
        runtime=f"onnxruntime {runtime_version()}",
        machine=platform.machine() or "unknown",
    )
