"""The catalogue of failures that users of other speech programs met: each kind has a test here.

A test names its kinds by `CASES T01` beside it, or by the id at the start of a parameter. This list
is what keeps a kind from losing its last test unseen.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KINDS = {
    "T01": "money, titles, Roman numerals, years",
    "T02": "numbers read digit by digit, or by one path only",
    "T03": "ordinals, dates, clock times",
    "T04": "units, and the user's own for them",
    "T05": "metres read as minutes",
    "T06": "versions and telephone numbers",
    "T08": "digits in the wrong language, list markers",
    "T09": "letters of other languages deleted",
    "T11": "emoji and Markdown spoken",
    "T14": "names and polyphones that nothing can put right",
    "T15": "numbers within mark-up",
    "S01": "an abbreviation's stop ends the sentence",
    "S02": "decimals and versions divided",
    "S04": "a run-on sentence cut short or refused",
    "S05": "a worker's fault leaves the reader waiting",
    "S07": "one or two words garbled",
    "S09": "text without words, text without a last stop",
    "S10": "what follows a comma or a stop lost",
    "S12": "megabytes of text taken, a large header refused in silence",
    "L07": "queued speech that cannot be called back",
    "C01": "memory and files left behind by every call",
    "C02": "callers at the same time get each other's words",
    "C04": "a symbol the model lacks, a word lost in silence",
    "C06": "a cancel seen only after the synthesis",
    "A01": "the first word swallowed by a sleeping sink",
    "A03": "bytes swapped by an odd silence",
    "A05": "clicks at the ends and between chunks",
    "A06": "underruns on a busy machine",
    "A08": "a device that goes, returns, or gets another number",
    "A09": "stopping or closing the device hangs",
    "A10": "no sound card yet, no session, no permission under systemd",
    "A12": "urgent speech cut or held up, late speech spoken",
    "A13": "other sound stays low, or drowns the speech",
    "A14": "the cause of a failure hidden by a later one",
}


@pytest.fixture(scope="module")
def named() -> "set[str]":
    """Every id that a test names."""
    found: "set[str]" = set()
    for path in Path(__file__).parent.rglob("test_*.py"):
        if path.name != Path(__file__).name:
            text = path.read_text(encoding="utf-8")
            for ids in re.findall(r"CASES ((?:[A-Z]\d\d(?:, )?)+)", text):
                found.update(re.findall(r"[A-Z]\d\d", ids))
            found.update(re.findall(r'^    "([A-Z]\d\d) [a-z]', text, re.MULTILINE))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_test(kind: str, named: "set[str]") -> None:
    assert kind in named, KINDS[kind]
