"""`edge-tts prompts`: render fixed phrases ahead, list them, verify them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List

from edge_tts.errors import EXIT_MODEL, EXIT_OK, EdgeTTSError, InputError

if TYPE_CHECKING:
    from edge_tts.config import Config
    from edge_tts.service.messages import Manner
    from edge_tts.service.phrases import Phrase
    from edge_tts.service.prompts import PromptStore
    from edge_tts.service.voice_source import VoiceSource

_MAX_FILE_BYTES = 1024 * 1024


def add_parser(subparsers: Any) -> None:
    """Add `prompts` to the command line."""
    parser = subparsers.add_parser(
        "prompts",
        help="render, list and verify fixed phrases",
        description="Phrases of the prompt store are spoken without the voice having to load.",
    )
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    render = commands.add_parser(
        "render",
        help="render the phrases of a file",
        description="Render FILE: one phrase per line; empty lines and lines from '#' are skipped.",
    )
    render.add_argument("file", metavar="FILE")
    render.add_argument("--force", action="store_true", help="render what is already stored, too")
    commands.add_parser("list", help="list the phrases in the store")
    commands.add_parser("verify", help="check every phrase in the store")


def run(args: argparse.Namespace) -> int:
    """Carry out the action; `verify` exits 4 when a prompt is damaged."""
    from edge_tts import config as configuration
    from edge_tts.service.prompts import PromptStore
    from edge_tts.service.settings import prompts_folder

    config = configuration.load(args.config)
    store = PromptStore(prompts_folder(config))
    if args.action == "render":
        return _render(read_phrases(Path(args.file)), config, store, args.force)
    return _list(store) if args.action == "list" else _verify(store)


def read_phrases(path: Path) -> List[str]:
    """Phrases of a file, each once, in order. Raises InputError."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not valid UTF-8; convert it first") from error
    if len(content) > _MAX_FILE_BYTES:
        raise InputError(f"{path} is larger than {_MAX_FILE_BYTES} bytes; divide it")
    lines = (line.strip() for line in text.splitlines())
    phrases: Dict[str, None] = dict.fromkeys(
        line for line in lines if line and not line.startswith("#")
    )
    return list(phrases)


def _render(phrases: List[str], config: "Config", store: "PromptStore", force: bool) -> int:
    from edge_tts.service.phrases import PhraseKey
    from edge_tts.service.settings import default_manner
    from edge_tts.service.voice_source import VoiceSource
    from edge_tts.speaker import open_speaker

    manner = default_manner(config)
    source = VoiceSource(open_speaker(config))
    n_rendered = 0
    for number, text in enumerate(phrases, 1):
        key = PhraseKey(text, manner, source.facts.name, source.facts.version)
        is_new = force or store.get(key) is None
        if is_new:
            store.put(key, rendered(source, text, manner))
            n_rendered += 1
        state = "rendered" if is_new else "kept"
        print(f"{number}/{len(phrases)} {state}: {text}", file=sys.stderr)
    print(f"{n_rendered} rendered, {len(phrases) - n_rendered} kept in {store.directory}")
    return EXIT_OK


def rendered(source: "VoiceSource", text: str, manner: "Manner") -> "Phrase":
    """The sound of `text`. Raises InputError when nothing in it is spoken or it is too long."""
    from edge_tts.service.phrases import Recording
    from edge_tts.service.prompts import MAX_PROMPT_BYTES

    recording = Recording(MAX_PROMPT_BYTES)
    for segment in source.segments(text, manner):
        recording.begin_segment(segment.span.start, segment.span.end)
        for chunk in source.render(segment, text, manner):
            recording.add(chunk)
    phrase = recording.phrase
    if phrase is None:
        raise InputError(f"not a prompt, because it is empty or too long: {text[:40]!r}")
    return phrase


def _list(store: "PromptStore") -> int:
    from edge_tts.service.prompts import read_manifest

    for manifest in store.manifests():
        prompt = read_manifest(manifest)
        voice = f"{prompt.key.voice} {prompt.key.version}"
        print(f"{manifest.stem[:12]}  {prompt.duration_s:6.2f} s  {voice}  {prompt.key.text}")
    return EXIT_OK


def _verify(store: "PromptStore") -> int:
    n_good = n_bad = 0
    for manifest in store.manifests():
        try:
            store.verify(manifest)
            n_good += 1
        except EdgeTTSError as error:
            n_bad += 1
            print(f"edge-tts: error[{error.code}]: {error}", file=sys.stderr)
    print(f"{n_good} good, {n_bad} damaged in {store.directory}")
    return EXIT_MODEL if n_bad else EXIT_OK
