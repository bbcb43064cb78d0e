"""English items take other sounds inside a Chinese sentence."""

from __future__ import annotations

import pytest

from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.normalise import normalise

PRONOUNCER = Pronouncer()


def phonemes(text):
    return "".join(token.phonemes for token in PRONOUNCER.pronounce(normalise(text)))


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("请到A区", "ei→ ʨʰy→"),
        ("A4纸", "ei→ sɨ↘"),
        ("京A12345", "ʨi→ŋ ei→ i→"),
        ("G79次", "ʤˈi→ ʨʰi→"),
        ("请说OK确认", "ou→kʰei→ ʨʰɥe↘"),
        ("去KFC餐厅", "kʰei→ ˈɛf→ sei→ ʦʰa→n"),
        ("下载APP。", "ei→ pʰi→ pʰi→."),
        ("航班CA1831", "sei→ ei→ i→"),
        ("WiFi密码", "wˈIfˈIː mi↘ma↓"),
    ],
)
def test_before_a_chinese_syllable(text, sound):
    assert sound in phonemes(text)


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("Gate A is open", "ˈA"),
        ("选A。", "ˈA."),
        ("Use WiFi now", "wˈIfˌI"),
    ],
)
def test_elsewhere_they_stay_english(text, sound):
    assert sound in phonemes(text)
