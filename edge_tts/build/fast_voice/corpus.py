"""Training texts: the project's own sentences and templates, filled from its word lists.

Covers statements, questions, commands, names, numbers, lists, one-word prompts and mixed
Chinese-English text, because the student hears nothing but what is said here.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Sequence

from edge_tts.text.tokens import Language

DATA = Path(__file__).parent / "data"
SLOT = re.compile(r"\{(\w+)\}")
DEFAULT_SEED = 7

ENGLISH_SPEAKERS = ("af_heart", "af_bella", "am_michael", "am_fenrir")
CHINESE_SPEAKERS = ("zf_xiaobei", "zf_xiaoxiao", "zm_yunxi", "zm_yunyang")


@dataclass(frozen=True)
class Line:
    """One text to be spoken by one speaker at one speed. `name` is unique within a corpus."""

    name: str
    speaker: str
    language: Language
    text: str
    speed: float


@dataclass(frozen=True)
class Material:
    """Fixed sentences, prompts of a few words, templates with `{slot}`s, and what fills these."""

    sentences: Sequence[str]
    prompts: Sequence[str]
    templates: Sequence[str]
    words: Dict[str, Sequence[str]]

    def draw(self, rng: random.Random) -> str:
        """One text: a fixed sentence, a prompt or a filled template, 3 : 2 : 5."""
        kind = rng.random()
        if kind < 0.5:
            return rng.choice(self.sentences if kind < 0.3 else self.prompts)
        template = rng.choice(self.templates)
        text = SLOT.sub(lambda match: rng.choice(self.words[match.group(1)]), template)
        return text[0].upper() + text[1:]


def read_material(language: str) -> Material:
    """Read `data/<language>.txt`: sections of sentences, prompts, templates and slots of lines."""
    sections: Dict[str, List[str]] = {}
    for raw in (DATA / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            current.append(line)
    fixed = [sections.pop(kind) for kind in ("sentences", "prompts", "templates")]
    return Material(*fixed, {slot: tuple(words) for slot, words in sections.items()})


def build(lines_per_speaker: int, seed: int = DEFAULT_SEED) -> List[Line]:
    """A reproducible corpus, interleaved so that any prefix of it covers every speaker.

    Each speaker reads mostly the language it was trained on, one line in five mixed text and one in
    ten the other language; one line in four at another speed.
    """
    rng = random.Random(seed)
    material = {name: read_material(name) for name in ("en", "zh", "mixed")}
    lines = []
    for index in range(lines_per_speaker):
        for speaker in ENGLISH_SPEAKERS + CHINESE_SPEAKERS:
            own, other = ("en", "zh") if speaker in ENGLISH_SPEAKERS else ("zh", "en")
            kind = rng.choices((own, "mixed", other), weights=(7, 2, 1))[0]
            language = Language.EN if kind == "en" else Language.ZH
            speed = 1.0 if rng.random() < 0.75 else round(rng.uniform(0.8, 1.3), 2)
            text = material[kind].draw(rng)
            lines.append(Line(f"{index:04d}-{speaker}", speaker, language, text, speed))
    return lines
