"""`edge-tts voices`: list, show, install, verify and remove voices, and enroll speakers."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict

from edge_tts.cli import enrol
from edge_tts.errors import EXIT_MODEL, EXIT_OK

if TYPE_CHECKING:
    from edge_tts.voices.manifest import VoiceDirectory
    from edge_tts.voices.voice import VoiceInfo

_NO_VOICE = "no voice is installed; run: edge-tts voices install kokoro"


def add_parser(subparsers: Any) -> None:
    """Add `voices` and its actions to the command line."""
    parser = subparsers.add_parser(
        "voices",
        help="list, show, install, verify and remove voices, enroll speakers",
        description="Look after the voices on this machine. Only 'install' uses the network.",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(action="list", json=False)
    _add(actions, "list", "list the installed voices and their speakers", json=True)
    show = _add(actions, "show", "show where a voice comes from and its files", json=True)
    verify = _add(actions, "verify", "check the contents of every file", json=True)
    remove = _add(actions, "remove", "delete a voice from the disk", json=False)
    install = _add(actions, "install", "fetch, check and prepare a voice", json=False)
    enroll = _add(actions, "enroll", "teach a CosyVoice voice a speaker", json=False)
    enrol.add_arguments(enroll)
    for action in (show, remove, install):
        action.add_argument("voice", metavar="VOICE")
    verify.add_argument("voice", metavar="VOICE", nargs="?", help="default: all voices")
    install.add_argument(
        "--from",
        dest="source",
        metavar="PATH",
        type=Path,
        help="use this model file, or this folder of packages, instead of the network",
    )


def run(args: argparse.Namespace) -> int:
    """Do one action; exits 4 when `verify` finds a fault."""
    return _ACTIONS[args.action](args)


def _add(actions: Any, name: str, text: str, *, json: bool) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _list(args: argparse.Namespace) -> int:
    from edge_tts.voices import catalog

    voices = catalog.installed()
    if args.json:
        print(json.dumps([_record(voice) for voice in voices], ensure_ascii=False, indent=2))
    elif not voices:
        print(_NO_VOICE)
    for voice in [] if args.json else voices:
        languages = ", ".join(language.value for language in voice.languages)
        print(f"{voice.name} {voice.version} ({languages}): {' '.join(voice.speakers)}")
    return EXIT_OK


def _show(args: argparse.Namespace) -> int:
    from edge_tts.voices import catalog

    directory = catalog.find(args.voice)
    if args.json:
        print(json.dumps(_details(directory), ensure_ascii=False, indent=2))
        return EXIT_OK
    info, gate = directory.manifest.info, directory.manifest.gate
    print(f"{info.name} {info.version}, {info.sample_rate_hz} Hz, licence {info.licence}")
    print(f"from      {info.source}")
    print(f"in        {directory.path}")
    print(f"disk      {directory.manifest.size_bytes / 1e6:.1f} MB")
    for language in info.languages:
        print(f"{language.value} speaker {info.default_speaker(language)}")
    print(f"speakers  {' '.join(info.speakers)}")
    print(f"prepared  {gate.runtime} on {gate.machine}, {gate.mel_distance_db} dB from its source")
    for part in directory.manifest.parts:
        print(f"{part.size_bytes:>10}  {part.file}")
    return EXIT_OK


def _verify(args: argparse.Namespace) -> int:
    from edge_tts.voices import catalog

    names = [args.voice] if args.voice else catalog.names()
    faults = {name: catalog.faults(name) for name in names}
    if args.json:
        records = {
            name: [{"code": fault.code, "message": str(fault)} for fault in bad]
            for name, bad in faults.items()
        }
        print(json.dumps(records, ensure_ascii=False, indent=2))
    elif not faults:
        print(_NO_VOICE)
    for name, bad in {} if args.json else faults.items():
        print(f"{name}: {'ok' if not bad else f'{len(bad)} bad files'}")
        for fault in bad:
            print(f"  [{fault.code}] {fault}")
    return EXIT_MODEL if any(faults.values()) else EXIT_OK


def _install(args: argparse.Namespace) -> int:
    from edge_tts.paths import voices_install_dir
    from edge_tts.voices import installation

    installation.install(args.voice, voices_install_dir(), args.source, _report)
    return EXIT_OK


def _remove(args: argparse.Namespace) -> int:
    from edge_tts.voices import catalog, installation

    directory = catalog.find(args.voice)
    installation.remove(directory)
    print(f"removed {directory.path}")
    return EXIT_OK


def _report(line: str) -> None:
    print(f"edge-tts: {line}", file=sys.stderr, flush=True)


def _record(info: "VoiceInfo") -> Dict[str, Any]:
    return {
        "name": info.name,
        "family": info.family,
        "version": info.version,
        "languages": [language.value for language in info.languages],
        "speakers": list(info.speakers),
        "sample_rate_hz": info.sample_rate_hz,
        "licence": info.licence,
        "source": info.source,
    }


def _details(directory: "VoiceDirectory") -> Dict[str, Any]:
    from dataclasses import asdict

    return {
        **_record(directory.manifest.info),
        "path": str(directory.path),
        "size_bytes": directory.manifest.size_bytes,
        "gate": asdict(directory.manifest.gate),
        "parts": [asdict(part) for part in directory.manifest.parts],
    }


_ACTIONS = {
    "list": _list,
    "show": _show,
    "verify": _verify,
    "install": _install,
    "remove": _remove,
    "enroll": enrol.run,
}
