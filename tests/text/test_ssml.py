"""SSML: what is read, where it was written, and what hostile documents come to."""

from __future__ import annotations

from typing import List

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.errors import InputError
from edge_tts.text import ssml
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.segment import count_phonemes
from edge_tts.text.spoken import spoken_text
from edge_tts.text.tokens import Segment

FRONT_END = FrontEnd(Pronouncer(), count_phonemes, 510, speakers=("ann", "bob"))


def segments(inside: str, attributes: str = "") -> List[Segment]:
    return list(FRONT_END.segments(document(inside, attributes), ssml=True))


def document(inside: str, attributes: str = "") -> str:
    return f"<speak{attributes}>{inside}</speak>"


def spoken(inside: str) -> str:
    return " ".join(spoken_text(segment.tokens) for segment in segments(inside))


def phonemes(text: str) -> str:
    return "".join(segment.phonemes for segment in FRONT_END.segments(text))


READ = {
    "emphasis parts nothing": ("a <emphasis>very</emphasis> good day", "a very good day."),
    "sub": ("the <sub alias='United Nations'>UN</sub> says", "the United Nations says."),
    "characters": ("<say-as interpret-as='characters'>Ab1</say-as>", "A B one."),
    "digits": ("<say-as interpret-as='digits'>1250</say-as>", "one two five zero."),
    "cardinal": ("<say-as interpret-as='cardinal'>2025</say-as>", "two thousand twenty five."),
    "ordinal": ("the <say-as interpret-as='ordinal'>3</say-as> door", "the third door."),
    "date": ("<say-as interpret-as='date' format='dmy'>3/4/2025</say-as>", "April third"),
    "Chinese ordinal": ("<say-as interpret-as='ordinal'>3</say-as>个出口", "第三个出口."),
    "context of say-as": ("第<say-as interpret-as='digits'>12</say-as>", "第一二."),
    "lang": ("<lang xml:lang='zh-CN'>12</lang>", "十二."),
    "references": ("Tom &amp; Ann &#65;", "Tom and Ann A."),
    "CDATA": ("<![CDATA[5 < 6]]>", "five less than six."),
    "wrapped lines": ("one\n  two", "one two."),
}


@pytest.mark.parametrize(("inside", "expected"), READ.values(), ids=READ)
def test_what_is_read(inside: str, expected: str) -> None:
    assert spoken(inside).startswith(expected.rstrip("."))


def test_spans_lead_back_to_the_document() -> None:
    inside = "Größe &amp; <sub alias='metres'>m</sub> 请到<emphasis>三楼</emphasis>。"
    for segment in segments(inside):
        source = document(inside)
        by_word = {token.text: source[slice(*token.span)] for token in segment.tokens}
    assert by_word["and"] == "&amp;"
    assert by_word["metres"] == "m"
    assert by_word["三"] == "三"


@given(st.text(alphabet="ab 你好&<>\"'\r\n12.,é😀", max_size=40))
def test_any_text_keeps_its_places(text: str) -> None:
    from xml.sax.saxutils import escape

    source = document(escape(text))
    for segment in FRONT_END.segments(source, ssml=True):
        for token in segment.tokens:
            written = source[slice(*token.span)]
            if token.text in ("你", "好"):
                assert written == token.text


def test_phonemes_are_read_as_given() -> None:
    (segment,) = segments("a <phoneme alphabet='ipa' ph='təˈmɑːtoʊ'>tomato</phoneme>")
    assert "təˈmɑːtoʊ" in segment.phonemes
    (segment,) = segments("银<phoneme alphabet='pinyin' ph='xing2'>行</phoneme>")
    assert segment.phonemes != phonemes("银行")
    (segment,) = segments("<phoneme alphabet='pinyin' ph='yin2 hang2'>银行</phoneme>")
    assert segment.phonemes.replace(" ", "") == phonemes("银行").replace(" ", "")


def test_prosody_and_voice_are_those_of_the_segment() -> None:
    plain, fast, bob = segments(
        "one two three."
        "<prosody rate='120%' volume='-6dB'>Four <prosody rate='+50%'/>five six.</prosody>"
        "<voice name='bob'>Seven eight nine.</voice>"
    )
    assert (plain.voicing.speaker, plain.voicing.rate) == (None, 1.0)
    assert fast.voicing.rate == pytest.approx(1.2)
    assert fast.voicing.volume == pytest.approx(0.501, abs=0.001)
    assert bob.voicing.speaker == "bob"


