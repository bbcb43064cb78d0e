"""The list of error codes, the exceptions that carry them and the page that explains them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edge_tts import errors

ROOT = Path(__file__).resolve().parents[1]
CLASSES = [errors.EdgeTTSError, *errors.EdgeTTSError.__subclasses__()]


def test_the_page_lists_exactly_the_codes():
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z_.]+)` \| (.*) \|$", page, re.MULTILINE))
    assert rows == errors.CODES


def test_the_page_lists_every_exit_code():
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert listed == {value for name, value in vars(errors).items() if name.startswith("EXIT_")} | {
        error_class.exit_code for error_class in CLASSES
    }


@pytest.mark.parametrize("error_class", CLASSES)
def test_every_class_has_a_listed_default_code(error_class):
    assert error_class("message").code in errors.CODES


def test_every_code_in_the_source_is_listed_and_every_listed_code_is_used():
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "edge_tts").rglob("*.py")
        if path.name != "errors.py"
    )
    defaults = {error_class.default_code for error_class in CLASSES}
    used = set(re.findall(r'code="([a-z_.]+)"', sources))
    assert used <= errors.CODES.keys()
    assert [
        code for code in errors.CODES if f'"{code}"' not in sources and code not in defaults
    ] == []


def test_an_unlisted_code_is_refused():
    with pytest.raises(ValueError, match="not listed"):
        errors.InputError("message", code="input.no_such_code")
