"""The `edge-tts` command: global flags, the table of sub-commands, and the process's last catch.

Help must answer at once on a slow device, so a sub-command's module is imported only when that
sub-command is run. Each module offers `add_parser(subparsers)` and `run(args) -> int`.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from importlib import import_module
from typing import Any, Callable, List, NoReturn, Optional, Sequence, Tuple

from edge_tts import __version__
from edge_tts.errors import (
    EXIT_AUDIO,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    ConfigError,
    EdgeTTSError,
)

EXIT_INTERNAL = 1
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# Command → one line of help. The command `x` lives in the module `edge_tts.cli.x`.
COMMANDS = {
    "speak": "speak a text, or write it to a file",
    "text": "show what the front end makes of a text",
    "batch": "speak a file of texts into a folder, or a book into one file",
    "voices": "list, show, install, verify and remove voices",
    "devices": "list the sound devices",
    "service": "run the announcer service",
    "http": "serve speech over HTTP from the running service",
    "status": "show what the running service does",
    "stop": "stop speaking",
    "pause": "hold all speech but alerts",
    "resume": "go on after a pause",
    "prompts": "render, list and verify fixed phrases",
    "plan": "predict what a voice takes, before it is built",
    "build": "make a voice from a checkpoint, or a voice's TensorRT engines",
    "quantize": "store a voice in fewer bits and compare it with the old",
    "doctor": "check this installation and say how to repair it",
}


class CommandParser(argparse.ArgumentParser):
    """Argument parser whose errors are this package's own, so that they print like all others."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message} (see `{self.prog} --help`)", code="usage.invalid")


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run one command and return its exit code; every failure ends as one line on stderr."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    global_flags, rest = _split(arguments)
    try:
        return _flushed(_dispatch, global_flags, rest)
    except EdgeTTSError as error:
        _complain(error.code, str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as in `edge-tts voices list | head -1`.
        _silence_stdout()
        return EXIT_OK
    except Exception as error:  # noqa: BLE001 - the process's last catch
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            return _disk_full(error)
        return _internal_error(error)


def _split(arguments: List[str]) -> Tuple[List[str], List[str]]:
    """Global flags, then the command and everything that belongs to it."""
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        index += 2 if arguments[index] == "--config" else 1
    return arguments[:index], arguments[index:]


def _dispatch(global_flags: List[str], rest: List[str]) -> int:
    options = _global_parser().parse_args(global_flags)
    if not rest:
        _global_parser().print_help()
        return EXIT_USAGE
    name = rest[0]
    if name not in COMMANDS:
        raise ConfigError(_unknown_command(name), code="usage.unknown_command")
    _set_up_logging(options.verbose)
    module = import_module(f"edge_tts.cli.{name}")
    args = _command_parser(name, module).parse_args(rest, options)
    _set_up_logging(args.verbose)
    result: int = module.run(args)
    return result


def _global_parser() -> CommandParser:
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    parser = CommandParser(
        prog="edge-tts",
        usage="edge-tts [-v] [--config FILE] COMMAND [ARGUMENT ...]",
        description="Text to speech for machines that must speak without a network.",
        epilog=f"commands:\n{listing}\n\n`edge-tts COMMAND --help` explains one command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"edge-tts {__version__}")
    _add_common_flags(parser, verbose=False, config=None)
    return parser


def _command_parser(name: str, module: Any) -> CommandParser:
    """A parser that knows one sub-command; the common flags may follow its name as well."""
    parser = CommandParser(prog="edge-tts", allow_abbrev=False)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    module.add_parser(subparsers)
    _add_common_flags(subparsers.choices[name], verbose=argparse.SUPPRESS, config=argparse.SUPPRESS)
    return parser


def _add_common_flags(parser: argparse.ArgumentParser, *, verbose: Any, config: Any) -> None:
    parser.add_argument(
        "-v", "--verbose", action="store_true", default=verbose, help="log what is being done"
    )
    parser.add_argument(
        "--config", metavar="FILE", default=config, help="read this configuration file as well"
    )
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):  # as `voices` has `list`, `install`, …
            for subparser in action.choices.values():
                _add_common_flags(subparser, verbose=verbose, config=config)


def _unknown_command(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(COMMANDS)}"
    return f"there is no command {name!r}; {hint}"


def _set_up_logging(verbose: bool) -> None:
    import logging  # not for `--help`

    logging.basicConfig(format="edge-tts: %(levelname)s: %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger().setLevel(logging.DEBUG if verbose else logging.WARNING)


def _flushed(command: Callable[[List[str], List[str]], int], *args: List[str]) -> int:
    """Flush stdout while a broken pipe can still be caught."""
    code = command(*args)
    sys.stdout.flush()
    return code


def _disk_full(error: OSError) -> int:
    place = f"write {error.filename}" if error.filename else "write the output"
    _complain("audio.disk_full", f"no space left to {place}; free some and run again")
    _silence_stdout()
    return EXIT_AUDIO


def _internal_error(error: Exception) -> int:
    import logging

    if logging.getLogger().isEnabledFor(logging.DEBUG):
        logging.getLogger(__name__).debug("trace of the fault:", exc_info=error)
    hint = "this is a fault in edge-tts; `edge-tts -v …` shows where, please report it"
    _complain("internal", f"{type(error).__name__}: {error} ({hint})")
    return EXIT_INTERNAL


def _complain(code: str, message: str) -> None:
    print(f"edge-tts: error[{code}]: {message}", file=sys.stderr)


def _silence_stdout() -> None:
    # Otherwise the interpreter flushes into what refused it once more on its way out.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
