"""Lets the tests of building use what the tests of voices are made with."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "voices"))
