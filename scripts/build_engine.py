#!/usr/bin/env python3
"""Build a voice's TensorRT engines: the same as `edge-tts build VOICE --platform PLATFORM`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from edge_tts.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["build", *sys.argv[1:]]))
