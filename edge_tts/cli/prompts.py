"""`edge-tts prompts`: render fixed phrases ahead, list them, verify them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Counter, Dict

from edge_tts.errors import EXIT_MODEL, EXIT_OK, EdgeTTSError, InputError

if TYPE_CHECKING:
    from edge_tts.config import Config
    from edge_tts.service.messages import Manner
    from edge_tts.service.phrases import Phrase
    from edge_tts.service.prompts import PromptStore
    from edge_tts.service.script import Source
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
        return _render(Path(args.file), config, store, args.force)
    return _list(store) if args.action == "list" else _verify(store)


def read_phrases(path: Path) -> Dict[str, int]:
    """Phrases of a file in order, each with the number of its first line. Raises InputError."""
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
    phrases: Dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.strip().startswith("#"):
            phrases.setdefault(line.strip(), number)
    return phrases


def _render(path: Path, config: "Config", store: "PromptStore", force: bool) -> int:
    """Render every phrase that can be; exits as the first that cannot be demands."""
    from edge_tts.service.settings import default_manner
    from edge_tts.service.voice_source import VoiceSource
    from edge_tts.speaker import open_speaker

    phrases = read_phrases(path)
    manner = default_manner(config)
    source = VoiceSource(open_speaker(config))
    counts: Counter[str] = Counter()
    exit_code = EXIT_OK
    for position, (text, line) in enumerate(phrases.items(), 1):
        try:
            state = _render_one(text, source, manner, store, force)
        except EdgeTTSError as error:
            print(f"edge-tts: error[{error.code}]: {path}:{line}: {error}", file=sys.stderr)
            exit_code = exit_code or error.exit_code
            state = "failed"
        counts[state.partition(",")[0]] += 1
        print(f"{position}/{len(phrases)} {state}: {text}", file=sys.stderr)
    failed = f", {counts['failed']} failed" if counts["failed"] else ""
    print(f"{counts['rendered']} rendered, {counts['kept']} kept{failed} in {store.directory}")
    return exit_code


def _render_one(
    text: str, source: "VoiceSource", manner: "Manner", store: "PromptStore", force: bool
) -> str:
    """Render and store a phrase unless it is there; returns what was done, for people."""
    from edge_tts.service.phrases import PhraseKey

    key = PhraseKey(text, manner, source.facts.name, source.facts.version)
    phrase = None if force else store.get(key)
    state = "kept"
    if phrase is None:
        phrase = rendered(source, text, manner)
        store.put(key, phrase)
        state = "rendered"
    lost = ", ".join(phrase.unspoken)
    return f"{state}, not spoken: {lost}" if lost else state


def rendered(source: "Source", text: str, manner: "Manner") -> "Phrase":
    """The sound of `text`. Raises InputError when nothing in it is spoken or it is too long."""
    from edge_tts.service.phrases import Recording
    from edge_tts.service.prompts import MAX_PROMPT_BYTES
    from edge_tts.service.script import Script

    recording = Recording(MAX_PROMPT_BYTES)
    script = Script(source, text, manner)
    for segment in script:
        recording.begin_segment(segment.span.start, segment.span.end)
        for chunk in source.render(segment, text, manner):
            recording.add(chunk)
    phrase = recording.phrase(script.unspoken())
    if phrase is None:
        raise InputError(f"not a prompt, because it is empty or too long: {text[:40]!r}")
    return phrase


def _list(store: "PromptStore") -> int:
    from edge_tts.service.prompts import read_manifest

    manifests = list(store.manifests())
    if not manifests:
        print(f"no phrases in {store.directory}", file=sys.stderr)
    for manifest in manifests:
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
