"""Where the `edge-tts` command begins: Ctrl-C is quiet before the command can see to it itself.

Kept free of imports that take time, because what comes before `main` is not covered.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130
"""`edge_tts.errors.EXIT_INTERRUPTED`, which is not imported yet."""


def main() -> int:
    """Run the command; an interrupt exits 130 without a word from the first import to the end."""
    # A command in the background of a script inherits an ignored Ctrl-C, and leaves it so.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        from edge_tts.cli.main import main as command

        return command()
    signal.signal(signal.SIGINT, _leave)
    from edge_tts.cli.main import main as command

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return command()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)
