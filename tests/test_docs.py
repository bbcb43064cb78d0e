"""Every documented example is run: shell and Python for real, YAML through what reads it.

An example that needs a network or changes the machine carries `<!-- not run: REASON -->` on the
line before its fence. Sound goes to a device that ALSA writes to a file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, List

import pytest

from edge_tts import config, paths

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^(?P<marker>[^\n]*)\n```(?P<info>[^\n`]+)\n(?P<code>.*?)^```$", re.M | re.S)
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
SPEAKS = re.compile(r"edge-tts speak|edge-tts voices|\bSpeaker\b")

# A sound device that every machine has: it plays into a file, as fast as it is given sound.
ASOUNDRC = """
pcm.!default {
  type plug
  slave { pcm "wavout" rate 48000 format S16_LE channels 2 }
  hint { show on description "wav" }
}
pcm.wavout { type file slave.pcm "nul" file "HOME/heard.wav" format "wav" perm 0644 }
pcm.nul { type null }
"""


@dataclass(frozen=True)
class Example:
    page: str
    language: str
    kind: str
    code: str
    is_run: bool


def examples() -> Iterator[Example]:
    for page in PAGES:
        for match in FENCE.finditer("\n" + page.read_text(encoding="utf-8")):
            language, _, kind = match.group("info").partition(" ")
            is_run = NOT_RUN.fullmatch(match.group("marker")) is None
            name = page.relative_to(ROOT).as_posix()
            yield Example(name, language, kind, match.group("code"), is_run)


def parameters(language: str) -> List[object]:
    chosen = [e for e in examples() if e.language == language and e.is_run]
    return [
        pytest.param(
            example,
            marks=[pytest.mark.voice] if SPEAKS.search(example.code) else [],
            id=f"{example.page}-{number}",
        )
        for number, example in enumerate(chosen, start=1)
    ]


@pytest.fixture
def home(tmp_path):
    """A folder to run an example in: its HOME, with a sound device and what the examples name."""
    (tmp_path / ".asoundrc").write_text(ASOUNDRC.replace("HOME", str(tmp_path)), encoding="utf-8")
    (tmp_path / "lexicon.yaml").write_text("en:\n  Geis: guys\n", encoding="utf-8")
    return tmp_path


def run(command: List[str], home: Path) -> None:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("XDG_")},
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "EDGE_TTS_VOICES_DIR": str(voices_dir()),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def voices_dir() -> Path:
    """The store that holds the default voice now, before HOME is moved away from it."""
    default = config.Config().voice
    stores = paths.voices_dirs()
    return next((store for store in stores if (store / default).is_dir()), stores[0])


@pytest.mark.parametrize("example", parameters("sh"))
def test_shell_example(example, home):
    run([shutil.which("bash") or "bash", "-euo", "pipefail", "-c", example.code], home)


@pytest.mark.parametrize("example", parameters("python"))
def test_python_example(example, home):
    run([sys.executable, "-W", "error", "-c", example.code], home)


@pytest.mark.parametrize("example", parameters("yaml"))
def test_yaml_example(example, home):
    path = home / "example.yaml"
    path.write_text(example.code, encoding="utf-8")
    path.chmod(0o644)
    if example.kind == "config":
        assert config.load(str(path), environment={}) != config.Config()
    elif example.kind == "lexicon":
        from edge_tts.text.lexicon_file import UserLexicon

        assert UserLexicon(path).current()
    elif example.kind == "recipe":
        from edge_tts.build.tensorrt.recipe import read_recipe

        assert read_recipe(path).parts
    else:
        pytest.fail("say what reads it: ```yaml config, ```yaml lexicon or ```yaml recipe")


def test_examples_are_found_and_only_known_kinds_are_left_out():
    found = list(examples())
    assert {example.language for example in found} <= {"sh", "python", "yaml", "text", "json"}
    assert {example.language for example in found if example.page == "README.md"} >= {
        "sh",
        "python",
        "yaml",
    }
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT).as_posix()
        assert text.count("\n```") == 2 * sum(e.page == name for e in found), (
            f"bare fence in {name}"
        )


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_is_reached_from_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [page.relative_to(ROOT).as_posix() for page in PAGES if page.name != "README.md"]
    assert [name for name in names if f"({name})" not in readme] == []


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
