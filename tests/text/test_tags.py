"""Tags in plain text: obeyed, or refused with what is known."""

from __future__ import annotations

import pytest

from edge_tts.errors import InputError
from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.segment import count_phonemes
from edge_tts.text.spoken import spoken_text

FRONT_END = FrontEnd(Pronouncer(), count_phonemes, 510, speakers=("ann", "zf_bob"))


def test_a_speaker_tag_holds_until_the_next_one() -> None:
    text = "Before it.\n[SPKann]Good morning.\n\nHow are you?[SPKzf_bob][LNGzh]12 米。"
    found = [(s.voicing.speaker, spoken_text(s.tokens)) for s in FRONT_END.segments(text)]
    assert found == [
        (None, "Before it."),
        ("ann", "Good morning."),
        ("ann", "How are you?"),
        ("zf_bob", "十二米."),
    ]


def test_spans_are_those_of_the_text_with_its_tags() -> None:
    text = "[SPKann]Good morning.[SPKzf_bob]Good night."
    assert [text[slice(*s.span)] for s in FRONT_END.segments(text)] == [
        "Good morning.",
        "Good night.",
    ]


@pytest.mark.parametrize(
    ("text", "known"),
    [("[LNGfr]Bonjour", r"\[LNGzh\], \[LNGen\]"), ("[SPKeve]Hi", r"\[SPKann\], \[SPKzf_bob\]")],
)
def test_an_unknown_tag_is_refused(text: str, known: str) -> None:
    with pytest.raises(InputError, match=known) as refused:
        list(FRONT_END.segments(text))
    assert refused.value.code == "input.unknown_tag"


@pytest.mark.parametrize("text", ["[LNG] tankers", "[note] this", "[SPK] only"])
def test_other_brackets_are_text(text: str) -> None:
    assert next(iter(FRONT_END.segments(text))).voicing.speaker is None
