"""The frame of the command line: help, flags, errors, exit codes and what is imported when."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from edge_tts import __version__
from edge_tts.cli import main as command
from edge_tts.errors import AudioError

HEAVY = ["numpy", "onnxruntime", "onnx", "sounddevice", "psutil", "yaml", "asyncio"]


def edge_tts(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "edge_tts", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_help_lists_every_command_and_imports_nothing_heavy():
    done = edge_tts("--help")
    assert done.returncode == 0
    for name, text in command.COMMANDS.items():
        assert f"{name} " in done.stdout
        assert text in done.stdout
    code = f"import sys, edge_tts.cli.main; print([m for m in {HEAVY} if m in sys.modules])"
    probe = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert probe.stdout.strip() == "[]"


@pytest.mark.parametrize("name", command.COMMANDS)
def test_every_command_has_its_own_help_without_heavy_imports(name):
    done = edge_tts(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"usage: edge-tts {name}" in done.stdout
    code = f"import sys, edge_tts.cli.{name}; print([m for m in {HEAVY} if m in sys.modules])"
    probe = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert probe.stdout.strip() == "[]"


@pytest.mark.parametrize("name", command.COMMANDS)
def test_a_command_s_help_line_is_the_table_s(name):
    parser = command._command_parser(name, import_module(f"edge_tts.cli.{name}"))
    assert command.COMMANDS[name] in parser.format_help()


def test_version():
    done = edge_tts("--version")
    assert (done.returncode, done.stdout) == (0, f"edge-tts {__version__}\n")


def test_no_command_shows_the_help_and_is_a_usage_error(capsys):
    assert command.main([]) == 2
    assert "commands:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["speek"],
            "error[usage.unknown_command]: there is no command 'speek'; did you mean 'speak'?",
        ),
        (["zzz"], "error[usage.unknown_command]: there is no command 'zzz'; known: speak"),
        (["--frobnicate", "doctor"], "error[usage.invalid]: unrecognized arguments: --frobnicate"),
        (["doctor", "--frobnicate"], "error[usage.invalid]: unrecognized arguments: --frobnicate"),
        (["devices", "extra"], "error[usage.invalid]: unrecognized arguments: extra"),
        (["--config"], "error[usage.invalid]: argument --config: expected one argument"),
    ],
)
def test_a_usage_error_is_one_line_and_exits_with_2(arguments, message, capsys):
    assert command.main(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"edge-tts: {message}")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-v", "--config", "c.yaml", "probe", "nested", "a"], (True, "c.yaml", "a")),
        (["probe", "-v", "--config", "c.yaml", "nested", "a"], (True, "c.yaml", "a")),
        (
            ["--config", "a.yaml", "probe", "nested", "--config", "b.yaml", "a"],
            (False, "b.yaml", "a"),
        ),
        (["probe", "nested", "-v", "a", "--config", "c.yaml"], (True, "c.yaml", "a")),
        (["-v", "probe", "nested", "--", "-5℃"], (True, None, "-5℃")),
    ],
)
def test_common_flags_may_stand_before_or_after_the_command(arguments, expected, probe):
    assert command.main(arguments) == 0
    (args,) = probe.seen
    assert (args.verbose, args.config, args.text) == expected


def test_an_error_of_ours_prints_its_code_and_gives_its_exit_code(probe, capsys):
    probe.outcome = AudioError("no device; use -o")
    assert command.main(["probe", "nested", "a"]) == 5
    assert capsys.readouterr().err == "edge-tts: error[audio.failed]: no device; use -o\n"


def test_an_unexpected_error_is_one_line_with_a_hint(probe, capsys):
    probe.outcome = RuntimeError("boom")
    assert command.main(["probe", "nested", "a"]) == 1
    line = capsys.readouterr().err
    assert line.startswith("edge-tts: error[internal]: RuntimeError: boom (")
    assert "edge-tts -v" in line
    assert line.count("\n") == 1


def test_an_interrupt_exits_with_130(probe):
    probe.outcome = KeyboardInterrupt()
    assert command.main(["probe", "nested", "a"]) == 130


def test_verbose_shows_where_an_unexpected_error_came_from(tmp_path):
    package = tmp_path / "sitecustomize.py"
    package.write_text("import edge_tts.cli.main as m\nm.COMMANDS['errors'] = 'a fault'\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = edge_tts("-v", "errors", env=environment)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "error[internal]: ModuleNotFoundError" in done.stderr


def test_a_reader_that_has_gone_is_not_an_error():
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "edge_tts", "devices"],
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"BrokenPipe" not in done.stderr


class Probe:
    """A sub-command that keeps what it was given and ends as it is told."""

    def __init__(self):
        self.seen = []
        self.outcome = 0

    def add_parser(self, subparsers):
        parser = subparsers.add_parser("probe", help="for this test")
        parser.add_subparsers().add_parser("nested").add_argument("text")

    def run(self, args):
        self.seen.append(args)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@pytest.fixture
def probe(monkeypatch):
    module = Probe()
    monkeypatch.setitem(command.COMMANDS, "probe", "for this test")
    monkeypatch.setitem(sys.modules, "edge_tts.cli.probe", module)
    return module


def test_the_module_runs_as_the_command():
    source = Path(import_module("edge_tts").__file__).parent / "__main__.py"
    done = subprocess.run(
        [sys.executable, str(source), "--version"], capture_output=True, text=True, check=False
    )
    assert done.stdout == f"edge-tts {__version__}\n"


def test_a_full_disk_is_not_a_fault_of_ours():
    full_disk = Path("/dev/full")
    if not full_disk.exists():
        pytest.skip("no /dev/full on this system")
    command = [sys.executable, "-m", "edge_tts", "text", "Hello."]
    with full_disk.open("wb") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 5
    assert result.stderr.count(b"\n") == 1
    assert b"error[audio.disk_full]" in result.stderr
