"""Text to speech for machines that must speak without a network."""

from __future__ import annotations

import os

__version__ = "0.1.0"
__all__ = ["AudioChunk", "EdgeTTSError", "Speaker", "__version__"]

# The typing module would take longer to import than all the rest of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.errors import EdgeTTSError
    from edge_tts.speaker import Speaker

# ONNX Runtime 1.29 and newer records its use in the home folder and reports it over the network,
# unless it is told not to before it is first imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

_LAZY = {
    "AudioChunk": "edge_tts.audio.chunk",
    "EdgeTTSError": "edge_tts.errors",
    "Speaker": "edge_tts.speaker",
}


def __getattr__(name: str) -> Any:
    # Importing the package must stay cheap: `edge-tts --help` is part of the speed budget.
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
