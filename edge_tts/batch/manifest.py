"""What became of each line: one JSON object a line, appended as it is known."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Dict, Optional, Type

from edge_tts.batch.lines import Line

FILE_NAME = "manifest.jsonl"


@dataclass(frozen=True)
class Result:
    """`status` is `done`, `empty` (no word to speak) or `failed` with `code` and `message`."""

    line: int
    name: str
    digest: str
    status: str
    file: Optional[str] = None
    duration_s: float = 0.0
    code: Optional[str] = None
    message: Optional[str] = None


class Manifest:
    """The manifest of an output folder; what it holds of an earlier run is not done again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE_NAME
        self._known = _read(path)
        self._file = path.open("a", encoding="utf-8")

    def is_done(self, line: Line, suffix: str) -> bool:
        """Whether an earlier run has made this line's file, of the same text and delivery."""
        known = self._known.get(line.name)
        if known is None or known.digest != line.digest or known.status == "failed":
            return False
        wanted = f"{line.name}.{suffix}"
        return known.status == "empty" or (
            known.file == wanted and (self._folder / wanted).is_file()
        )

    def add(self, result: Result) -> None:
        """Append a result; it survives the end of this process."""
        self._file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
        self._file.flush()

    def __enter__(self) -> "Manifest":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._file.close()


def _read(path: Path) -> Dict[str, Result]:
    """Latest result by name; a line cut off by a crash is not one."""
    known: Dict[str, Result] = {}
    if not path.is_file():
        return known
    with path.open("r+b") as file:
        data = file.read()
        if data and not data.endswith(b"\n"):
            file.truncate(data.rfind(b"\n") + 1)
    for text in data.decode("utf-8", "replace").splitlines():
        try:
            result = Result(**json.loads(text))
        except (ValueError, TypeError):
            continue
        known[result.name] = result
    return known
