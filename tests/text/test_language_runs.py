"""Runs cover the text; digits follow the letters around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.text.language_runs import find_runs
from edge_tts.text.tokens import Language

ZH, EN = Language.ZH, Language.EN

DIGIT_LANGUAGE = [
    ("5", EN),
    ("请到5", ZH),
    ("gate 5", EN),
    ("5。", ZH),
    ("请打开iPhone 5", ZH),
    ("播放Hotel California 5", ZH),
    ("请说 go to gate 5", EN),
    ("The stop is 人民广场, gate 5", EN),
    ("please go to 5号门", ZH),
    ("发到info@mail.com或5", ZH),
    ("[LNGzh]gate 5", ZH),
    ("你好[LNGen]5", EN),
]


@pytest.mark.parametrize(("text", "language"), DIGIT_LANGUAGE)
def test_language_of_a_digit(text, language):
    at = text.index("5")
    assert [run.language for run in find_runs(text) if run.start <= at < run.end] == [language]


@given(st.text(alphabet="ab the to GPS 你好 5.,。![]LNGzhen", max_size=60))
def test_runs_cover_the_text_without_gaps(text):
    at = 0
    for run in find_runs(text):
        assert run.start == at < run.end
        at = run.end
    assert at == len(text)
