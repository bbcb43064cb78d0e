"""A sound library whose calls do not come back: each costs a thread, too many the process."""

from __future__ import annotations

import subprocess
import sys

_CODE = """
import threading
from edge_tts.audio import portaudio
from edge_tts.errors import AudioError

never = threading.Event()
codes = []
for _ in range(5):
    try:
        portaudio.call(never.wait, timeout_s=0.01)
    except AudioError as error:
        codes.append(error.code)
print(*codes)
"""


def test_a_few_hung_calls_are_losses_and_then_only_a_new_process_helps() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CODE], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["audio.device_lost"] * 3 + ["audio.hung"] * 2