def test_a_break_is_a_silence_of_its_own() -> None:
    first, silence, second = segments("Hello there.<break time='750ms'/>My dear friend.")
    assert (first.pause_s, silence.tokens, silence.pause_s) == (0.0, (), 0.75)
    assert second.pause_s == 0.4
    (silence, _) = segments("<break strength='strong'/>Hello there.")
    assert silence.pause_s == 0.7


def test_a_mark_begins_a_segment() -> None:
    text = document("Go on to <mark name='door'/>the door<mark name='end'/>")
    track = ssml.MarkTrack(ssml.parse(text))
    found = [(s, track.reached(s.span.start)) for s in FRONT_END.segments(text, ssml=True)]
    assert [names for _, names in found] == [(), ("door",), ("end",)]
    assert found[0][0].pause_s == 0.0, "speech goes on over a mark"
    assert text[slice(*found[1][0].span)] == "the door"


def test_sentences_and_paragraphs_end() -> None:
    first, second, third = segments("<p><s>The first one</s><s>The second one</s></p>The third one")
    assert [s.tokens[-1].text for s in (first, second, third)] == [".", ".", "."]
    assert (first.pause_s, second.pause_s) == (0.35, 0.6)


LAUGHS = "".join(
    f'<!ENTITY l{n} "{"".join(f"&l{n - 1};" for _ in range(10))}">' for n in range(1, 10)
)
HOSTILE = {
    "no document": "Hello.",
    "empty": "",
    "unclosed": "<speak>Hello",
    "two roots": "<speak/><speak/>",
    "entity bomb": f'<!DOCTYPE l [<!ENTITY l0 "ha">{LAUGHS}]><speak>&l9;</speak>',
    "external entity": '<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><speak>&x;</speak>',
    "external subset": '<!DOCTYPE speak SYSTEM "http://localhost/x.dtd"><speak>a</speak>',
    "parameter entity": '<!DOCTYPE s [<!ENTITY % x SYSTEM "file:///dev/zero">%x;]><speak/>',
    "unknown entity": "<speak>&nbsp;</speak>",
    "depth": "<speak>" + "<emphasis>" * 200 + "a" + "</emphasis>" * 200 + "</speak>",
    "elements": "<speak>" + "<break/>" * 10_001 + "</speak>",
    "other root": "<html>a</html>",
    "other element": "<speak><audio src='file:///etc/passwd'/></speak>",
    "speak in speak": "<speak><speak/></speak>",
    "text in break": "<speak><break>a</break></speak>",
    "element in sub": "<speak><sub alias='a'><mark name='b'/></sub></speak>",
    "no name": "<speak><voice>a</voice></speak>",
    "no number": "<speak><say-as interpret-as='cardinal'>x</say-as></speak>",
    "no class": "<speak><say-as interpret-as='poem'>x</say-as></speak>",
    "no rate": "<speak><prosody rate='quickly'>x</prosody></speak>",
    "too fast": "<speak><prosody rate='900%'>x</prosody></speak>",
    "no time": "<speak><break time='1e9s'/></speak>",
    "too long": "<speak><break time='3600s'/></speak>",
    "no alphabet": "<speak><phoneme alphabet='x-sampa' ph='a'>a</phoneme></speak>",
    "no syllable": "<speak><phoneme alphabet='pinyin' ph='qqq9'>行</phoneme></speak>",
    "speaker tag": "<speak>[SPKann]Hello</speak>",
    "control character": "<speak>\x00</speak>",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_spoken_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        list(FRONT_END.segments(text, ssml=True))
    assert refused.value.code == "input.ssml_invalid"


@pytest.mark.parametrize(
    ("inside", "code", "known"),
    [
        ("<voice name='eve'>Hi</voice>", "input.unknown_speaker", "ann, bob"),
        ("<lang xml:lang='fr'>Hi</lang>", "input.unknown_language", "zh, en"),
        ("[LNGfr]Hi", "input.unknown_tag", "[LNGzh], [LNGen]"),
        ("a" * 100_000, "input.text_too_long", "100000"),
    ],
)
def test_other_refusals_say_what_is_known(inside: str, code: str, known: str) -> None:
    with pytest.raises(InputError) as refused:
        segments(inside)
    assert refused.value.code == code
    assert known in str(refused.value)


@given(st.text(alphabet="<>/&;speakbr='! []", max_size=60))
def test_rubbish_is_an_input_error_or_spoken(rubbish: str) -> None:
    try:
        segments(rubbish)
    except InputError:
        return


def test_any_encoding_declared_is_ignored() -> None:
    text = '<?xml version="1.0" encoding="GBK"?>' + document("请稍等。")
    assert [s.phonemes for s in FRONT_END.segments(text, ssml=True)] == [phonemes("请稍等。")]
