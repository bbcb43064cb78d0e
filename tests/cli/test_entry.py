"""Ctrl-C at each stage of the command's life: it exits 130 and says nothing."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# Interrupts itself at the moment the module of this name is first looked for.
_INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.{handling})
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["edge-tts", *{arguments!r}]
from edge_tts.cli.entry import main
code = main()
{at_end}
sys.exit(code)
"""


def interrupted(
    module: str, *arguments: str, handling: str = "default_int_handler", at_end: str = ""
) -> "subprocess.CompletedProcess[str]":
    code = _INTERRUPTED_AT.format(
        module=module, arguments=arguments, handling=handling, at_end=at_end
    )
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("edge_tts.cli.main", ["--help"]),
        ("argparse", ["--help"]),
        ("edge_tts.errors", ["--help"]),
        ("edge_tts.cli.text", ["text", "Hello."]),
        ("edge_tts.config", ["speak", "Hello.", "--no-service", "-o", "/dev/null"]),
        ("yaml", ["speak", "Hello.", "--no-service", "-o", "/dev/null"]),
    ],
)
def test_an_import_may_be_interrupted(module: str, arguments: "list[str]") -> None:
    done = interrupted(module, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_end_may_be_interrupted() -> None:
    done = interrupted("none", at_end="os.kill(os.getpid(), signal.SIGINT)")
    assert (done.returncode, done.stderr) == (130, "")


def test_an_ignored_interrupt_stays_ignored() -> None:
    done = interrupted("argparse", "--version", handling="SIG_IGN")
    assert done.returncode == 0
    assert done.stdout.startswith("edge-tts ")


def test_the_code_is_that_of_the_errors() -> None:
    from edge_tts.cli.entry import INTERRUPTED
    from edge_tts.errors import EXIT_INTERRUPTED

    assert INTERRUPTED == EXIT_INTERRUPTED == 128 + signal.SIGINT
