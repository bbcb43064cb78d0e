"""`python -m edge_tts` is the `edge-tts` command."""

from __future__ import annotations

import sys

from edge_tts.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
